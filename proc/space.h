/* SPDX-License-Identifier: MIT */
#ifndef PROC_SPACE_H
#define PROC_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/files.h"
#include "proc/maps.h"
#include "proc/ranges.h"

/* The mappings of one process number, from some time on. */
struct version {
	uint64_t time;		/* ns; until the next version's */
	uint64_t born;		/* when the program of it began */
	uint64_t clean;		/* it is whole, but for what was lost later;
				   0: nobody knows what was there at first */
	uint64_t settled;	/* when the exec was over; 0: is not yet */
	uint32_t root;		/* in a struct ranges */
	uint32_t parent;	/* whose copy it was, or is in other ways; 0:
				   not known */
	bool birth;		/* by fork or exec; or the first one */
	bool executed;		/* by exec */
};

/* A process number over time: versions, oldest first, never none. */
struct space {
	uint32_t tgid;
	struct version *versions;
	size_t count, capacity;
	size_t changes;		/* of `root` since it was last read whole */
	uint64_t gone;		/* when it was found gone; 0: it was not */
	bool exited;		/* a thread of it, maybe the last one */
	uint64_t looked;	/* the round of the last look at /proc */
	uint32_t looks;		/* ... and how many there were in vain */
	int error;		/* of that look, -errno */
	char comm[16];		/* of a thread then */
	char program[16];	/* comm that the last exec gave; "": none seen */
};

/* A version of another process begins; takes over a hold of version->root. */
void space_push(struct space *space, struct ranges *ranges,
		const struct version *version);

/* The version of this time, or -1 if all are later. */
long space_at(const struct space *space, uint64_t time);

/* The first version of the program that version `at` is of. */
size_t space_birth(const struct space *space, size_t at);

/*
 * Maps a range at range->since.  If that takes the place of other code, a new
 * version begins.
 */
void space_map(struct space *space, struct ranges *ranges,
	       const struct files *files, const struct range *range);

/* The range of a line of /proc/PID/maps, or of a record made into one. */
struct range space_range(struct files *files, const struct file_key *key,
			 const struct map *map);

/* Whether the two show the same at addresses that they share. */
bool space_same(const struct files *files, const struct range *a,
		const struct range *b);

/* Forgets what was over at `horizon`. */
void space_prune(struct space *space, struct ranges *ranges,
		 uint64_t horizon);

/* Forgets all; the space is nobody's then. */
void space_clear(struct space *space, struct ranges *ranges);

#endif
