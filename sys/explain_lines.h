/* SPDX-License-Identifier: MIT */
#ifndef SYS_EXPLAIN_LINES_H
#define SYS_EXPLAIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include "lib/text.h"

/* How explain_bpf.c and explain_perf.c write their lines; for them alone. */

/* What was made so far, so that descriptors can be told by name. */
struct explain_made {
	int fd;
	char name[BPF_OBJ_NAME_LEN];
	uint32_t type, key_size, value_size;	/* of a map */
	int cpu;				/* of an event */
	bool clock;
};

void explain_remember(const struct explain_made *made);

/* The latest that had this descriptor; one of name "?" if there is none. */
const struct explain_made *explain_made(int fd);

/* A number of the kernel's that has a name. */
struct word {
	uint64_t number;
	const char *name;
};

#define WORD(constant) { constant, #constant }
#define WORDS(array) array, sizeof(array) / sizeof(*(array))

/* The name of a number that has one, or the number; valid until the next. */
const char *name_of(const struct word *words, size_t count, uint64_t number);

/* The call and its result (or -errno, or an address), below its purpose. */
void tell_call(const char *why, const char *what, long result);

/*
 * Members of what a call is given, in lines of 80 columns: `line` starts empty,
 * and is written and freed by tell_end().
 */
void tell_member(struct text *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tell_end(struct text *line);

/* A number that is not zero. */
void tell_number(struct text *line, const char *name, uint64_t value);

/* Bits that are set, by their names. */
void tell_bits(struct text *line, const char *name, const struct word *words,
	       size_t count, uint64_t value);

#endif
