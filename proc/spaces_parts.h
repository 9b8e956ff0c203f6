/* SPDX-License-Identifier: MIT */
#ifndef PROC_SPACES_PARTS_H
#define PROC_SPACES_PARTS_H

#include "proc/comms.h"
#include "proc/processes.h"
#include "proc/snapshot.h"
#include "proc/space.h"
#include "proc/spaces.h"

/* What spaces.c and looks.c share. */
struct spaces {
	struct files *files;
	struct ranges ranges;
	struct processes all;
	struct comms comms;

	void (*update)(void *context);	/* NULL: there are no records */
	void *context;
	uint64_t doubt;		/* what was clean before is not any more */
	uint64_t lost_since;	/* ... as records since then may be lost */
	uint64_t round, turned, lost_round;
	bool lost;		/* records, since spaces_look_again() */
	uint64_t looked_again;	/* when it did something, in ns */
	bool blind;		/* /proc numbers processes otherwise */
	bool timeless;		/* samples do not tell when they were */
	uint32_t vsyscall;	/* a file */

	struct snapshot snapshot;	/* the last one */
	struct spaces_cost cost;
	size_t lines;		/* read in this round */
};

/* Whether all is known that this version had mapped. */
static inline bool is_whole(const struct spaces *spaces,
			    const struct version *version)
{
	return version->clean >= spaces->doubt;
}

static inline struct space *space_of(const struct spaces *spaces,
				     uint32_t position)
{
	return &spaces->all.space[position];
}

static inline struct version *last_version(struct spaces *spaces,
					   uint32_t position)
{
	struct space *space = space_of(spaces, position);

	return &space->versions[space->count - 1];
}

/* The position of this process number; a new one is not known yet. */
uint32_t spaces_get(struct spaces *spaces, uint32_t tgid);

/* Whether the position still is this process's: all can be forgotten. */
bool spaces_has(const struct spaces *spaces, uint32_t position, uint32_t tgid);

/*
 * Looks at /proc, by a thread if the process's first one has ended.  Once in a
 * round: what comes of it is in space->error and in the versions.
 */
void looks_at(struct spaces *spaces, uint32_t position, uint32_t tid);

/* Fills up what the process had at `time` by what its parents had. */
void looks_at_parents(struct spaces *spaces, uint32_t position, uint64_t time);

#endif
