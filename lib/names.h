/* SPDX-License-Identifier: MIT */
#ifndef LIB_NAMES_H
#define LIB_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"

/* A set of texts, each kept once and known by its number.  Starts zeroed. */
struct names {
	char **text;
	uint32_t *length;
	size_t count, capacity, length_capacity;
	struct index index;
};

/* The number of `text`, which is added if it is new. */
uint32_t names_add(struct names *names, const char *text);

/* The same for `length` bytes, of which none is zero. */
uint32_t names_add_part(struct names *names, const char *text, size_t length);
void names_free(struct names *names);

#endif
