/* SPDX-License-Identifier: MIT */
#ifndef LIB_BYTES_H
#define LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A view of foreign bytes.  Whoever reads a binary format that other people
 * can write reads it through this and nothing else: no offset, however large,
 * reaches outside.  The view does not own what it shows.
 */
struct bytes {
	const uint8_t *data;
	size_t size;
};

/* The `size` bytes at `offset`; false, *part empty, if not all are there. */
bool bytes_part(struct bytes all, uint64_t offset, uint64_t size,
		struct bytes *part);

/* Copies `size` bytes at `offset` to `to`; false, and zeroes, if outside. */
bool bytes_copy(struct bytes all, uint64_t offset, void *to, size_t size);

/* The text at `offset`, or NULL if no zero byte ends it inside. */
const char *bytes_text(struct bytes all, uint64_t offset);

#endif
