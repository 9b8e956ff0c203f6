/* SPDX-License-Identifier: MIT */
/*
 * sideband: what the kernel tells about processes while samples are taken.
 *
 * A perf event can count nothing (PERF_COUNT_SW_DUMMY) and still tell of every
 * fork (and exec, mapping, exit) on its CPU, in a ring.  All records carry the time of the
 * clock that samples have, so the rings of all CPUs can be merged into one
 * story, and a sample can be judged by how things stood in its moment.
 *
 *	FORK, EXIT	header pid ppid tid ptid time    sample_id
 *	LOST		header id lost                   sample_id
 *	sample_id	pid tid time cpu reserved: the last 24 bytes
 *
 * Nobody needs the exits yet, as a number is free only when it is given anew;
 * mappings and copied stacks can travel in the same rings.
 *
 * The kernel writes a record before the task goes on, so whatever has a time
 * before that of a drain is in the rings when the drain reads them.
 *
 * Source: man 2 perf_event_open; kernel/events/core.c, perf_event_task().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/bytes.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/sideband.h"
#include "sys/advice.h"
#include "sys/perf.h"
#include "sys/ring.h"
#include "sys/system.h"

/*
 * 256 KB for each CPU: a shell that starts programs as fast as it can fills
 * half a megabyte a second, and is woken for when half is full.
 */
enum { RING_BYTES = 256 * 1024 };

struct sideband {
	struct listener {
		uint32_t cpu;
		struct ring ring;
	} *listeners;
	int *fds;		/* of listeners[], for poll(2) */
	size_t count, listener_capacity, fd_capacity;
	struct side_event *events;	/* not yet replayed */
	size_t event_count, event_capacity;
	uint64_t lost;
};

/* ------------------------------------------------------------- listening */

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.task = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1;
	attr.wakeup_watermark = RING_BYTES / 2;
	return perf_event_open(&attr, -1, (int)cpu, -1, 0);
}

/* 0 or -errno; *what says which step failed. */
static int listen_on(struct sideband *sideband, uint32_t cpu,
		     const char **what)
{
	struct listener listener = { .cpu = cpu };
	int fd = open_event(cpu), error;

	*what = "perf_event_open for forks";
	if (fd < 0)
		return fd;
	*what = "mmap of a ring of 256 KB";
	error = ring_open(&listener.ring, fd, RING_BYTES);
	if (error) {
		close(fd);
		return error;
	}
	sideband->listeners = memory_grow(sideband->listeners,
					  &sideband->listener_capacity,
					  sideband->count + 1,
					  sizeof(listener));
	sideband->fds = memory_grow(sideband->fds, &sideband->fd_capacity,
				    sideband->count + 1, sizeof(fd));
	sideband->listeners[sideband->count] = listener;
	sideband->fds[sideband->count++] = fd;
	return 0;
}

struct sideband *sideband_open(const struct cpus *cpus)
{
	struct sideband *sideband = memory_new(1, sizeof(*sideband));

	for (size_t i = 0; i < cpus->count; i++) {
		const char *what;
		int error = listen_on(sideband, cpus->cpu[i], &what);

		if (!error || error == -ENODEV)
			continue;
		log_error("CPU %u: %s: %s", cpus->cpu[i], what,
			  system_strerror(error));
		advice_tell(ADVICE_EVENT, error);
		sideband_close(sideband);
		return NULL;
	}
	return sideband;
}

void sideband_check(struct sideband *sideband, const struct cpus *cpus)
{
	for (size_t i = 0; i < cpus->count; i++) {
		const char *what;
		bool known = false;
		int error;

		for (size_t j = 0; j < sideband->count; j++)
			known |= sideband->listeners[j].cpu == cpus->cpu[i];
		/* A task event lives on when its CPU comes back. */
		if (known)
			continue;
		error = listen_on(sideband, cpus->cpu[i], &what);
		if (error && error != -ENODEV)
			log_warning("CPU %u: %s: %s: forks there are not seen",
				    cpus->cpu[i], what,
				    system_strerror(error));
	}
}

/* ------------------------------------------------------------- the records */

static void add_fork(struct sideband *sideband, struct bytes record)
{
	struct side_event event = { .kind = SIDE_FORK };
	uint32_t numbers[4];	/* pid ppid tid ptid */

	/* sample_id: pid tid time cpu reserved */
	if (record.size < 24 ||
	    !bytes_copy(record, record.size - 16, &event.time,
			sizeof(event.time)) ||
	    !bytes_copy(record, sizeof(struct perf_event_header), numbers,
			sizeof(numbers)))
		return;
	event.pid = numbers[0];
	event.ppid = numbers[1];
	event.tid = numbers[2];
	sideband->events = memory_grow(sideband->events,
				       &sideband->event_capacity,
				       sideband->event_count + 1,
				       sizeof(event));
	sideband->events[sideband->event_count++] = event;
}

static void each_record(void *context, const struct perf_event_header *header)
{
	struct sideband *sideband = context;
	struct bytes record = { (const uint8_t *)header, header->size };
	uint64_t lost;

	switch (header->type) {
	case PERF_RECORD_FORK:
		add_fork(sideband, record);
		break;
	case PERF_RECORD_LOST:
		/* header id lost */
		if (bytes_copy(record, sizeof(*header) + 8, &lost, 8))
			sideband->lost += lost;
		break;
	default:
		break;
	}
}

void sideband_collect(struct sideband *sideband)
{
	for (size_t i = 0; i < sideband->count; i++)
		ring_read(&sideband->listeners[i].ring, each_record, sideband);
}

/* By time, then by kind, so that the order is always the same. */
static int cmp_event(const void *a, const void *b)
{
	const struct side_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

void sideband_replay(struct sideband *sideband, uint64_t until, side_fn *each,
		     void *context)
{
	size_t done = 0, left;

	sideband_collect(sideband);
	if (!sideband->event_count)
		return;
	qsort(sideband->events, sideband->event_count,
	      sizeof(*sideband->events), cmp_event);
	while (done < sideband->event_count &&
	       sideband->events[done].time <= until)
		each(context, &sideband->events[done++]);
	left = sideband->event_count - done;
	memmove(sideband->events, sideband->events + done,
		left * sizeof(*sideband->events));
	sideband->event_count = left;
}

const int *sideband_fds(const struct sideband *sideband, size_t *count)
{
	*count = sideband->count;
	return sideband->fds;
}

uint64_t sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	for (size_t i = 0; i < sideband->count; i++) {
		ring_close(&sideband->listeners[i].ring);
		close(sideband->fds[i]);
	}
	free(sideband->listeners);
	free(sideband->fds);
	free(sideband->events);
	free(sideband);
}
