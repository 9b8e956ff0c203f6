/* SPDX-License-Identifier: MIT */
#ifndef LIB_LISTS_H
#define LIB_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"

/*
 * A set of lists of numbers (stacks, for one), each kept once and known by its
 * own number.  Starts zeroed.
 */
struct lists {
	uint64_t *items;
	size_t item_count, item_capacity;
	struct list {
		size_t from;		/* in items */
		uint32_t count;
	} *list;
	size_t count, capacity;
	struct index index;
};

/* The number of the list, which is copied if it is new. */
uint32_t lists_add(struct lists *lists, const uint64_t *items, size_t count);

/* The items of list `number`, valid until the next lists_add(). */
const uint64_t *lists_get(const struct lists *lists, uint32_t number,
			  size_t *count);
void lists_free(struct lists *lists);

#endif
