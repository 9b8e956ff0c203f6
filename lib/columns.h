/* SPDX-License-Identifier: MIT */
#ifndef LIB_COLUMNS_H
#define LIB_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/text.h"

/*
 * Texts in columns of a terminal.  Given is valid UTF-8 without control
 * characters; anything else does no harm.
 */

/* How many columns the text takes: two for wide characters, none for marks. */
size_t columns_of(const char *text);

/* The bytes at the text's beginning that take at most so many. */
size_t columns_fit(const char *text, size_t most);

/* Appends the text as a terminal without UTF-8 can show it: `?` for the rest. */
void columns_ascii(struct text *to, const char *text);

/*
 * Appends of a function's name what fits into `most` columns, and returns how
 * many it took.  Of one that is too long first its arguments go, then those of
 * its templates, then its middle:
 *
 *	std::map<int, foo>::insert(std::pair<int, foo> const&)
 *	std::map<int, foo>::insert(..)
 *	std::map<..>::insert(..)
 *	std::ma..sert(..)
 *
 * `dots` is what stands for that: "…", or ".." for a terminal without UTF-8.
 */
size_t columns_name(struct text *to, const char *name, size_t most,
		    const char *dots);

#endif
