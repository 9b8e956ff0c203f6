/* SPDX-License-Identifier: MIT */
#ifndef SYS_EXPLAIN_H
#define SYS_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

/*
 * --explain: the run told as it happens, on stderr.
 *
 * Calls are told by the functions that make them, from the very bytes that they
 * give to the kernel, so what is told cannot be anything but what was done.
 */
enum explain_level {
	EXPLAIN_NOTHING,
	EXPLAIN_CALLS,	/* -x: calls, and what happens between them */
	EXPLAIN_CODE,	/* -xx: also instructions and the verifier's log */
};

/* Sets the level for the rest of the run. */
void explain_open(enum explain_level level);
bool explain_calls(void);
bool explain_code(void);

/* A stage of the run begins.  These two do nothing if nothing is explained. */
void explain_stage(const char *name, const char *what);

/* A line on what happens between calls. */
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---------------- for the functions that make the calls: result, or -errno */

/* bpf(2).  `given` is the union before the call, `got` after it. */
void explain_bpf(int cmd, const union bpf_attr *given,
		 const union bpf_attr *got, long result);
void explain_perf_event_open(const struct perf_event_attr *attr, int pid,
			     int cpu, int group_fd, unsigned long flags,
			     long result);
void explain_ioctl(int fd, unsigned long request, long argument, long result);
void explain_mmap(size_t bytes, int fd, long result);

/* read(2) of an event: PERF_FORMAT_TOTAL_TIME_ENABLED gives two values. */
void explain_read(int fd, size_t bytes, const uint64_t values[2], long result);
void explain_membarrier(long result);

/* The text that a verifier wrote, which ends with its statistics. */
void explain_verifier(const char *log);

#endif
