/* SPDX-License-Identifier: MIT */
/*
 * bpf_stub: what the loader calls of sys/bpf.h.  Descriptors are of /dev/null;
 * all of a program's instructions are read, as the kernel would.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/bpf.h"
#include "test/fuzz/bpf_stub.h"
#include "test/fuzz/fuzz.h"

uint8_t bpf_stub_maps, bpf_stub_loads;
uint8_t bpf_stub_sum;	/* so that the reading is not optimised away */

static int descriptor(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int bpf_map_create(const struct bpf_map_attr *attr)
{
	uint8_t fails = bpf_stub_maps & 1;

	bpf_stub_maps >>= 1;
	MUST(attr->name && strlen(attr->name) < SIZE_MAX);
	return fails ? -EPERM : descriptor();
}

/* Constants are read, as the kernel would. */
int bpf_map_update_elem(int fd, const void *key, const void *value,
			uint64_t flags)
{
	MUST(fd >= 0 && flags == BPF_ANY);
	bpf_stub_sum = *(const uint8_t *)key ^ *(const uint8_t *)value;
	return bpf_stub_loads & 0x20 ? -E2BIG : 0;
}

int bpf_map_freeze(int fd)
{
	MUST(fd >= 0);
	return 0;
}

int bpf_prog_load(const struct bpf_prog_attr *attr)
{
	static const int errors[] = { -EINVAL, -EAGAIN, -ENOSPC, -EPERM };
	uint8_t fails = bpf_stub_loads & 1, which = bpf_stub_loads >> 6;
	uint8_t sum = 0;

	bpf_stub_loads = (uint8_t)(bpf_stub_loads >> 1 & 0x1f) |
			 (uint8_t)(which << 6);
	for (size_t i = 0; i < attr->insn_count * sizeof(*attr->insns); i++)
		sum ^= ((const uint8_t *)attr->insns)[i];
	bpf_stub_sum = sum;
	MUST(attr->license && strlen(attr->license) < SIZE_MAX);
	MUST(attr->name && strlen(attr->name) < SIZE_MAX);
	if (!fails)
		return descriptor();
	if (attr->log)
		snprintf(attr->log, attr->log_size, "0: (95) exit\nR0 !read_ok\n");
	return errors[which];
}

/* Nobody runs these: they are linked beside what is called. */
int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)fd;
	(void)key;
	(void)value;
	return -ENOENT;
}

int bpf_prog_test_run(int fd)
{
	(void)fd;
	return -EPERM;
}
