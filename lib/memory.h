/* SPDX-License-Identifier: MIT */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each of these ends the program with a message and status 1 when the memory
 * cannot be had: a profiler that has no memory left has nothing to add, and
 * the kernel takes maps, programs and events back when the process ends.
 * What they return is freed with free().
 */

/* `count` zeroed elements of `size` bytes. */
void *memory_new(size_t count, size_t size);

/*
 * Makes room for at least `need` elements of `size` bytes in the array at
 * `data` of `*capacity` elements, doubling it.  Returns where it lives now.
 */
void *memory_grow(void *data, size_t *capacity, size_t need, size_t size);

/* A copy of `length` bytes of text with a zero byte behind it. */
char *memory_text(const char *text, size_t length);

/* qsort(3) order of uint64_t; a difference would not fit an int. */
int cmp_u64(const void *a, const void *b);

#endif
