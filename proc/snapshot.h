/* SPDX-License-Identifier: MIT */
#ifndef PROC_SNAPSHOT_H
#define PROC_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/files.h"
#include "proc/ranges.h"
#include "proc/space.h"

/* The code of a process, as /proc/PID/maps had it.  Starts zeroed. */
struct snapshot {
	struct files *files;
	struct range *rows;
	size_t count, capacity;
};

/* As maps_read(). */
int snapshot_read(struct snapshot *snapshot, struct files *files, uint32_t pid,
		  size_t most, size_t *lines);

/* What is known of the time; ns, CLOCK_MONOTONIC. */
struct snapshot_times {
	uint64_t before, after;	/* it was read between these */
	uint64_t doubt;		/* what was whole earlier is not any more, */
	uint64_t lost_since;	/* as records since then may be lost */
	bool records;		/* there are any */
};

/*
 * Completes all versions of the program that it is of.  All records up to
 * times->after have to be in the space.  False: the program was replaced while
 * the snapshot was taken, and nothing was done.
 */
bool snapshot_use(const struct snapshot *snapshot, struct space *space,
		  struct ranges *ranges, const struct files *files,
		  const struct snapshot_times *times);
void snapshot_free(struct snapshot *snapshot);

#endif
