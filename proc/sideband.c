/* SPDX-License-Identifier: MIT */
/*
 * sideband: what the kernel tells about processes while samples are taken.
 *
 * A perf event can count nothing (PERF_COUNT_SW_DUMMY) and still tell of every
 * fork, exec, mapping of code and exit on its CPU, in a ring.  All records carry
 * the time of the clock that samples have, so the rings of all CPUs can be
 * merged into one story, and a sample can be judged by how things stood in its
 * moment.
 *
 *	FORK, EXIT	header pid ppid tid ptid time    sample_id
 *	COMM		header pid tid comm              sample_id
 *	MMAP2		header pid tid addr len pgoff maj min ino ino_generation
 *			prot flags filename              sample_id
 *	LOST		header id lost                   sample_id
 *	sample_id	pid tid time cpu reserved: the last 24 bytes
 *
 * A COMM that comes of an exec has a flag; the others are of threads that call
 * themselves otherwise.  Only code is told of, not data, and no munmap; a forked
 * child is not told its parent's mappings again.
 *
 * The kernel writes a record before the task goes on, so whatever has a time
 * before that of a drain is in the rings when the drain reads them.
 *
 * Source: man 2 perf_event_open; kernel/events/core.c, perf_event_task(),
 * perf_event_comm(), perf_event_mmap().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "proc/sideband.h"
#include "sys/advice.h"
#include "sys/perf.h"
#include "sys/ring.h"
#include "sys/system.h"

/*
 * 256 KB for each CPU: a shell that starts programs as fast as it can fills
 * half a megabyte a second, and is woken for when half is full.  Where the
 * kernel grants less locked memory (perf_event_mmap_kb), less has to do.
 */
enum {
	RING_BYTES = 256 * 1024,
	RING_LEAST = 16 * 1024,
	SAMPLE_ID = 24,
	HEADER = sizeof(struct perf_event_header),
};

/* An event that waits, with its place in its ring, and its path. */
struct waiting {
	struct side_event event;
	uint64_t order;
	size_t path;		/* in sideband->paths */
};

struct sideband {
	struct listener {
		uint32_t cpu;
		uint64_t time;	/* of the event, at the last check */
		struct ring ring;
	} *listeners;
	int *fds;		/* of listeners[], for poll(2) */
	size_t count, listener_capacity, fd_capacity;
	struct waiting *events;	/* not yet replayed */
	size_t event_count, event_capacity;
	struct text paths;	/* of the events, each with a zero byte */
	uint64_t order;
	uint64_t *heard;	/* the last time of each ring */
	size_t heard_capacity;
	size_t ring;		/* that is being read */
	size_t bytes;		/* of a ring */
	uint64_t checks[2];	/* when the last two began, the older one last */
	uint64_t gap_since;	/* what a ring that is gone had missed; 0: none */
	uint64_t gaps;
	uint64_t lost;
	bool deaf;
};

/* The path is kept beside, as the record is gone after this. */
static void add_event(struct sideband *sideband,
		      const struct side_event *event, const char *path)
{
	struct waiting waiting = {
		.event = *event, .order = sideband->order++,
		.path = sideband->paths.length,
	};

	if (path)
		text_add(&sideband->paths, path, strlen(path) + 1);
	sideband->events = memory_grow(sideband->events,
				       &sideband->event_capacity,
				       sideband->event_count + 1,
				       sizeof(waiting));
	sideband->events[sideband->event_count++] = waiting;
}

/* The last time of this ring. */
static uint64_t *heard_of(struct sideband *sideband, size_t ring)
{
	size_t before = sideband->heard_capacity;

	sideband->heard = memory_grow(sideband->heard,
				      &sideband->heard_capacity, ring + 1,
				      sizeof(*sideband->heard));
	if (sideband->heard_capacity > before)
		memset(sideband->heard + before, 0,
		       (sideband->heard_capacity - before) *
		       sizeof(*sideband->heard));
	return &sideband->heard[ring];
}

/* ------------------------------------------------------------- listening */

static int open_event(uint32_t cpu, size_t bytes)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.task = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)bytes / 2;
	return perf_event_open(&attr, -1, (int)cpu, -1, 0);
}

