/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_SWITCHES_H
#define UNWIND_SWITCHES_H

#include "elf/file.h"

enum { SWITCHES_MOST = 16 };

/* Functions of a Go program that go on upon another stack.  Starts zeroed. */
struct switches {
	uint64_t at[SWITCHES_MOST];
	size_t count;
	uint64_t start, end;	/* of Go's code: C's can be beside it */
};

/* By the file's symbols; none if it is of another language or has no symbols. */
void switches_find(struct switches *switches, const struct elf_file *file);

/* Whether such a function begins at the address. */
bool switches_has(const struct switches *switches, uint64_t address);

/* Whether it is in Go's code. */
bool switches_covers(const struct switches *switches, uint64_t address);

#endif
