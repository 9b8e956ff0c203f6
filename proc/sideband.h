/* SPDX-License-Identifier: MIT */
#ifndef PROC_SIDEBAND_H
#define PROC_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bytes.h"
#include "sys/cpus.h"

/* What happened to a task.  Numbers are those of our PID namespace. */
struct side_event {
	uint64_t time;		/* ns, CLOCK_MONOTONIC, as samples have it */
	enum side_kind {
		SIDE_FORK,	/* pid, tid are new, made by process ppid; a
				   new thread has pid == ppid */
		SIDE_EXIT,	/* of thread tid */
		SIDE_EXEC,	/* pid runs another program from here on */
		SIDE_COMM,	/* thread tid calls itself otherwise */
		SIDE_MAP,	/* pid has mapped code: `map` */
		SIDE_LOST,	/* some CPU's records since lost_since, or
				   some of them */
	} kind;
	uint32_t pid, tid, ppid;
	char comm[16];		/* SIDE_EXEC, SIDE_COMM: the new one */
	uint64_t lost_since;
	struct side_map {
		uint64_t start, size, offset;
		uint64_t inode, generation;	/* inode 0: no file */
		uint32_t major, minor;
		const char *path;	/* as the process sees it; valid during
					   the call */
	} map;
};

typedef void side_fn(void *context, const struct side_event *event);

struct sideband;

/* Without rings; for tests, and for sideband_open(). */
struct sideband *sideband_new(void);

/*
 * Opens a ring on each of `cpus` and starts listening.  Where that is refused:
 * `must`: NULL after a message; else a warning, and sideband_deaf() is true.
 */
struct sideband *sideband_open(const struct cpus *cpus, bool must);

/*
 * Rings for CPUs that are new, or back, for the drain after a look at the CPUs.
 * What was missed meanwhile becomes SIDE_LOST.
 */
void sideband_check(struct sideband *sideband, const struct cpus *cpus);

/* Takes what has arrived out of the rings, to make room there. */
void sideband_collect(struct sideband *sideband);

/*
 * One record (struct perf_event_header and what follows) of ring number `ring`,
 * as sideband_collect() finds it there.
 */
void sideband_add(struct sideband *sideband, size_t ring, struct bytes record);

/*
 * Collects, and gives all events up to `until` (ns, CLOCK_MONOTONIC) to `each`
 * in the order of their times.  Later ones wait: an earlier one may still be
 * on its way on another CPU.
 */
void sideband_replay(struct sideband *sideband, uint64_t until, side_fn *each,
		     void *context);

/* Descriptors that become readable when a ring is half full. */
const int *sideband_fds(const struct sideband *sideband, size_t *count);

/*
 * How often a CPU came back on line and had run for a while, up to two seconds,
 * before it was listened to again.
 */
uint64_t sideband_gaps(const struct sideband *sideband);

/* Records that the kernel had to drop, so far. */
uint64_t sideband_lost(const struct sideband *sideband);

/* Whether there is a CPU of which nothing is heard. */
bool sideband_deaf(const struct sideband *sideband);

/* Takes NULL. */
void sideband_close(struct sideband *sideband);

#endif
