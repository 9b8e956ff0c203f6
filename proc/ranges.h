/* SPDX-License-Identifier: MIT */
#ifndef PROC_RANGES_H
#define PROC_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses of one process that show one part of one file. */
struct range {
	uint64_t start, end;	/* [start, end), never empty */
	uint64_t offset;	/* of start, in the file */
	uint64_t since;		/* ns; nothing is known of what was before */
	uint32_t file;		/* the caller's */
	uint32_t unused;
};

/*
 * Sets of ranges that do not overlap, each known by its root; 0 is the empty
 * one.  All of them live in one pool, and share what they have in common.
 * Starts zeroed.
 */
struct ranges {
	struct ranges_node *nodes;
	size_t count, capacity;
	size_t used;		/* nodes that are in a set */
	uint32_t free;		/* the first of those that are not */
	uint64_t random;
};

/* One more, or one less, who holds this set. */
uint32_t ranges_keep(struct ranges *ranges, uint32_t root);
void ranges_drop(struct ranges *ranges, uint32_t root);

/*
 * These two take over the caller's hold of `root` and give one of the result.
 * Other holders of `root` see no change.  put: the range takes the place of
 * whatever is there.  fill: it takes what is free of its addresses.
 */
uint32_t ranges_put(struct ranges *ranges, uint32_t root,
		    const struct range *range);
uint32_t ranges_fill(struct ranges *ranges, uint32_t root,
		     const struct range *range);

/* The range that holds the address, or the first behind it; false: none. */
bool ranges_next(const struct ranges *ranges, uint32_t root, uint64_t address,
		 struct range *range);

/* The range that holds the address; false: none does. */
bool ranges_find(const struct ranges *ranges, uint32_t root, uint64_t address,
		 struct range *range);

/* Calls `each` with the file of each range of each set, in no order. */
void ranges_files(const struct ranges *ranges,
		  void (*each)(void *context, uint32_t file), void *context);

void ranges_free(struct ranges *ranges);

#endif
