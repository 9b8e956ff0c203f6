/* SPDX-License-Identifier: MIT */
#ifndef SYS_PERF_H
#define SYS_PERF_H

#include <stdint.h>

#include <linux/perf_event.h>

/* All return -errno on failure.  Source: man 2 perf_event_open. */

/* A new descriptor, close-on-exec, owned by the caller. */
int perf_event_open(struct perf_event_attr *attr, int pid, int cpu,
		    int group_fd, unsigned long flags);

/* Runs BPF program `prog_fd` at each overflow (PERF_EVENT_IOC_SET_BPF). */
int perf_event_set_bpf(int fd, int prog_fd);
int perf_event_enable(int fd);
int perf_event_disable(int fd);

/*
 * How long the event was enabled on a CPU that was on line, in ns.  Wants
 * PERF_FORMAT_TOTAL_TIME_ENABLED.
 */
int perf_event_time_enabled(int fd, uint64_t *ns);

/* How often the event happened meanwhile. */
int perf_event_count(int fd, uint64_t *count);

#endif
