/* SPDX-License-Identifier: MIT */
#ifndef SYS_RING_H
#define SYS_RING_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* The ring buffer of one perf event, as user space reads it. */
struct ring {
	void *base;		/* NULL: not mapped */
	size_t size;		/* of all that is mapped */
	uint64_t mask;		/* size of the data - 1 */
	char *record;		/* a record that wraps around is copied here */
};

/*
 * Maps `bytes` of data of event `fd`: a power of 2, and no less than a page.  0
 * or -errno.
 */
int ring_open(struct ring *ring, int fd, size_t bytes);

/*
 * Gives each record that has arrived to `each`, oldest first, and frees its
 * room.  What `each` gets is valid during the call only, and header->size is
 * the size of all of it.
 */
typedef void ring_fn(void *context, const struct perf_event_header *header);
void ring_read(struct ring *ring, ring_fn *each, void *context);
void ring_close(struct ring *ring);

#endif
