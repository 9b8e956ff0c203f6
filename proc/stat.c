/* SPDX-License-Identifier: MIT */
/*
 * stat: what the kernel's own accounting says.
 *
 *	cpu0 user nice system idle iowait irq softirq steal guest guest_nice
 *
 * in units of 1/100 s (USER_HZ).  Source: man 5 proc_stat.
 */
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "proc/stat.h"

enum { TICK_NS = 10000000 };

bool stat_parse(const char *line, uint32_t *cpu, struct stat_times *times)
{
	unsigned long long idle, iowait, steal;

	if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu %*u %*u %llu", cpu,
		   &idle, &iowait, &steal) != 4)
		return false;
	times->idle = (uint64_t)(idle + iowait) * TICK_NS;
	times->steal = (uint64_t)steal * TICK_NS;
	return true;
}

void stat_read(const struct cpus *cpus, struct stat_times *times)
{
	struct stat_times one;
	struct lines lines;
	uint32_t cpu;
	char *line;

	memset(times, 0, cpus->count * sizeof(*times));
	if (lines_open(&lines, "/proc/stat"))
		return;
	/* The lines of CPUs come first, after the one of their sum. */
	while ((line = lines_next(&lines)) && !strncmp(line, "cpu", 3)) {
		if (!stat_parse(line, &cpu, &one))
			continue;
		for (size_t i = 0; i < cpus->count; i++)
			if (cpus->cpu[i] == cpu)
				times[i] = one;
	}
	lines_close(&lines);
}
