/* SPDX-License-Identifier: MIT */
/* A program that the verifier refuses: it does not test for NULL. */
#include "bpf/helpers.h"

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, __u64);
	MAP_NUMBER(max_entries, 1);
} numbers SECTION(".maps"), unused SECTION(".maps");

SECTION("perf_event")
int program(void *context)
{
	__u32 zero = 0;
	__u64 *number = bpf_map_lookup_elem(&numbers, &zero);

	(void)context;
	return (int)*number;
}

/* A second program in the same section, which it accepts. */
SECTION("perf_event")
int good(void *context)
{
	__u32 zero = 0;
	__u64 *number = bpf_map_lookup_elem(&numbers, &zero);

	(void)context;
	return number ? (int)*number : 0;
}

char program_license[] SECTION("license") = "GPL";
