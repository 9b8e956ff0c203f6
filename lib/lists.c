/* SPDX-License-Identifier: MIT */
/* lists: stacks repeat; each is kept once, end to end with the others. */
#include <stdlib.h>
#include <string.h>

#include "lib/lists.h"
#include "lib/memory.h"

struct wanted {
	const uint64_t *items;
	size_t count;
};

static bool lists_equal(const void *array, uint32_t position,
			const void *wanted)
{
	const struct lists *lists = array;
	const struct wanted *want = wanted;
	const struct list *list = &lists->list[position];

	return list->count == want->count && (!want->count ||
	       !memcmp(lists->items + list->from, want->items,
		       want->count * sizeof(*want->items)));
}

uint32_t lists_add(struct lists *lists, const uint64_t *items, size_t count)
{
	static const uint64_t nothing;
	struct wanted wanted = { count ? items : &nothing, count };
	uint64_t hash = index_hash(wanted.items, count * sizeof(*items));
	uint32_t number = index_find(&lists->index, hash, lists_equal, lists,
				     &wanted);

	if (number != INDEX_NONE)
		return number;
	lists->items = memory_grow(lists->items, &lists->item_capacity,
				   lists->item_count + count, sizeof(*items));
	if (count)
		memcpy(lists->items + lists->item_count, wanted.items,
		       count * sizeof(*items));
	lists->list = memory_grow(lists->list, &lists->capacity,
				  lists->count + 1, sizeof(*lists->list));
	lists->list[lists->count].from = lists->item_count;
	lists->list[lists->count].count = (uint32_t)count;
	lists->item_count += count;
	index_add(&lists->index, hash, (uint32_t)lists->count);
	return (uint32_t)lists->count++;
}

const uint64_t *lists_get(const struct lists *lists, uint32_t number,
			  size_t *count)
{
	*count = lists->list[number].count;
	return lists->items ? lists->items + lists->list[number].from : NULL;
}

void lists_free(struct lists *lists)
{
	free(lists->items);
	free(lists->list);
	index_free(&lists->index);
	*lists = (struct lists){ 0 };
}
