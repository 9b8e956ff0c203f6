/* SPDX-License-Identifier: MIT */
#ifndef PROC_PROCESSES_H
#define PROC_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"
#include "proc/space.h"

/*
 * The spaces of all processes, by number.  A space keeps its position until it
 * is forgotten; those with tgid 0 are nobody's.  Starts zeroed.
 */
struct processes {
	struct space *space;
	size_t count, capacity;
	uint32_t *spare;	/* positions of nobody */
	size_t spare_count, spare_capacity;
	struct index index;
	size_t stale;		/* of its entries: for spaces that are gone */
};

/* The position of this process number, or INDEX_NONE. */
uint32_t processes_find(const struct processes *processes, uint32_t tgid);

/* A new one, which has no version yet. */
uint32_t processes_add(struct processes *processes, uint32_t tgid);

/* `ranges` is where the sets of the spaces are. */
void processes_forget(struct processes *processes, uint32_t position,
		      struct ranges *ranges);
void processes_clear(struct processes *processes, struct ranges *ranges);
void processes_free(struct processes *processes, struct ranges *ranges);

#endif
