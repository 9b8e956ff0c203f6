/* SPDX-License-Identifier: MIT */
#ifndef OUT_SUMMARY_H
#define OUT_SUMMARY_H

#include <stdbool.h>

#include "out/tree.h"

/*
 * What burns the CPU, in numbers: by function, by process, by way of calling.
 * Idle samples are apart: all else is of busy ones alone.
 */

/* Samples, and those of the recording that this one is compared with. */
struct amount {
	uint64_t now, before;
};

struct summary_function {
	const char *name, *image;	/* as in the profile; image: or "" */
	enum tree_kind kind;
	struct amount self;	/* at the end of stacks */
	struct amount total;	/* anywhere in them: once per stack */
};

/* One process, or all small ones of a name. */
struct summary_process {
	uint32_t tgid;		/* 0: not known, or not one */
	uint32_t count;		/* how many; 0: not known */
	const char *comm;
	bool idle;		/* what the idle task did beside idling */
	struct amount samples;
};

struct summary {
	const struct profile *profile;
	bool compared;
	struct tree tree;
	struct amount *self, *total;	/* by the tree's nodes */
	struct amount busy, idle;
	struct summary_function *functions;	/* the hottest in self first; or
						   the most changed */
	struct summary_process *processes;	/* the same */
	size_t function_count, process_count;
};

/* summary_free() is owed. */
void summary_make(struct summary *summary, const struct profile *profile,
		  bool compared);
void summary_free(struct summary *summary);

/* The part that it has of the busy samples, 0 to 1; and how much that changed. */
double summary_share(const struct summary *summary, struct amount amount);
double summary_share_before(const struct summary *summary,
			    struct amount amount);
double summary_change(const struct summary *summary, struct amount amount);

#endif
