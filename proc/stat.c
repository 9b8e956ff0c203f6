/* SPDX-License-Identifier: MIT */
/*
 * stat: what the kernel's own accounting says.
 *
 *	cpu0 user nice system idle iowait irq softirq steal guest guest_nice
 *
 * in units of 1/100 s (USER_HZ).  Source: man 5 proc_stat.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "proc/stat.h"

enum { TICK_NS = 10000000 };

/* The numbers behind "cpuN", up to the eighth; false if there are fewer. */
static bool parse_numbers(const char *p, uint64_t numbers[8])
{
	for (size_t i = 0; i < 8; i++) {
		char *end;

		if (*p != ' ')
			return false;
		numbers[i] = strtoull(p, &end, 10);
		if (end == p)
			return false;
		p = end;
	}
	return true;
}

bool stat_parse(const char *line, uint32_t *cpu, struct stat_times *times)
{
	uint64_t numbers[8];
	char *end;

	if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
		return false;
	*cpu = (uint32_t)strtoul(line + 3, &end, 10);
	if (!parse_numbers(end, numbers))
		return false;
	times->idle = (numbers[3] + numbers[4]) * TICK_NS;
	times->steal = numbers[7] * TICK_NS;
	return true;
}

bool stat_read(const struct cpus *cpus, struct stat_times *times)
{
	struct stat_times one;
	struct lines lines;
	uint32_t cpu;
	char *line;
	bool whole;

	memset(times, 0, cpus->count * sizeof(*times));
	if (lines_open(&lines, "/proc/stat"))
		return false;
	/* The lines of CPUs come first, after the one of their sum. */
	while ((line = lines_next(&lines)) && !strncmp(line, "cpu", 3)) {
		if (!stat_parse(line, &cpu, &one))
			continue;
		for (size_t i = 0; i < cpus->count; i++)
			if (cpus->cpu[i] == cpu)
				times[i] = one;
	}
	whole = !lines.error;
	lines_close(&lines);
	return whole;
}
