/* SPDX-License-Identifier: MIT */
#ifndef LIB_NAMES_H
#define LIB_NAMES_H

#include <stdint.h>

#include "lib/index.h"

/* A set of texts, each kept once and known by its number.  Starts zeroed. */
struct names {
	char **text;
	size_t count, capacity;
	struct index index;
};

/* The number of `text`, which is added if it is new. */
uint32_t names_add(struct names *names, const char *text);
void names_free(struct names *names);

#endif
