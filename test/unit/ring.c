/* SPDX-License-Identifier: MIT */
/* The ring of records, in a file that stands for the kernel's pages. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/ring.h"
#include "test/unit/unit.h"

enum { BYTES = 4096 };

static struct perf_event_mmap_page *page;
static char *data;
static size_t seen_count;
static uint64_t seen_sum;

static void see(void *context, const struct perf_event_header *header)
{
	const unsigned char *byte = (const void *)header;

	CHECK(context == &seen_count);
	for (size_t i = sizeof(*header); i < header->size; i++)
		seen_sum += byte[i];
	seen_count++;
}

static void make_ring(struct ring *ring)
{
	size_t first = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("ring", O_RDWR | O_CREAT, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)(first + BYTES)));
	CHECK(!ring_open(ring, fd, BYTES));
	page = mmap(NULL, first + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	CHECK(page != MAP_FAILED);
	data = (char *)page + first;
	close(fd);
}

/* A record of `size` bytes, each of which is 1 behind the header. */
static void put(uint16_t size, uint16_t said)
{
	struct perf_event_header header = { .type = 7, .size = said };
	char record[BYTES];

	memset(record, 1, sizeof(record));
	memcpy(record, &header, sizeof(header));
	for (uint16_t i = 0; i < size; i++)
		data[(page->data_head + i) % BYTES] = record[i];
	page->data_head += size;
}

static void read_all(struct ring *ring, size_t count, uint64_t sum)
{
	seen_count = 0;
	seen_sum = 0;
	ring_read(ring, see, &seen_count);
	CHECK_U64(seen_count, count);
	CHECK_U64(seen_sum, sum);
	CHECK_U64(page->data_tail, page->data_head);
}

/* Round and round: records that wrap come in one piece. */
TEST(ring_wraps)
{
	struct ring ring;

	make_ring(&ring);
	read_all(&ring, 0, 0);
	for (int i = 0; i < 100; i++) {
		put(24, 24);
		put(1000, 1000);
		put(8, 8);
		read_all(&ring, 3, 16 + 992);
	}
	ring_close(&ring);
	ring_close(&ring);
}

/* Sizes that cannot be end the reading, not the program. */
TEST(ring_broken_records)
{
	struct ring ring;

	make_ring(&ring);
	put(24, 24);
	put(16, 0);
	put(24, 24);
	read_all(&ring, 1, 16);
	put(16, 7);
	read_all(&ring, 0, 0);
	/* Longer than what was written. */
	put(16, 24);
	read_all(&ring, 0, 0);
	put(16, 65535);
	read_all(&ring, 0, 0);
	put(24, 24);
	read_all(&ring, 1, 16);
	ring_close(&ring);
}

TEST(ring_not_opened)
{
	struct ring ring;

	CHECK(ring_open(&ring, -1, BYTES) == -EBADF);
	ring_read(&ring, see, NULL);
	ring_close(&ring);
}
