/* SPDX-License-Identifier: MIT */
#ifndef OUT_BRANCHES_H
#define OUT_BRANCHES_H

#include <stdbool.h>

#include "out/summary.h"

/*
 * The call tree as a person reads it: what is small is left out, and a function
 * that calls one other, with nothing else to tell, stands in one line with it:
 *
 *	100  python3			level 0
 *	 90  ├ main → run → eval	level 1, from `top` to `bottom`
 *	 60  │ ├ fib			level 2
 *	 30  │ └ (7 others)		level 2, `others` of them
 *	 10  └ read			level 1, `last` of its parent's
 */
struct branch {
	uint32_t top, bottom;	/* in summary->tree.nodes; others: unused */
	uint32_t level;
	uint32_t others;	/* 0: it is a chain of functions */
	bool last;
	uint64_t total, self;	/* busy samples; self: of all that it shows */
};

struct branches {
	struct branch *branch;	/* in the order of lines */
	size_t count, capacity;
	double from;		/* the smallest share that is shown */
};

/*
 * What is at least 1 % of the busy samples, or so much more that it is not more
 * than `most` lines.  branches_free() is owed.
 */
void branches_make(struct branches *branches, const struct summary *summary,
		   size_t most);
void branches_free(struct branches *branches);

#endif
