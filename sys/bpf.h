/* SPDX-License-Identifier: MIT */
#ifndef SYS_BPF_H
#define SYS_BPF_H

#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

/*
 * One function per command of bpf(2), named as in the man page.  All return
 * -errno on failure; those that make a descriptor return it (close-on-exec,
 * owned by the caller).  Source: man 2 bpf, <linux/bpf.h>.
 */
struct bpf_map_attr {
	uint32_t type, key_size, value_size, max_entries, flags;
	int inner_map_fd;	/* for maps of maps, else 0 */
	const char *name;	/* cut to 15 bytes of [A-Za-z0-9_.] */
};

int bpf_map_create(const struct bpf_map_attr *map);
int bpf_map_lookup_elem(int fd, const void *key, void *value);
int bpf_map_update_elem(int fd, const void *key, const void *value,
			uint64_t flags);
int bpf_map_delete_elem(int fd, const void *key);

/* The key after `key` (NULL: the first) to `next`; -ENOENT after the last. */
int bpf_map_get_next_key(int fd, const void *key, void *next);

/*
 * Moves up to *count elements from a hash map to keys[] and values[].  `token`
 * says where to go on; start with first = true.  *count is what came, also
 * with -ENOENT, which means that the end is reached.
 */
struct bpf_batch_token {
	uint32_t bucket;
	uint32_t unused[3];	/* kernels may want more room than they use */
};
int bpf_map_lookup_and_delete_batch(int fd, struct bpf_batch_token *token,
				    int first, void *keys, void *values,
				    uint32_t *count);

/* From here on user space cannot change the map. */
int bpf_map_freeze(int fd);

struct bpf_prog_attr {
	uint32_t type, flags;	/* BPF_PROG_TYPE_, BPF_F_ */
	const struct bpf_insn *insns;
	uint32_t insn_count;
	const char *license, *name;
	char *log;		/* NULL: the verifier keeps silent */
	uint32_t log_size;
};

int bpf_prog_load(const struct bpf_prog_attr *prog);

/* Runs a program of type BPF_PROG_TYPE_SYSCALL once, here and now. */
int bpf_prog_test_run(int fd);

#endif
