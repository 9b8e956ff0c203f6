/* SPDX-License-Identifier: MIT */
/*
 * bpf: the commands of bpf(2) that a profiler needs.
 *
 *	int bpf(int cmd, union bpf_attr *attr, unsigned int size);
 *
 * The kernel accepts a size larger than the union it was built with as long
 * as the bytes it does not know are zero, and a smaller one always.  So the
 * union is zeroed whole, padding included, and its full size is passed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/memory.h"
#include "sys/bpf.h"
#include "sys/explain.h"

static int bpf(int cmd, union bpf_attr *attr)
{
	union bpf_attr given = *attr;
	int result = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (result < 0)
		result = -errno;
	if (explain_calls())
		explain_bpf(cmd, &given, attr, result);
	return result;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* The kernel refuses other bytes in names; names are for people only. */
static void bpf_name(char to[BPF_OBJ_NAME_LEN], const char *name)
{
	for (size_t i = 0; i < BPF_OBJ_NAME_LEN - 1 && name && name[i]; i++) {
		char c = name[i];
		int fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			   (c >= '0' && c <= '9') || c == '_' || c == '.';

		to[i] = '_';
		if (fine)
			to[i] = c;
	}
}

/* BPF_MAP_CREATE */
int bpf_map_create(const struct bpf_map_attr *map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = map->type;
	attr.key_size = map->key_size;
	attr.value_size = map->value_size;
	attr.max_entries = map->max_entries;
	attr.map_flags = map->flags;
	attr.inner_map_fd = (uint32_t)map->inner_map_fd;
	bpf_name(attr.map_name, map->name);
	return bpf(BPF_MAP_CREATE, &attr);
}

/* BPF_MAP_LOOKUP_ELEM */
int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = pointer(key);
	attr.value = pointer(value);
	return bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

/* BPF_MAP_UPDATE_ELEM */
int bpf_map_update_elem(int fd, const void *key, const void *value,
			uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = pointer(key);
	attr.value = pointer(value);
	attr.flags = flags;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* BPF_MAP_DELETE_ELEM */
int bpf_map_delete_elem(int fd, const void *key)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = pointer(key);
	return bpf(BPF_MAP_DELETE_ELEM, &attr);
}

/* BPF_MAP_GET_NEXT_KEY */
int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = pointer(key);
	attr.next_key = pointer(next);
	return bpf(BPF_MAP_GET_NEXT_KEY, &attr);
}

/* BPF_MAP_LOOKUP_AND_DELETE_BATCH, Linux 5.6 */
int bpf_map_lookup_and_delete_batch(int fd, struct bpf_batch_token *token,
				    int first, void *keys, void *values,
				    uint32_t *count)
{
	struct bpf_batch_token next = { 0 };
	union bpf_attr attr;
	int error;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = (uint32_t)fd;
	attr.batch.in_batch = first ? 0 : pointer(token);
	attr.batch.out_batch = pointer(&next);
	attr.batch.keys = pointer(keys);
	attr.batch.values = pointer(values);
	attr.batch.count = *count;
	error = bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH, &attr);
	/* With any error but -ENOENT (the end) and -ENOSPC nothing came. */
	*count = !error || error == -ENOENT || error == -ENOSPC ?
		 attr.batch.count : 0;
	*token = next;
	return error;
}

/* BPF_MAP_FREEZE, Linux 5.2 */
int bpf_map_freeze(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	return bpf(BPF_MAP_FREEZE, &attr);
}

/* BPF_PROG_LOAD */
static int load(const struct bpf_prog_attr *prog, uint32_t log_level,
		char *log, uint32_t log_size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = prog->type;
	attr.prog_flags = prog->flags;
	attr.insns = pointer(prog->insns);
	attr.insn_cnt = prog->insn_count;
	attr.license = pointer(prog->license);
	bpf_name(attr.prog_name, prog->name);
	attr.log_level = log_level;
	attr.log_buf = pointer(log);
	attr.log_size = log_size;
	return bpf(BPF_PROG_LOAD, &attr);
}

/*
 * Bits of log_level, which are in no header that programs get: kernel,
 * include/linux/bpf_verifier.h.  The steps on the way to a refusal, all steps
 * also where there is none, and the numbers at the end.
 */
enum { LOG_STEPS = 1, LOG_ALL_STEPS = 2, LOG_STATISTICS = 4 };

/* Asks the verifier to speak, and tells what it says. */
static int load_explained(const struct bpf_prog_attr *prog)
{
	enum { STATISTICS_SIZE = 4096, STEPS_SIZE = 16 * 1024 * 1024 };
	uint32_t size = explain_code() ? STEPS_SIZE : STATISTICS_SIZE;
	char *log = memory_new(size, 1);
	int result = load(prog, explain_code() ?
			  LOG_ALL_STEPS | LOG_STATISTICS : LOG_STATISTICS,
			  log, size);

	explain_verifier(log);
	free(log);
	return result;
}

int bpf_prog_load(const struct bpf_prog_attr *prog)
{
	if (prog->log)
		return load(prog, LOG_STEPS, prog->log, prog->log_size);
	return explain_calls() ? load_explained(prog) :
				 load(prog, 0, NULL, 0);
}

/* BPF_PROG_TEST_RUN; of type SYSCALL since Linux 5.14 */
int bpf_prog_test_run(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	return bpf(BPF_PROG_TEST_RUN, &attr);
}