/* A ring of `bytes`; the descriptor, or -errno, and *what failed. */
static int open_ring(struct ring *ring, uint32_t cpu, size_t bytes,
		     const char **what)
{
	int fd = open_event(cpu, bytes), error;

	*what = "perf_event_open for forks";
	if (fd < 0)
		return fd;
	*what = "mmap of a ring";
	error = ring_open(ring, fd, bytes);
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* 0 or -errno; *what says which step failed. */
static int listen_on(struct sideband *sideband, uint32_t cpu,
		     const char **what)
{
	struct listener listener = { .cpu = cpu };
	int fd = open_ring(&listener.ring, cpu, sideband->bytes, what);

	if (fd < 0)
		return fd;
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

struct sideband *sideband_new(void)
{
	return memory_new(1, sizeof(struct sideband));
}

static void close_rings(struct sideband *sideband)
{
	for (size_t i = 0; i < sideband->count; i++) {
		ring_close(&sideband->listeners[i].ring);
		close(sideband->fds[i]);
	}
	sideband->count = 0;
}

static bool is_heard(const struct sideband *sideband, uint32_t cpu)
{
	for (size_t i = 0; i < sideband->count; i++)
		if (sideband->listeners[i].cpu == cpu)
			return true;
	return false;
}

/* Rings of the largest size that all CPUs can have. */
static void choose_size(struct sideband *sideband, const struct cpus *cpus)
{
	for (sideband->bytes = RING_BYTES; sideband->bytes > RING_LEAST;
	     sideband->bytes /= 2) {
		const char *what;
		int error = 0;

		for (size_t i = 0; i < cpus->count && error != -EPERM; i++)
			error = listen_on(sideband, cpus->cpu[i], &what);
		if (error != -EPERM)
			return;
		close_rings(sideband);
	}
}

struct sideband *sideband_open(const struct cpus *cpus, bool must)
{
	struct sideband *sideband = sideband_new();

	sideband->checks[0] = sideband->checks[1] = system_now();
	choose_size(sideband, cpus);
	for (size_t i = 0; i < cpus->count; i++) {
		const char *what;
		int error = is_heard(sideband, cpus->cpu[i]) ? 0 :
			    listen_on(sideband, cpus->cpu[i], &what);

		if (!error || error == -ENODEV)
			continue;
		if (must) {
			log_error("CPU %u: %s: %s", cpus->cpu[i], what,
				  system_strerror(error));
			advice_tell(ADVICE_EVENT, error);
			sideband_close(sideband);
			return NULL;
		}
		if (!sideband->deaf)
			log_warning("CPU %u: %s: %s: short-lived processes "
				    "stay without names", cpus->cpu[i], what,
				    system_strerror(error));
		sideband->deaf = true;
	}
	return sideband;
}

/* Its records have been collected.  The last ring takes its place. */
static void stop_listening(struct sideband *sideband, size_t i)
{
	size_t last = --sideband->count;
	uint64_t heard = *heard_of(sideband, last);

	ring_close(&sideband->listeners[i].ring);
	close(sideband->fds[i]);
	sideband->listeners[i] = sideband->listeners[last];
	sideband->fds[i] = sideband->fds[last];
	*heard_of(sideband, i) = heard;
	*heard_of(sideband, last) = 0;
}

/*
 * The event of a CPU that went off line is dead when it is back, as a clock is
 * (sampler.c), and its time stands still.  It may have died at any time since the
 * check before the last, the last that saw time go by.
 */
static void stop_dead(struct sideband *sideband)
{
	sideband_collect(sideband);
	for (size_t i = sideband->count; i-- > 0;) {
		struct listener *listener = &sideband->listeners[i];
		uint64_t time;

		if (perf_event_time_enabled(sideband->fds[i], &time))
			continue;
		if (time != listener->time) {
			listener->time = time;
			continue;
		}
		stop_listening(sideband, i);
		if (!sideband->gap_since)
			sideband->gap_since = sideband->checks[1];
	}
}

void sideband_check(struct sideband *sideband, const struct cpus *cpus)
{
	uint64_t begin = system_now();
	bool gap = false;

	stop_dead(sideband);
	for (size_t i = 0; i < cpus->count; i++) {
		const char *what;
		int error;

		if (is_heard(sideband, cpus->cpu[i]))
			continue;
		error = listen_on(sideband, cpus->cpu[i], &what);
		gap |= !error;
		if (!error || error == -ENODEV || sideband->deaf)
			continue;
		log_warning("CPU %u: %s: %s: forks there are not seen",
			    cpus->cpu[i], what, system_strerror(error));
		sideband->deaf = true;
	}
	if (gap) {
		add_event(sideband, &(struct side_event){
				  .kind = SIDE_LOST, .time = system_now(),
				  .lost_since = sideband->gap_since ?
						sideband->gap_since :
						sideband->checks[1],
			  }, NULL);
		sideband->gap_since = 0;
		sideband->gaps++;
	}
	sideband->checks[1] = sideband->checks[0];
	sideband->checks[0] = begin;
}

/* ------------------------------------------------------------- the records */

/* pid ppid tid ptid */
static bool parse_task(struct bytes record, struct side_event *event)
{
	uint32_t numbers[4];

	if (!bytes_copy(record, HEADER, numbers, sizeof(numbers)))
		return false;
	event->pid = numbers[0];
	event->ppid = numbers[1];
	event->tid = numbers[2];
	return true;
}

static bool parse_comm(struct bytes record, struct side_event *event)
{
	uint32_t numbers[2];
	struct bytes body;
	const char *comm;

	/* The name is padded to 8 bytes and ends before the sample_id. */
	if (!bytes_part(record, 0, record.size - SAMPLE_ID, &body) ||
	    !bytes_copy(body, HEADER, numbers, sizeof(numbers)))
		return false;
	comm = bytes_text(body, HEADER + sizeof(numbers));
	event->pid = numbers[0];
	event->tid = numbers[1];
	if (comm)
		memcpy(event->comm, comm,
		       strnlen(comm, sizeof(event->comm) - 1));
	return true;
}

/* *path is the one in the record. */
static bool parse_map(struct bytes record, struct side_event *event,
		      const char **path)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, size, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
	} fixed;
	struct bytes body;

	_Static_assert(sizeof(fixed) == 64, "PERF_RECORD_MMAP2");
	/* The path ends before the sample_id. */
	if (!bytes_part(record, 0, record.size - SAMPLE_ID, &body) ||
	    !bytes_copy(body, HEADER, &fixed, sizeof(fixed)))
		return false;
	*path = bytes_text(body, HEADER + sizeof(fixed));
	if (!*path || !fixed.size || fixed.start + fixed.size < fixed.start)
		return false;
	event->pid = fixed.pid;
	event->tid = fixed.tid;
	event->map = (struct side_map){
		.start = fixed.start, .size = fixed.size,
		.offset = fixed.offset, .inode = fixed.inode,
		.generation = fixed.generation,
		.major = fixed.major, .minor = fixed.minor,
	};
	return true;
}

