/* SPDX-License-Identifier: MIT */
#ifndef LIB_INDEX_H
#define LIB_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hash index over an array that somebody else owns: from a 64-bit hash to
 * positions in that array.  Starts zeroed.
 */
struct index {
	struct index_slot {
		uint64_t hash;
		uint32_t position;	/* + 1; 0 marks a free slot */
	} *slots;
	size_t size, used;
};

/* Whether the element at `position` is the wanted one. */
typedef bool index_equal(const void *array, uint32_t position,
			 const void *wanted);

#define INDEX_NONE UINT32_MAX

/* The position of the wanted element, or INDEX_NONE. */
uint32_t index_find(const struct index *index, uint64_t hash,
		    index_equal *equal, const void *array, const void *wanted);

/* Remembers that the element with this hash stands at `position`. */
void index_add(struct index *index, uint64_t hash, uint32_t position);

/* Forgets all positions, keeps the memory. */
void index_clear(struct index *index);
void index_free(struct index *index);

/* A hash of bytes, seeded per process: nobody can make keys that collide. */
uint64_t index_hash(const void *data, size_t size);

#endif
