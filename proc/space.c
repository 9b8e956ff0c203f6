/* SPDX-License-Identifier: MIT */
/*
 * space: the mappings of one process number, as they changed.
 *
 *	time ──────────────────────────────────────────────────────────>
 *	fork          exec         mmap, mmap, mmap    mmap over old code
 *	[parent's set][empty set, which fills up      ][a set of its own ]
 *	 version 0     version 1                        version 2
 *
 * Samples come a second later than the records of what happened, so a set must
 * stay as it was for as long as samples of that time may come.  A mapping where
 * nothing was is added to the version that is there, with its time: nobody
 * asked for these addresses before.  One that takes the place of another begins
 * a new version.
 *
 * No record tells of munmap(2).  So what is in a set may be gone, and does no
 * harm: no sample is there then.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/search.h"
#include "proc/space.h"

/* Of one number, within one horizon; then the oldest are forgotten. */
enum { VERSIONS_MOST = 256 };

static void drop_oldest(struct space *space, struct ranges *ranges,
			size_t count)
{
	struct version *versions = space->versions;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		ranges_drop(ranges, versions[i].root);
	/* Whatever the oldest was, nothing is known of what was before. */
	versions[count].birth = true;
	space->count -= count;
	memmove(versions, versions + count,
		space->count * sizeof(*versions));
}

void space_push(struct space *space, struct ranges *ranges,
		const struct version *version)
{
	struct version *last;

	if (space->count >= VERSIONS_MOST)
		drop_oldest(space, ranges, VERSIONS_MOST / 4);
	/* Fork and exec: most processes never have more. */
	if (!space->capacity) {
		space->capacity = 2;
		space->versions = memory_new(2, sizeof(*version));
	}
	space->versions = memory_grow(space->versions, &space->capacity,
				      space->count + 1, sizeof(*version));
	last = &space->versions[space->count++];
	*last = *version;
	/* A record that came late: the order of times is kept. */
	if (space->count > 1 && last[-1].time > last->time)
		last->time = last[-1].time;
}

long space_at(const struct space *space, uint64_t time)
{
	return (long)search_upto_u64(space->versions, space->count,
				     sizeof(*space->versions), time) - 1;
}

size_t space_birth(const struct space *space, size_t at)
{
	while (at && !space->versions[at].birth)
		at--;
	return at;
}

struct range space_range(struct files *files, const struct file_key *key,
			 const struct map *map)
{
	struct range range = {
		.start = map->start, .end = map->end, .offset = map->offset,
	};
	const char *path = map->path;

	/* Another one: 32-bit programs have a vDSO of their own. */
	if (!key->inode && !strcmp(path, "[vdso]") && map->end <= UINT32_MAX)
		path = "[vdso32]";
	range.file = files_add(files, key, path);
	/* Memory has no offsets: all of it is the same. */
	if (files_kind(files, range.file) == FILE_MEMORY)
		range.offset = range.start;
	else if (files_kind(files, range.file) == FILE_VDSO)
		range.offset = 0;
	return range;
}

bool space_same(const struct files *files, const struct range *a,
		const struct range *b)
{
	return a->offset - a->start == b->offset - b->start &&
	       files_same(files, a->file, b->file);
}

/* Whether other code than this is where the range will be. */
static bool takes_place(const struct ranges *ranges, uint32_t root,
			const struct files *files, const struct range *range)
{
	uint64_t from = range->start;
	struct range there;

	while (from < range->end &&
	       ranges_next(ranges, root, from, &there) &&
	       there.start < range->end) {
		if (!space_same(files, &there, range))
			return true;
		from = there.end;
	}
	return false;
}

void space_map(struct space *space, struct ranges *ranges,
	       const struct files *files, const struct range *range)
{
	struct version *last = &space->versions[space->count - 1];
	struct version next = *last;

	space->changes++;
	if (!takes_place(ranges, last->root, files, range)) {
		last->root = ranges_fill(ranges, last->root, range);
		return;
	}
	next.time = range->since;
	next.birth = false;
	next.root = ranges_put(ranges, ranges_keep(ranges, last->root), range);
	space_push(space, ranges, &next);
}

void space_prune(struct space *space, struct ranges *ranges, uint64_t horizon)
{
	long at = space_at(space, horizon);

	if (at > 0)
		drop_oldest(space, ranges, (size_t)at);
	/* Most processes have one or two; what a burst took is given back. */
	if (space->capacity > 16 && space->count <= 4) {
		void *less = realloc(space->versions,
				     4 * sizeof(*space->versions));

		if (less) {
			space->versions = less;
			space->capacity = 4;
		}
	}
}

void space_clear(struct space *space, struct ranges *ranges)
{
	for (size_t i = 0; i < space->count; i++)
		ranges_drop(ranges, space->versions[i].root);
	free(space->versions);
	*space = (struct space){ 0 };
}
