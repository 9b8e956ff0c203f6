/* SPDX-License-Identifier: MIT */
/*
 * ringbuf: memory that BPF programs and user space share: BPF_MAP_TYPE_RINGBUF,
 * and arrays with BPF_F_MMAPABLE.
 *
 *	page 0            page 1            then, twice in a row
 *	┌──────────────┐  ┌──────────────┐  ┌─────────────────────┐
 *	│ consumer_pos │  │ producer_pos │  │ header, record, ... │
 *	│ ours         │  │ the kernel's │  └─────────────────────┘
 *	└──────────────┘  └──────────────┘
 *
 * Both positions only grow.  The data is mapped twice, so that no record is in
 * two pieces.  A record's header has its length and two bits: BUSY, as long as
 * the program writes it; DISCARD, when it does not want it after all.
 *
 * Source: Documentation/bpf/ringbuf.rst, kernel/bpf/ringbuf.c.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "sys/ringbuf.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int ringbuf_open(struct ringbuf *ring, int fd, size_t bytes)
{
	size_t page = page_size();

	*ring = (struct ringbuf){ .bytes = bytes };
	ring->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	if (ring->consumer == MAP_FAILED) {
		*ring = (struct ringbuf){ 0 };
		return -errno;
	}
	ring->producer = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED,
			      fd, (off_t)page);
	if (ring->producer == MAP_FAILED) {
		int error = -errno;

		munmap(ring->consumer, page);
		*ring = (struct ringbuf){ 0 };
		return error;
	}
	return 0;
}

void ringbuf_read(struct ringbuf *ring, ringbuf_fn *each, void *context)
{
	const char *data = (const char *)ring->producer + page_size();
	unsigned long position, end;

	if (!ring->consumer)
		return;
	position = __atomic_load_n((unsigned long *)ring->consumer,
				   __ATOMIC_ACQUIRE);
	end = __atomic_load_n((unsigned long *)ring->producer,
			      __ATOMIC_ACQUIRE);
	while (position < end) {
		const char *record = data + (position & (ring->bytes - 1));
		uint32_t header = __atomic_load_n((const uint32_t *)
						  (const void *)record,
						  __ATOMIC_ACQUIRE);
		uint32_t size = header & ~(BPF_RINGBUF_BUSY_BIT |
					   BPF_RINGBUF_DISCARD_BIT);

		/* Those behind it wait for it. */
		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			each(context, record + BPF_RINGBUF_HDR_SZ, size);
		position += (BPF_RINGBUF_HDR_SZ + size + 7) & ~7ul;
		__atomic_store_n((unsigned long *)ring->consumer, position,
				 __ATOMIC_RELEASE);
	}
}

void ringbuf_close(struct ringbuf *ring)
{
	if (ring->consumer) {
		munmap(ring->consumer, page_size());
		munmap(ring->producer, page_size() + 2 * ring->bytes);
	}
	*ring = (struct ringbuf){ 0 };
}

void *array_map(int fd, size_t offset, size_t bytes)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  (off_t)offset);

	return data == MAP_FAILED ? NULL : data;
}

void array_unmap(void *data, size_t bytes)
{
	if (data)
		munmap(data, bytes);
}
