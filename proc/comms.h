/* SPDX-License-Identifier: MIT */
#ifndef PROC_COMMS_H
#define PROC_COMMS_H

#include <stdint.h>

#include "lib/index.h"

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
 * Whether the thread is called now as it was in the sample.  If it is gone, at
 * least nothing newer can be mistaken for older.
 */
enum comm_now comms_now(struct comms *comms, uint32_t tgid, uint32_t tid,
			const char *comm);
void comms_free(struct comms *comms);

#endif
