/* SPDX-License-Identifier: MIT */
#ifndef SYS_EVENTS_H
#define SYS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What is counted, and at which counts a sample is taken. */
struct event_kind {
	const char *name;	/* as perf has it */
	uint32_t type;		/* PERF_TYPE_ */
	uint64_t config;	/* PERF_COUNT_ */
	bool clock;		/* it counts ns, of which a CPU has 10^9 a second */
	uint64_t period;	/* events a sample; 0: `hz` samples a second */
	uint64_t hz;
};

/*
 * "page-faults" or "cycles/1000000"; false if there is none such, or if a clock
 * is to tick more often than every 10,000 ns or less than once a second.
 */
bool event_find(const char *text, struct event_kind *kind);

/* All names, with a space between them, for messages. */
extern const char event_names[];

#endif
