/* SPDX-License-Identifier: MIT */
/* processes: spaces by process number, with room that is used again. */
#include <stdlib.h>

#include "lib/memory.h"
#include "proc/processes.h"

static bool space_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return ((const struct space *)array)[position].tgid ==
	       *(const uint32_t *)wanted;
}

uint32_t processes_find(const struct processes *processes, uint32_t tgid)
{
	return index_find(&processes->index, index_hash(&tgid, sizeof(tgid)),
			  space_equal, processes->space, &tgid);
}

/* The index knows no removal: now and then it is made anew. */
static void index_anew(struct processes *processes)
{
	index_clear(&processes->index);
	processes->stale = 0;
	for (size_t i = 0; i < processes->count; i++) {
		uint32_t tgid = processes->space[i].tgid;

		if (tgid)
			index_add(&processes->index,
				  index_hash(&tgid, sizeof(tgid)),
				  (uint32_t)i);
	}
}

uint32_t processes_add(struct processes *processes, uint32_t tgid)
{
	uint32_t position;

	if (processes->stale > processes->count / 2 + 64)
		index_anew(processes);
	if (processes->spare_count) {
		position = processes->spare[--processes->spare_count];
	} else {
		processes->space = memory_grow(processes->space,
					       &processes->capacity,
					       processes->count + 1,
					       sizeof(*processes->space));
		position = (uint32_t)processes->count++;
	}
	processes->space[position] = (struct space){ .tgid = tgid };
	index_add(&processes->index, index_hash(&tgid, sizeof(tgid)),
		  position);
	return position;
}

void processes_forget(struct processes *processes, uint32_t position,
		      struct ranges *ranges)
{
	space_clear(&processes->space[position], ranges);
	processes->spare = memory_grow(processes->spare,
				       &processes->spare_capacity,
				       processes->spare_count + 1,
				       sizeof(*processes->spare));
	processes->spare[processes->spare_count++] = position;
	processes->stale++;
}

void processes_clear(struct processes *processes, struct ranges *ranges)
{
	for (size_t i = 0; i < processes->count; i++)
		space_clear(&processes->space[i], ranges);
	processes->count = processes->spare_count = processes->stale = 0;
	index_clear(&processes->index);
}

void processes_free(struct processes *processes, struct ranges *ranges)
{
	processes_clear(processes, ranges);
	free(processes->space);
	free(processes->spare);
	index_free(&processes->index);
	*processes = (struct processes){ 0 };
}
