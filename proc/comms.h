/* SPDX-License-Identifier: MIT */
#ifndef PROC_COMMS_H
#define PROC_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/index.h"
#include "proc/space.h"

/* How threads are called now, each looked at once a round.  Starts zeroed. */
struct comms {
	struct comm {
		uint32_t tid;
		char comm[16];	/* as the sample has it */
		enum comm_now {
			COMM_SAME, COMM_OTHER,
			COMM_GONE,	/* there is no such thread any more */
		} now;
	} *comm;
	size_t count, capacity;
	struct index index;
};

/* A new round: forgets what was looked at. */
void comms_round(struct comms *comms);

/*
 * Whether what is known of the space is of the program that its thread `tid` was
 * in when it was called `name`.  `records`: each exec is known, only the sample's
 * time is not.
 */
bool comms_same_program(struct comms *comms, struct space *space, uint32_t tid,
			const char *name, bool records);
void comms_free(struct comms *comms);

#endif
