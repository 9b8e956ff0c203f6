/* SPDX-License-Identifier: MIT */
/*
 * table: which function an address is in.
 *
 * Symbols are sorted by start, of those with one start the larger first, and of
 * those in one place the better name last.  Each knows the one around it:
 *
 *	address   10      20       30      40      50
 *	a         ├───────────────────────────────┤        above: none
 *	b                 ├─────────┤                      above: a
 *	c                      ├──┤                        above: b
 *	d                                   ├──────────┤   above: a
 *
 * So an address is looked for among the starts, and from the last start not
 * above it upwards until one holds it.  Past the end of a symbol is nobody's:
 * code without a name must not get its neighbour's.
 *
 * Many hand-written functions have no size.  Such a one reaches to the next
 * symbol, to the end of its section or of what is around it.  A mere label
 * inside a function with a size is no function at all.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/search.h"
#include "lib/sort.h"
#include "sym/table.h"

enum {
	ABOVE_MOST = 1000,	/* steps upwards; functions nest two deep */
	ALIKE_MOST = 64,	/* names of one place that are compared */
};

static uint64_t end_of(const struct table_symbol *symbol)
{
	if (symbol->size == UINT32_MAX ||
	    symbol->start > UINT64_MAX - symbol->size)
		return UINT64_MAX;
	return symbol->start + symbol->size;
}

void table_add(struct table *table, const struct table_symbol *symbol)
{
	if (table->count >= TABLE_NONE)
		return;
	table->symbols = memory_grow(table->symbols, &table->capacity,
				     table->count + 1, sizeof(*symbol));
	table->symbols[table->count] = *symbol;
	table->symbols[table->count++].sized = symbol->rank & TABLE_SIZED;
}

/* --------------------------------------------------------------- sorting */

/* Of one start: the larger first, then the lower rank. */
static int cmp_symbol(const void *a, const void *b)
{
	const struct table_symbol *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* Whatever sorts them, the order is always the same. */
	if (x->texts != y->texts)
		return x->texts < y->texts ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Of one start: those without a size take that of the largest with one. */
static void settle_group(struct table_symbol *group, size_t count)
{
	uint32_t size = 0;

	if (count == 1)
		return;
	for (size_t i = 0; i < count; i++)
		if (group[i].sized && group[i].size > size)
			size = group[i].size;
	for (size_t i = 0; i < count; i++)
		if (size && !group[i].sized) {
			group[i].size = size;
			group[i].sized = true;
		}
	qsort(group, count, sizeof(*group), cmp_symbol);
}

/* --------------------------------------------------- which is around which */

/*
 * Cuts a symbol whose size is not known; false if it is none.  `next` is where
 * the next one starts.
 */
static bool cut(struct table_symbol *symbol, const struct table_symbol *around,
		uint64_t next)
{
	uint64_t end = end_of(symbol);

	if (symbol->sized)
		return true;
	if (around && !(symbol->rank & TABLE_FUNCTION))
		return false;
	if (around && end_of(around) < end)
		end = end_of(around);
	if (next < end)
		end = next;
	end -= symbol->start;
	symbol->size = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
	return symbol->size;
}

/*
 * Appends a symbol to those already settled, which are the first `count`.  The
 * stack of those that are around it is the last one, the one above it and so
 * on; each leaves it once.
 */
static size_t settle(struct table *table, size_t count,
		     struct table_symbol symbol, uint64_t next)
{
	struct table_symbol *done = table->symbols;
	uint32_t top = count ? (uint32_t)(count - 1) : TABLE_NONE, around;

	while (top != TABLE_NONE && end_of(&done[top]) <= symbol.start)
		top = done[top].above;
	/* Another name of the same place is not around it. */
	around = top;
	if (around != TABLE_NONE && done[around].start == symbol.start &&
	    !symbol.sized)
		around = done[around].above;
	if (!cut(&symbol, around == TABLE_NONE ? NULL : &done[around], next))
		return count;
	symbol.above = top;
	if (top != TABLE_NONE && done[top].start == symbol.start &&
	    done[top].size == symbol.size)
		symbol.above = done[top].above;
	done[count] = symbol;
	return count + 1;
}

void table_finish(struct table *table)
{
	size_t settled = 0, next;

	sort_by_u64(table->symbols, table->count, sizeof(*table->symbols));
	for (size_t i = 0; i < table->count; i = next) {
		uint64_t start = table->symbols[i].start, after = UINT64_MAX;

		for (next = i + 1; next < table->count &&
		     table->symbols[next].start == start; next++)
			;
		if (next < table->count)
			after = table->symbols[next].start;
		settle_group(&table->symbols[i], next - i);
		for (size_t j = i; j < next; j++)
			settled = settle(table, settled, table->symbols[j],
					 after);
	}
	table->count = settled;
}

/* ------------------------------------------------------------- looking up */

static bool is_alike(const struct table_symbol *a,
		     const struct table_symbol *b)
{
	return a->start == b->start && a->size == b->size && a->rank == b->rank;
}

const struct table_symbol *table_find(const struct table *table,
				      uint64_t address, size_t *alike)
{
	size_t low = search_upto_u64(table->symbols, table->count,
				     sizeof(*table->symbols), address);
	const struct table_symbol *symbol;
	uint32_t at;

	*alike = 0;
	at = low ? (uint32_t)(low - 1) : TABLE_NONE;
	for (size_t steps = 0; at != TABLE_NONE; steps++) {
		symbol = &table->symbols[at];
		if (steps > ABOVE_MOST)
			return NULL;
		if (address < end_of(symbol))
			break;
		at = symbol->above;
	}
	if (at == TABLE_NONE)
		return NULL;
	for (*alike = 1; *alike <= at && *alike < ALIKE_MOST; ++*alike)
		if (!is_alike(symbol, symbol - *alike))
			break;
	return symbol;
}

void table_free(struct table *table)
{
	free(table->symbols);
	*table = (struct table){ 0 };
}
