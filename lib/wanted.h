/* SPDX-License-Identifier: MIT */
#ifndef LIB_WANTED_H
#define LIB_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The addresses that a large table is read for.  Of each the table's part below
 * is remembered: the highest start that is not above the address.
 */
struct wanted {
	uint64_t *address;	/* sorted */
	struct wanted_below {
		uint64_t start, value;	/* value: the caller's */
		bool is;
	} *below;		/* of each */
	size_t count, last;		/* last: where the last start was noted */
};

/* Sorts; the addresses are copied. */
void wanted_open(struct wanted *wanted, const uint64_t *addresses,
		 size_t count);

/* Forgets what is below. */
void wanted_clear(struct wanted *wanted);

/*
 * Tells of a start in the table, with what the caller knows of it; of equal starts
 * the larger value stays.  Whether one of the addresses is in start..value-1, as
 * far as that makes sense.
 */
bool wanted_note(struct wanted *wanted, uint64_t start, uint64_t value);

/* After all of them. */
void wanted_finish(struct wanted *wanted);

/*
 * Afterwards: the addresses that something with the value 0 is below, a set of its
 * own, to be closed.
 */
void wanted_open_rest(struct wanted *rest, const struct wanted *wanted);

/* Whether one of the addresses is in start..end-1. */
bool wanted_covers(const struct wanted *wanted, uint64_t start, uint64_t end);

/* The same for what is below them; after wanted_finish(). */
bool wanted_below_covers(const struct wanted *wanted, uint64_t start,
			 uint64_t end);
void wanted_close(struct wanted *wanted);

#endif
