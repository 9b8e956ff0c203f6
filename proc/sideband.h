/* SPDX-License-Identifier: MIT */
#ifndef PROC_SIDEBAND_H
#define PROC_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "sys/cpus.h"

/* What happened to a task.  Numbers are those of our PID namespace. */
struct side_event {
	uint64_t time;		/* ns, CLOCK_MONOTONIC, as samples have it */
	enum side_kind {
		SIDE_FORK,	/* pid, tid are new, made by process ppid */
	} kind;
	uint32_t pid, tid, ppid;
};

typedef void side_fn(void *context, const struct side_event *event);

struct sideband;

/*
 * Opens a ring on each of `cpus` and starts listening.  NULL after a message.
 */
struct sideband *sideband_open(const struct cpus *cpus);

/* Rings for CPUs that are new; for the drain after a look at the CPUs. */
void sideband_check(struct sideband *sideband, const struct cpus *cpus);

/* Takes what has arrived out of the rings, to make room there. */
void sideband_collect(struct sideband *sideband);

/*
 * Collects, and gives all events up to `until` (ns, CLOCK_MONOTONIC) to `each`
 * in the order of their times.  Later ones wait: an earlier one may still be
 * on its way on another CPU.
 */
void sideband_replay(struct sideband *sideband, uint64_t until, side_fn *each,
		     void *context);

/* Descriptors that become readable when a ring is half full. */
const int *sideband_fds(const struct sideband *sideband, size_t *count);

/* Records that the kernel had to drop, so far. */
uint64_t sideband_lost(const struct sideband *sideband);

/* Takes NULL. */
void sideband_close(struct sideband *sideband);

#endif
