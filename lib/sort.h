/* SPDX-License-Identifier: MIT */
#ifndef LIB_SORT_H
#define LIB_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts an array of `count` elements of `size` bytes by the number that each
 * begins with.  Equal ones stay in their order.
 */
void sort_by_u64(void *array, size_t count, size_t size);

#endif
