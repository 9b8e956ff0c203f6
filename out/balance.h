/* SPDX-License-Identifier: MIT */
#ifndef OUT_BALANCE_H
#define OUT_BALANCE_H

#include "meta.h"
#include "profile.h"
#include "samples.h"
#include "sys/events.h"

/* What the run was asked for, and what was counted beside the profile. */
struct balance {
	uint64_t hz;
	struct event_kind kind;
	size_t cpus;
	uint64_t wall;		/* ns from start to stop */
	uint64_t cpu_time;	/* ns that clocks ran, over all CPUs */
	uint64_t expected;	/* ticks in that time */
	uint64_t steal;		/* ns of it that the hypervisor took */
	uint64_t asleep;	/* ticks missing on CPUs that idled so long */
	bool blind;		/* /proc/stat does not tell those two */
	uint64_t max_rate;	/* perf_event_max_sample_rate; 0: not known */
	struct tally tally;
	uint64_t drained;	/* samples that came out of the maps */
	uint64_t dangling;
	bool fixed;		/* the maps' size does not follow --memory */
	uint64_t late;		/* ns between two drains, if too long */
};

/* Samples that are in no line of any output, for causes that are counted. */
uint64_t balance_lost(const struct balance *balance);

/* Says in meta's numbers and lines where each tick went; it adds up. */
void balance_describe(const struct balance *balance,
		      const struct profile *profile, struct meta *meta);

#endif
