/* SPDX-License-Identifier: MIT */
/*
 * wanted: what of a large table is needed for a few addresses.
 *
 *	starts    1    4       9  11          20
 *	          ├────┼───────┼──┼───────────┼────
 *	wanted                  10   12  13
 *	below                    9   11  11
 *
 * A table of 100,000 functions takes megabytes, a hundred addresses need a
 * hundred of them.  Starts come in any order, so each is noted at the first
 * address that is not below it, and in the end what stands at one address also
 * counts for those above.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/search.h"
#include "lib/wanted.h"

void wanted_open(struct wanted *wanted, const uint64_t *addresses,
		 size_t count)
{
	*wanted = (struct wanted){
		.address = memory_new(count, sizeof(*addresses)),
		.below = memory_new(count, sizeof(*wanted->below)),
		.count = count,
	};
	if (!count)
		return;
	memcpy(wanted->address, addresses, count * sizeof(*addresses));
	qsort(wanted->address, count, sizeof(*addresses), cmp_u64);
}

void wanted_clear(struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->count; i++)
		wanted->below[i] = (struct wanted_below){ 0 };
}

/* The first address that is not below `start`; wanted->count: none. */
static size_t first_from(const struct wanted *wanted, uint64_t start)
{
	return search_below_u64(wanted->address, wanted->count,
				sizeof(*wanted->address), start);
}

bool wanted_note(struct wanted *wanted, uint64_t start, uint64_t value)
{
	size_t at = wanted->last;
	struct wanted_below *below;

	/* Tables are mostly sorted: the next one is often in the same place. */
	if ((at && wanted->address[at - 1] >= start) ||
	    (at < wanted->count && wanted->address[at] < start))
		at = wanted->last = first_from(wanted, start);
	if (at == wanted->count)
		return false;
	below = &wanted->below[at];
	if (!below->is || start > below->start ||
	    (start == below->start && value > below->value))
		*below = (struct wanted_below){ start, value, true };
	return wanted->address[at] < value;
}

void wanted_finish(struct wanted *wanted)
{
	for (size_t i = 1; i < wanted->count; i++) {
		struct wanted_below *below = &wanted->below[i];

		if (below[-1].is &&
		    (!below->is || below[-1].start > below->start))
			*below = below[-1];
	}
}

void wanted_open_rest(struct wanted *rest, const struct wanted *wanted)
{
	*rest = (struct wanted){
		.address = memory_new(wanted->count, sizeof(*rest->address)),
		.below = memory_new(wanted->count, sizeof(*rest->below)),
	};
	for (size_t i = 0; i < wanted->count; i++) {
		if (!wanted->below[i].is || wanted->below[i].value)
			continue;
		rest->address[rest->count] = wanted->address[i];
		rest->below[rest->count++] = wanted->below[i];
	}
}

bool wanted_covers(const struct wanted *wanted, uint64_t start, uint64_t end)
{
	size_t at = first_from(wanted, start);

	return at < wanted->count && wanted->address[at] < end;
}

bool wanted_below_covers(const struct wanted *wanted, uint64_t start,
			 uint64_t end)
{
	size_t low = 0, high = wanted->count;

	/* Those that have nothing below come first, then starts that rise. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct wanted_below *below = &wanted->below[middle];

		if (!below->is || below->start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < wanted->count && wanted->below[low].start < end;
}

void wanted_close(struct wanted *wanted)
{
	free(wanted->address);
	free(wanted->below);
	*wanted = (struct wanted){ 0 };
}
