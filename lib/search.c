/* SPDX-License-Identifier: MIT */
/*
 * search: where in a sorted array.
 */
#include "lib/search.h"

size_t search_upto_u64(const void *array, size_t count, size_t size,
		       uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const uint64_t *number =
			(const void *)((const char *)array + middle * size);

		if (*number <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t search_upto_u32(const void *array, size_t count, size_t size,
		       uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const uint32_t *number =
			(const void *)((const char *)array + middle * size);

		if (*number <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t search_below_u64(const void *array, size_t count, size_t size,
			uint64_t value)
{
	return value ? search_upto_u64(array, count, size, value - 1) : 0;
}
