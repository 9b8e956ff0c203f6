/* SPDX-License-Identifier: MIT */
/*
 * cpus: which CPUs are there.
 *
 * CPUs may be missing in the middle ("0,2-3"), CPU 0 included, and more can be
 * possible than present: a number of CPUs says nothing about their numbers.
 *
 * Sources: Documentation/admin-guide/cputopology.rst of the kernel, man 2
 * sched_getaffinity.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "sys/cpus.h"

static int cmp_cpu(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void cpus_add(struct cpus *cpus, uint32_t cpu)
{
	cpus->cpu = memory_grow(cpus->cpu, &cpus->capacity, cpus->count + 1,
				sizeof(*cpus->cpu));
	cpus->cpu[cpus->count++] = cpu;
}

static void cpus_sort(struct cpus *cpus)
{
	size_t kept = 0;

	if (!cpus->count)
		return;
	qsort(cpus->cpu, cpus->count, sizeof(*cpus->cpu), cmp_cpu);
	for (size_t i = 1; i < cpus->count; i++)
		if (cpus->cpu[i] != cpus->cpu[kept])
			cpus->cpu[++kept] = cpus->cpu[i];
	cpus->count = kept + 1;
}

/* A number up to CPUS_MOST - 1 at *p, which moves behind it. */
static int parse_cpu(const char **p, uint32_t *cpu)
{
	const char *from = *p;

	for (*cpu = 0; **p >= '0' && **p <= '9'; (*p)++) {
		*cpu = *cpu * 10 + (uint32_t)(**p - '0');
		if (*cpu >= CPUS_MOST)
			return -EINVAL;
	}
	return *p == from ? -EINVAL : 0;
}

int cpus_parse(struct cpus *cpus, const char *list)
{
	const char *p = list;

	for (;;) {
		uint32_t first, last;

		if (parse_cpu(&p, &first))
			break;
		last = first;
		if (*p == '-') {
			p++;
			if (parse_cpu(&p, &last) || last < first)
				break;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			cpus_add(cpus, cpu);
		if (*p == '\0') {
			cpus_sort(cpus);
			return 0;
		}
		if (*p++ != ',')
			break;
	}
	cpus_free(cpus);
	return -EINVAL;
}

/* Where /sys is not mounted: the CPUs on which this process may run. */
static int cpus_of_affinity(struct cpus *cpus)
{
	unsigned char mask[CPUS_MOST / 8];
	/* The bare call: it returns how many bytes the kernel filled. */
	long size = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	if (size < 0)
		return -errno;
	for (uint32_t cpu = 0; cpu < (uint32_t)size * 8; cpu++) {
		/* The mask is an array of longs: mind their byte order. */
		unsigned long word = ((unsigned long *)(void *)mask)
			[cpu / (8 * sizeof(word))];

		if (word >> cpu % (8 * sizeof(word)) & 1)
			cpus_add(cpus, cpu);
	}
	return cpus->count ? 0 : -ENODEV;
}

int cpus_online(struct cpus *cpus)
{
	char list[4096];

	if (file_read_text("/sys/devices/system/cpu/online", list,
			   sizeof(list)) || cpus_parse(cpus, list))
		return cpus_of_affinity(cpus);
	return 0;
}

int cpus_contain(const struct cpus *cpus, uint32_t cpu)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] == cpu)
			return 1;
	return 0;
}

void cpus_free(struct cpus *cpus)
{
	free(cpus->cpu);
	*cpus = (struct cpus){ 0 };
}
