/* SPDX-License-Identifier: MIT */
#ifndef SYM_TABLE_H
#define SYM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions of one file, by address.  Names are numbers here (where they
 * stand in which table of texts): only those that are asked for are ever read.
 * Starts zeroed.
 */
struct table {
	struct table_symbol *symbols;
	size_t count, capacity;
};

struct table_symbol {
	uint64_t start;
	uint32_t size;		/* UINT32_MAX: or more */
	uint32_t name;
	uint32_t above;		/* the one around it; TABLE_NONE */
	uint8_t texts;		/* in which table of texts */
	uint8_t rank;		/* of several in one place the highest wins */
	bool sized;		/* its size is the file's word, not ours */
};

#define TABLE_NONE UINT32_MAX

/* The ranks, to be added up: of two names of one place that with more. */
enum {
	TABLE_LOCAL = 1,
	TABLE_WEAK = 2,
	TABLE_GLOBAL = 3,
	TABLE_FUNCTION = 4,	/* and not just a label */
	TABLE_SIZED = 8,
};

/*
 * Adds a symbol.  One whose size is not known (TABLE_SIZED is not in its rank)
 * has as `size` the room to the end of its section.
 */
void table_add(struct table *table, const struct table_symbol *symbol);

/* To be called once, when all are added, and before anything is looked for. */
void table_finish(struct table *table);

/*
 * The innermost symbol that holds the address, NULL if none does.  *alike is
 * how many symbols have this place and rank: this one, and those before it.
 */
const struct table_symbol *table_find(const struct table *table,
				      uint64_t address, size_t *alike);
void table_free(struct table *table);

#endif
