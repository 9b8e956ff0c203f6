/* SPDX-License-Identifier: MIT */
#ifndef PROC_TARGETS_H
#define PROC_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/sideband.h"

/*
 * Which samples are of the tasks that the user asked for: processes with what
 * they start, and single threads.
 */
struct targets;

struct targets *targets_new(void);

/*
 * Asks for process `pid` and all that it starts from now on, or for thread
 * `tid` alone.  0, or -errno after a message if there is none such.
 */
int targets_add_process(struct targets *targets, uint32_t pid);
int targets_add_thread(struct targets *targets, uint32_t tid);

/* The same for a child of ours, which is known to be there. */
void targets_add_child(struct targets *targets, uint32_t pid);

/* What happened, in the order of time (a side_fn). */
void targets_event(void *targets, const struct side_event *event);

/* Whether the thread was one of them at `time`; counts it if so. */
bool targets_take(struct targets *targets, uint32_t tgid, uint32_t tid,
		  uint64_t time, uint64_t samples);

/* The same, without counting. */
bool targets_has(const struct targets *targets, uint32_t tgid, uint32_t tid,
		 uint64_t time);

/* Whether any of those that were asked for is still there. */
bool targets_live(const struct targets *targets);

/* Says which of those that were asked for have ended or had no sample. */
void targets_report(const struct targets *targets);

/* Takes NULL. */
void targets_free(struct targets *targets);

#endif
