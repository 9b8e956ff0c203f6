/* SPDX-License-Identifier: MIT */
/*
 * unit: all that a unit test needs.
 *
 *	TEST(text_number_reads_decimal)
 *	{
 *		CHECK(text_number("42", 10, 0, 100, &value));
 *		CHECK_U64(value, 42);
 *	}
 *
 * Each test runs in a process of its own, in an empty directory of its own
 * that is removed afterwards, for two minutes at most.  What it writes to
 * stderr is kept, for unit_messages() or for the one who looks at a failure.
 * The first check that fails ends the test.
 *
 * unit [PART...] runs the tests whose names contain one of the parts; unit -l
 * lists them.
 */
#ifndef TEST_UNIT_UNIT_H
#define TEST_UNIT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bytes.h"

typedef void unit_fn(void);

void unit_add(const char *name, unit_fn *run);

/* A constructor adds it, so no list of tests can be out of date. */
#define TEST(name)							\
	static void name(void);						\
	__attribute__((constructor)) static void unit_add_##name(void)	\
	{								\
		unit_add(#name, name);					\
	}								\
	static void name(void)

_Noreturn void unit_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void unit_same_u64(const char *file, int line, const char *what, uint64_t got,
		   uint64_t want);
void unit_same_text(const char *file, int line, const char *what,
		    const char *got, const char *want);

#define CHECK(condition)						\
	do {								\
		if (!(condition))					\
			unit_fail(__FILE__, __LINE__, "%s", #condition);\
	} while (0)

/* With what was got and what was wanted in the message.  NULL is a text. */
#define CHECK_U64(got, want)						\
	unit_same_u64(__FILE__, __LINE__, #got, (uint64_t)(got), want)
#define CHECK_TEXT(got, want)						\
	unit_same_text(__FILE__, __LINE__, #got, got, want)

/* What was written to stderr since the last call; valid until the next. */
const char *unit_messages(void);

/* Writes and reads whole files of the test's own directory. */
void unit_write(const char *path, const void *data, size_t size);
void unit_write_text(const char *path, const char *text);

/* To be freed; a zero byte follows.  NULL if there is no such file. */
char *unit_read(const char *path, size_t *size);

/* How many descriptors this process has open. */
size_t unit_descriptors(void);

/* Numbers that look random and are the same in every run. */
uint64_t unit_random(uint64_t *state);

/*
 * A copy of `size` bytes whose end is the end of the memory: one byte more
 * cannot be read.  Valid until the next call.
 */
struct bytes unit_fenced(const void *data, size_t size);

/* The compiled BPF object, as prof holds it. */
struct bytes unit_object(void);

#endif
