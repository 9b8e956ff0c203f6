/* SPDX-License-Identifier: MIT */
/*
 * fake_bpf: a kernel in 200 lines, linked in place of sys/bpf.c.
 *
 * Its maps are arrays of elements, found by comparing whole keys.  Descriptors
 * are real ones (of /dev/null), so that closing them can be counted.
 */
#ifndef TEST_UNIT_FAKE_BPF_H
#define TEST_UNIT_FAKE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/bpf.h"

/* Per-CPU maps have so many values. */
enum { FAKE_CPUS = 4 };

struct fake_map {
	struct bpf_map_attr attr;
	char name[64];
	int fd;
	size_t values;		/* per element: CPUs, or 1 */
	char *keys, *data;
	uint32_t count;
	unsigned int updates;	/* by bpf_map_update_elem */
	bool frozen;
};

struct fake_program {
	struct bpf_insn *insns;
	uint32_t insn_count, type, flags;
	char name[64], license[64];
	int fd;
};

/* What it has seen, and how it shall behave. */
extern struct fake_bpf {
	struct fake_map maps[32];
	struct fake_program programs[16];
	size_t map_count, program_count, loads;
	int fail_map;		/* which creation fails, from 1; 0: none */
	int map_error;		/* and how */
	int load_error;		/* of bpf_prog_load, or 0 */
	int load_errors;	/* how often; then it works */
	const char *log;	/* what the verifier writes with an error */
	int batch_error;	/* of each batch, or 0 */
	int batch_fails_at;	/* ... but not before this one */
	uint32_t bucket;	/* elements that only come together */
	int batches;
	void (*run)(void);	/* what bpf_prog_test_run runs */
	int run_error;
} fake_bpf;

/* The newest map of this name, or NULL. */
struct fake_map *fake_map(const char *name);

/* Puts an element into it, as a BPF program would. */
void fake_put(struct fake_map *map, const void *key, const void *value);

/* The value of this key, or NULL. */
void *fake_get(const struct fake_map *map, const void *key);

/* Forgets everything, and what it was told. */
void fake_bpf_reset(void);

#endif
