/* SPDX-License-Identifier: MIT */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "sys/cpus.h"
#include "sys/events.h"

/*
 * One event per CPU, each calling a BPF program now and then: a clock at every
 * tick, another event at every so many.
 */
struct sampler {
	struct sampler_event {
		uint32_t cpu;
		int fd;			/* -1 while the CPU is off line */
		uint64_t started;	/* system_now(), 0 while stopped */
		uint64_t enabled;	/* ns it ran since, at the last look */
		uint64_t on;		/* ns it ran before that */
		uint64_t ticks;		/* samples it should have given; not
					   known for a frequency of events */
	} *events;
	size_t count, capacity;
	struct event_kind kind;
	uint64_t period;		/* ns between two ticks of a clock */
	int prog_fd;			/* the caller's */
};

/* The kernel's shortest period is 10,000 ns. */
enum { SAMPLER_HZ_MOST = 100000 };

/*
 * Opens an event of this kind on each of `cpus` and attaches program `prog_fd`,
 * which has to outlive the sampler.  CPUs that went off line meanwhile are left
 * out with a note; where the processor has no such event, cpu-clock takes its
 * place, with a warning.  0 or -errno after a message, with nothing left open.
 */
int sampler_open(struct sampler *sampler, const struct cpus *cpus,
		 const struct event_kind *kind, int prog_fd);

/* Starts all; 0 or -errno after a message, with all stopped. */
int sampler_start(struct sampler *sampler);

/*
 * A look at each running clock, now and then: one whose CPU went off line is
 * closed, and opened anew when the CPU is back; a CPU of `cpus` that was not
 * there before gets a clock.
 */
void sampler_check(struct sampler *sampler, const struct cpus *cpus);

/* Stops all; events[].on and .ticks are complete then. */
void sampler_stop(struct sampler *sampler);
void sampler_close(struct sampler *sampler);

#endif
