/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the mappings of a process as they are now, for a time that is over.
 *
 * What of it holds for an earlier time is told at the top of spaces.c.  Two ways
 * to use it:
 *
 *	fill		records are whole: they are right wherever they have
 *			something, the snapshot tells of the rest
 *	replace		records were lost: the snapshot is right; the records
 *			tell since when, where they have the same
 */
#include <stdlib.h>

#include "lib/memory.h"
#include "proc/maps.h"
#include "proc/snapshot.h"

static void add_row(void *context, const struct map *map)
{
	struct snapshot *snapshot = context;
	const struct file_key key = {
		.inode = map->inode, .major = map->major, .minor = map->minor,
	};

	snapshot->rows = memory_grow(snapshot->rows, &snapshot->capacity,
				     snapshot->count + 1,
				     sizeof(*snapshot->rows));
	snapshot->rows[snapshot->count++] =
		space_range(snapshot->files, map->inode ? &key :
			    &(struct file_key){ 0 }, map);
}

/* Whether `b` goes on where `a` ends, `gap` bytes later, in the same file. */
static bool goes_on(const struct files *files, const struct range *a,
		    const struct range *b, uint64_t gap)
{
	return files_kind(files, a->file) == FILE_PLAIN &&
	       a->file == b->file && a->end + gap == b->start &&
	       a->offset - a->start == b->offset - b->start;
}

/*
 * Programs copy their own code to huge pages, and move these over the file's
 * mapping (mremap(2), of which no record tells).  So memory that has the same
 * file at both ends, and exactly fills the gap, is that file's code.
 */
static void fill_gaps(struct snapshot *snapshot)
{
	for (size_t i = 1; i + 1 < snapshot->count; i++) {
		struct range *row = &snapshot->rows[i];

		if (files_kind(snapshot->files, row->file) != FILE_MEMORY ||
		    row[-1].end != row->start ||
		    !goes_on(snapshot->files, &row[-1], &row[1],
			     row->end - row->start))
			continue;
		row->file = row[-1].file;
		row->offset = row->start - row[-1].start + row[-1].offset;
	}
}

int snapshot_read(struct snapshot *snapshot, struct files *files, uint32_t pid,
		  size_t most, size_t *lines)
{
	int error;

	snapshot->files = files;
	snapshot->count = 0;
	error = maps_read(pid, most, lines, add_row, snapshot);
	fill_gaps(snapshot);
	return error;
}

static uint32_t fill(const struct snapshot *snapshot, struct ranges *ranges,
		     uint32_t root)
{
	for (size_t i = 0; i < snapshot->count; i++)
		root = ranges_fill(ranges, root, &snapshot->rows[i]);
	return root;
}

static uint32_t replace(const struct snapshot *snapshot, struct ranges *ranges,
			const struct files *files, uint32_t old,
			uint64_t since)
{
	uint32_t root = 0;

	for (size_t i = 0; i < snapshot->count; i++) {
		struct range row = snapshot->rows[i], there;

		row.since = since;
		if (ranges_find(ranges, old, row.start, &there) &&
		    space_same(files, &there, &row))
			row.since = there.since;
		root = ranges_put(ranges, root, &row);
	}
	ranges_drop(ranges, old);
	return root;
}

/* Behind the last version of the program of version `first`. */
static size_t end_of(const struct space *space, size_t first)
{
	size_t end = first + 1;

	while (end < space->count && !space->versions[end].birth)
		end++;
	return end;
}

bool snapshot_use(const struct snapshot *snapshot, struct space *space,
		  struct ranges *ranges, const struct files *files,
		  const struct snapshot_times *times)
{
	long at = space_at(space, times->before);
	size_t first, end;

	if (at < 0)
		return false;
	first = space_birth(space, (size_t)at);
	end = end_of(space, first);
	if (end < space->count && space->versions[end].time <= times->after)
		return false;
	for (size_t i = first; i < end; i++) {
		struct version *version = &space->versions[i];
		bool last = i + 1 == end;

		/* It was whole once, so what it lacks now was lost. */
		if (version->clean >= times->doubt ||
		    (!version->clean && times->records))
			version->root = fill(snapshot, ranges, version->root);
		else if (last || version[1].time > times->lost_since)
			version->root = replace(snapshot, ranges, files,
						version->root,
						times->lost_since);
		version->clean = times->after;
	}
	space->changes = snapshot->count;
	return true;
}

void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->rows);
	*snapshot = (struct snapshot){ 0 };
}
