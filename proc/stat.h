/* SPDX-License-Identifier: MIT */
#ifndef PROC_STAT_H
#define PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/cpus.h"

/* What the kernel's own accounting says of one CPU, in ns since boot. */
struct stat_times {
	uint64_t idle;		/* also while it waited for a disk */
	uint64_t steal;		/* the hypervisor ran others */
};

/* One line of /proc/stat; false for a line that is of no single CPU. */
bool stat_parse(const char *line, uint32_t *cpu, struct stat_times *times);

/*
 * Reads the times of cpus->cpu[i] to times[i].  False, and zeroes, where
 * /proc/stat is not there.
 */
bool stat_read(const struct cpus *cpus, struct stat_times *times);

#endif
