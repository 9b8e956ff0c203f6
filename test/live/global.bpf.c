/* SPDX-License-Identifier: MIT */
/* A program with a global variable, which the loader does not support. */
#include "bpf/helpers.h"

int global_number;

SECTION("perf_event")
int program(void *context)
{
	(void)context;
	return global_number;
}

char program_license[] SECTION("license") = "GPL";
