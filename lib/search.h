/* SPDX-License-Identifier: MIT */
#ifndef LIB_SEARCH_H
#define LIB_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Binary search in an array of `count` elements of `size` bytes, sorted by the
 * number that each begins with: how many of these are at most `value`, or below
 * it.  That is also the position of the first one that is not.
 */
size_t search_upto_u64(const void *array, size_t count, size_t size,
		       uint64_t value);
size_t search_upto_u32(const void *array, size_t count, size_t size,
		       uint64_t value);
size_t search_below_u64(const void *array, size_t count, size_t size,
			uint64_t value);

#endif