void sideband_add(struct sideband *sideband, size_t ring, struct bytes record)
{
	struct perf_event_header header;
	struct side_event event = { 0 };
	uint64_t lost, *heard = heard_of(sideband, ring);
	const char *path = NULL;
	bool good = false;

	if (!bytes_copy(record, 0, &header, sizeof(header)) ||
	    record.size < sizeof(header) + SAMPLE_ID ||
	    !bytes_copy(record, record.size - 16, &event.time,
			sizeof(event.time)))
		return;
	switch (header.type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		event.kind = header.type == PERF_RECORD_FORK ? SIDE_FORK :
			     SIDE_EXIT;
		good = parse_task(record, &event);
		break;
	case PERF_RECORD_COMM:
		event.kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ?
			     SIDE_EXEC : SIDE_COMM;
		good = parse_comm(record, &event);
		break;
	case PERF_RECORD_MMAP2:
		event.kind = SIDE_MAP;
		good = parse_map(record, &event, &path);
		break;
	case PERF_RECORD_LOST:
		/* header id lost */
		event.kind = SIDE_LOST;
		event.lost_since = *heard;
		good = bytes_copy(record, sizeof(header) + 8, &lost, 8);
		sideband->lost += good ? lost : 0;
		break;
	default:
		break;
	}
	*heard = event.time;
	if (good)
		add_event(sideband, &event, path);
}

static void each_record(void *context, const struct perf_event_header *header)
{
	struct sideband *sideband = context;

	sideband_add(sideband, sideband->ring,
		     (struct bytes){ (const uint8_t *)header, header->size });
}

void sideband_collect(struct sideband *sideband)
{
	for (size_t i = 0; i < sideband->count; i++) {
		sideband->ring = i;
		ring_read(&sideband->listeners[i].ring, each_record, sideband);
	}
}

/* By time; what is of the same, as it came: the order of a ring is right. */
static int cmp_waiting(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->event.time != y->event.time)
		return x->event.time < y->event.time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Events that stay take their paths along. */
static void keep_rest(struct sideband *sideband, size_t done)
{
	size_t left = sideband->event_count - done;
	struct text paths = { 0 };

	memmove(sideband->events, sideband->events + done,
		left * sizeof(*sideband->events));
	sideband->event_count = left;
	if (!left) {
		sideband->paths.length = 0;
		return;
	}
	for (size_t i = 0; i < left; i++) {
		struct waiting *waiting = &sideband->events[i];
		const char *path = sideband->paths.data + waiting->path;

		waiting->path = paths.length;
		if (waiting->event.kind == SIDE_MAP)
			text_add(&paths, path, strlen(path) + 1);
	}
	text_free(&sideband->paths);
	sideband->paths = paths;
}

void sideband_replay(struct sideband *sideband, uint64_t until, side_fn *each,
		     void *context)
{
	size_t done = 0;

	sideband_collect(sideband);
	if (!sideband->event_count)
		return;
	qsort(sideband->events, sideband->event_count,
	      sizeof(*sideband->events), cmp_waiting);
	while (done < sideband->event_count &&
	       sideband->events[done].event.time <= until) {
		struct waiting *waiting = &sideband->events[done++];

		if (waiting->event.kind == SIDE_MAP)
			waiting->event.map.path = sideband->paths.data +
						  waiting->path;
		each(context, &waiting->event);
	}
	if (done)
		keep_rest(sideband, done);
}

const int *sideband_fds(const struct sideband *sideband, size_t *count)
{
	*count = sideband->count;
	return sideband->fds;
}

uint64_t sideband_gaps(const struct sideband *sideband)
{
	return sideband->gaps;
}

uint64_t sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}

bool sideband_deaf(const struct sideband *sideband)
{
	return sideband->deaf;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	close_rings(sideband);
	free(sideband->listeners);
	free(sideband->fds);
	free(sideband->events);
	free(sideband->heard);
	text_free(&sideband->paths);
	free(sideband);
}
