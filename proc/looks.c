/* SPDX-License-Identifier: MIT */
/*
 * looks: what /proc says of processes of which the records do not tell all.
 *
 * A process that was there before anybody listened is read when it is first met;
 * a child of such a one has what its parent had.  When records were lost, all
 * that are known are read anew, at once: by the next drain they may have ended.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/text.h"
#include "proc/spaces_parts.h"
#include "sys/system.h"

enum {
	MAPPINGS_MOST = 70000,	/* lines of one process: max_map_count */
	LINES_MOST = 200000,	/* lines of all processes, in one drain */
	PARENTS_MOST = 8,	/* that are asked for one process's mappings */
};

#define LOOK_AROUND_NS 50000000ull	/* of CPU time */
#define LOOK_AGAIN_NS 500000000ull	/* from one time to the next */

uint32_t spaces_get(struct spaces *spaces, uint32_t tgid)
{
	const struct version unknown = { .birth = true };
	uint32_t position = processes_find(&spaces->all, tgid);

	if (position != INDEX_NONE)
		return position;
	position = processes_add(&spaces->all, tgid);
	space_push(space_of(spaces, position), &spaces->ranges, &unknown);
	return position;
}

bool spaces_has(const struct spaces *spaces, uint32_t position, uint32_t tgid)
{
	return position < spaces->all.count &&
	       space_of(spaces, position)->tgid == tgid;
}

static int read_rows(struct spaces *spaces, uint32_t pid)
{
	size_t lines = 0;
	int error;

	if (spaces->blind)
		return -ENOENT;
	if (spaces->lines > LINES_MOST)
		return -E2BIG;
	error = snapshot_read(&spaces->snapshot, spaces->files, pid,
			      MAPPINGS_MOST, &lines);
	spaces->lines += lines;
	spaces->cost.lines += lines;
	spaces->cost.looks++;
	return error;
}

void looks_at(struct spaces *spaces, uint32_t position, uint32_t tid)
{
	uint32_t tgid = space_of(spaces, position)->tgid;
	uint64_t before = system_now(), after;
	int error = read_rows(spaces, tgid);
	struct space *space;

	if (error == -ENOENT && tid && tid != tgid && !spaces->blind)
		error = read_rows(spaces, tid);
	after = system_now();
	if (spaces->update)
		spaces->update(spaces->context);
	if (!spaces_has(spaces, position, tgid))
		return;
	space = space_of(spaces, position);
	space->looked = spaces->round;
	space->error = error;
	if (error == -ENOENT || error == -ESRCH)
		space->exited = true;
	if (error == -E2BIG)
		spaces->cost.too_many++;
	if (error == -EACCES || error == -EPERM)
		spaces->cost.forbidden++;
	if (!error && !snapshot_use(&spaces->snapshot, space, &spaces->ranges,
				    spaces->files, &(struct snapshot_times){
					    before, after, spaces->doubt,
					    spaces->lost_since,
					    spaces->update != NULL,
				    }))
		space->looked = 0;
}

/* All that the parent had when it made this one: it may live on, or be known. */
static void inherit(struct spaces *spaces, uint32_t position, uint64_t time,
		    unsigned int depth)
{
	struct space *space = space_of(spaces, position);
	long at = space_at(space, time), there;
	uint32_t parent, root, tgid = space->tgid, parent_tgid;
	uint64_t born;

	if (at < 0 || depth > PARENTS_MOST || space->versions[at].clean ||
	    !space->versions[at].parent)
		return;
	born = space->versions[at].born;
	parent_tgid = space->versions[at].parent;
	parent = spaces_get(spaces, parent_tgid);
	if (space_of(spaces, parent)->looked != spaces->round)
		looks_at(spaces, parent, 0);
	if (!spaces_has(spaces, parent, parent_tgid))
		return;
	inherit(spaces, parent, born, depth + 1);
	if (!spaces_has(spaces, position, tgid))
		return;
	space = space_of(spaces, position);
	at = space_at(space, time);
	there = space_at(space_of(spaces, parent), born);
	if (at < 0 || there < 0 ||
	    !is_whole(spaces, &space_of(spaces, parent)->versions[there]))
		return;
	root = space_of(spaces, parent)->versions[there].root;
	for (size_t i = space_birth(space, (size_t)at);
	     i < space->count && space->versions[i].born == born; i++) {
		struct range range = { 0 };
		struct version *version = &space->versions[i];

		while (ranges_next(&spaces->ranges, root, range.end, &range))
			if (range.since <= born)
				version->root = ranges_fill(&spaces->ranges,
							    version->root,
							    &range);
		version->clean = spaces->doubt;
	}
}

void looks_at_parents(struct spaces *spaces, uint32_t position, uint64_t time)
{
	inherit(spaces, position, time, 0);
}

void spaces_look(struct spaces *spaces, uint32_t tgid)
{
	if (!spaces->blind)
		looks_at(spaces, spaces_get(spaces, tgid), 0);
}

void spaces_look_around(struct spaces *spaces)
{
	struct spaces_cost before = spaces->cost;
	uint64_t begin = system_cpu_time();
	DIR *directory = spaces->blind ? NULL : opendir("/proc");
	struct dirent *entry;
	uint64_t tgid;

	while (directory && (entry = readdir(directory)) &&
	       system_cpu_time() - begin < LOOK_AROUND_NS) {
		uint32_t position;

		if (!text_number(entry->d_name, 10, 1, INT32_MAX, &tgid))
			continue;
		position = spaces_get(spaces, (uint32_t)tgid);
		if (!is_whole(spaces, last_version(spaces, position)))
			looks_at(spaces, position, 0);
	}
	if (directory)
		closedir(directory);
	/* That matters for those that will have samples, and is told then. */
	spaces->cost.too_many = before.too_many;
	spaces->cost.forbidden = before.forbidden;
}

void spaces_look_again(struct spaces *spaces)
{
	uint64_t now = system_now(), begin = system_cpu_time();

	if (!spaces->lost || now - spaces->looked_again < LOOK_AGAIN_NS)
		return;
	spaces->lost = false;
	spaces->looked_again = now;
	for (uint32_t i = 0; i < spaces->all.count &&
	     system_cpu_time() - begin < LOOK_AROUND_NS; i++)
		if (space_of(spaces, i)->tgid && !space_of(spaces, i)->gone &&
		    !is_whole(spaces, last_version(spaces, i)))
			looks_at(spaces, i, 0);
}
