/* SPDX-License-Identifier: MIT */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "sys/cpus.h"

/* One clock per CPU, each calling a BPF program at every tick. */
struct sampler {
	struct sampler_event {
		uint32_t cpu;
		int fd;
		uint64_t started;	/* system_now(), 0 before */
		uint64_t on;		/* ns it ran, after sampler_stop() */
	} *events;
	size_t count, capacity;
	uint64_t period;		/* ns between two ticks */
};

/* The kernel's shortest period is 10,000 ns. */
enum { SAMPLER_HZ_MOST = 100000 };

/*
 * Opens a clock of `hz` ticks a second on each of `cpus` and attaches program
 * `prog_fd`.  CPUs that went off line meanwhile are left out with a note.
 * 0 or -errno after a message, with nothing left open.
 */
int sampler_open(struct sampler *sampler, const struct cpus *cpus, uint64_t hz,
		 int prog_fd);

/* Starts all clocks; 0 or -errno after a message, with all stopped. */
int sampler_start(struct sampler *sampler);
void sampler_stop(struct sampler *sampler);

/* After sampler_stop(): how many ticks a clock should have given. */
uint64_t sampler_ticks(const struct sampler *sampler,
		       const struct sampler_event *event);

void sampler_close(struct sampler *sampler);

#endif
