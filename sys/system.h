/* SPDX-License-Identifier: MIT */
#ifndef SYS_SYSTEM_H
#define SYS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in ns: the clock of bpf_ktime_get_ns(). */
uint64_t system_now(void);

/* A moment as time(2) has it: of system_now(), or in ns after the boot. */
int64_t system_time_of(uint64_t now);
int64_t system_time_of_boot(uint64_t ns);

/* Who we are, for files: geteuid(2). */
uint32_t system_user(void);

/* The wall clock: ns since 1970. */
uint64_t system_wall_clock(void);

/* The name of this machine; "" if it has none. */
void system_host(char *name, size_t size);

/* "Linux 6.18.5 x86_64". */
void system_kernel(char *name, size_t size);

/* CPU time that this process has used, in ns. */
uint64_t system_cpu_time(void);

/* Most memory that this process ever had resident, in KB. */
uint64_t system_peak_rss(void);

/* A number from /proc/sys/NAME ("kernel/perf_event_max_stack"), or `other`. */
uint64_t system_sysctl(const char *name, uint64_t other);

/* Whether a process or thread of this number is there, also a zombie. */
bool system_task_exists(uint32_t tid);

/*
 * The nice value of this process.  A profiler that gets no CPU on a busy
 * machine cannot empty its maps in time, and it takes little: -20, if it may.
 */
int system_priority(void);
void system_set_priority(int nice);

/* Lifts RLIMIT_MEMLOCK, which kernels before 5.11 count maps against. */
int system_lift_memlock(void);

/*
 * Waits until all programs that run now in the kernel, on any CPU, with
 * interrupts or preemption off, have ended: membarrier(MEMBARRIER_CMD_GLOBAL).
 */
int system_membarrier(void);

/*
 * Descriptors 0, 1 and 2 that are closed are filled with ones that can be
 * neither read nor written: else the next map or file would become stdout.
 */
void system_guard_descriptors(void);

/* A descriptor of a directory, close-on-exec, or -errno. */
int system_open_directory(const char *path);

bool system_is_terminal(int fd);

/* What an errno means; also those that only bpf(2) gives. */
const char *system_strerror(int error);

#endif
