/* SPDX-License-Identifier: MIT */
/*
 * ring: what the kernel writes about an event, shared by mmap(2).
 *
 *	page 0                        pages 1 .. 2^n
 *	┌───────────────────────┐     ┌──────────────────────────────────┐
 *	│ perf_event_mmap_page  │     │ ... record │ record │ rec... free │
 *	│ data_head: written to │     └──────────────────────────────────┘
 *	│ data_tail: read to    │          ^ tail                 ^ head
 *	└───────────────────────┘
 *
 * head and tail only grow; their place in the data is the remainder.  The
 * kernel writes head after the data (release), so it is read before the data
 * (acquire), and tail is written after the data was used (release).
 *
 * Source: man 2 perf_event_open, section MMAP layout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/memory.h"
#include "sys/explain.h"
#include "sys/ring.h"

/* header.size has 16 bits. */
enum { RECORD_MOST = 65536 };

int ring_open(struct ring *ring, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	int error = base == MAP_FAILED ? -errno : 0;

	*ring = (struct ring){ 0 };
	if (explain_calls())
		explain_mmap(bytes + page, fd, error ? error : (long)base);
	if (error)
		return error;
	ring->base = base;
	ring->size = bytes + page;
	ring->mask = bytes - 1;
	return 0;
}

/* The record at `tail`, in one piece. */
static const struct perf_event_header *
record_at(struct ring *ring, uint64_t tail, uint64_t head)
{
	char *data = (char *)ring->base + (ring->size - ring->mask - 1);
	uint64_t at = tail & ring->mask, room = ring->mask + 1 - at;
	struct perf_event_header *header = (void *)(data + at);

	/* Records are multiples of 8 bytes, so a header never wraps. */
	if (header->size < sizeof(*header) || header->size > head - tail)
		return NULL;
	if (header->size <= room)
		return header;
	if (!ring->record)
		ring->record = memory_new(RECORD_MOST, 1);
	memcpy(ring->record, header, room);
	memcpy(ring->record + room, data, header->size - room);
	return (const void *)ring->record;
}

void ring_read(struct ring *ring, ring_fn *each, void *context)
{
	struct perf_event_mmap_page *page = ring->base;
	uint64_t head, tail;

	if (!page)
		return;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	tail = page->data_tail;
	while (tail < head) {
		const struct perf_event_header *header =
			record_at(ring, tail, head);

		/* Cannot be; but then nothing behind it can be found. */
		if (!header) {
			tail = head;
			break;
		}
		each(context, header);
		tail += header->size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->size);
	free(ring->record);
	*ring = (struct ring){ 0 };
}
