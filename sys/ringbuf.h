/* SPDX-License-Identifier: MIT */
#ifndef SYS_RINGBUF_H
#define SYS_RINGBUF_H

#include <stddef.h>
#include <stdint.h>

/* A map of type BPF_MAP_TYPE_RINGBUF, shared with the kernel. */
struct ringbuf {
	size_t bytes;		/* of its data */
	void *consumer;		/* NULL: not mapped */
	void *producer;		/* and the data behind it, twice */
};

/* Maps ring `fd` of `bytes`.  0 or -errno. */
int ringbuf_open(struct ringbuf *ring, int fd, size_t bytes);

/*
 * Gives each record that has arrived to `each`, oldest first, and frees its
 * room.  The data is valid during the call only.
 */
typedef void ringbuf_fn(void *context, const void *data, size_t size);
void ringbuf_read(struct ringbuf *ring, ringbuf_fn *each, void *context);
void ringbuf_close(struct ringbuf *ring);

/*
 * Pages of a map of type ARRAY that was made with BPF_F_MMAPABLE, from byte
 * `offset` (a multiple of the page size) on; NULL if that is refused.
 */
void *array_map(int fd, size_t offset, size_t bytes);
void array_unmap(void *data, size_t bytes);

#endif
