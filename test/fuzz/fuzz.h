/* SPDX-License-Identifier: MIT */
/*
 * fuzz: what the targets share.  A target is a file of its own with
 * LLVMFuzzerTestOneInput(); it is linked with the program's own objects, all
 * compiled with sanitizers.  Beyond "no crash" each target knows something that
 * has to hold, and says so by MUST.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert(): stderr is closed, so libFuzzer's own report has to do. */
#define MUST(condition)							\
	do {								\
		if (!(condition))					\
			__builtin_trap();				\
	} while (0)

/*
 * The path of a file with these bytes: always the same one, in memory.  It
 * begins anew for each who opens it.
 */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A copy with a zero byte behind it, in memory that ends there; to be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
