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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "sys/cpus.h"
#include "sys/system.h"

/* A set while it is read: however often a list names a CPU, it is one. */
struct cpu_set {
	bool has[CPUS_MOST];
};

/* The set as a list, ascending. */
static void list_set(struct cpus *cpus, const struct cpu_set *set)
{
	for (uint32_t cpu = 0; cpu < CPUS_MOST; cpu++) {
		if (!set->has[cpu])
			continue;
		cpus->cpu = memory_grow(cpus->cpu, &cpus->capacity,
					cpus->count + 1, sizeof(*cpus->cpu));
		cpus->cpu[cpus->count++] = cpu;
	}
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

static int parse_list(struct cpu_set *set, const char *p)
{
	for (;;) {
		uint32_t first, last;

		if (parse_cpu(&p, &first))
			return -EINVAL;
		last = first;
		if (*p == '-') {
			p++;
			if (parse_cpu(&p, &last) || last < first)
				return -EINVAL;
		}
		memset(set->has + first, true, last - first + 1);
		if (*p == '\0')
			return 0;
		if (*p++ != ',')
			return -EINVAL;
	}
}

int cpus_parse(struct cpus *cpus, const char *list)
{
	struct cpu_set *set = memory_new(1, sizeof(*set));
	int error = parse_list(set, list);

	cpus_free(cpus);
	if (!error)
		list_set(cpus, set);
	free(set);
	return error;
}

/* Where /sys is not mounted: the CPUs on which this process may run. */
static int cpus_of_affinity(struct cpus *cpus)
{
	unsigned char mask[CPUS_MOST / 8];
	/* The bare call: it returns how many bytes the kernel filled. */
	long size = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	struct cpu_set *set;

	if (size < 0)
		return -errno;
	set = memory_new(1, sizeof(*set));
	for (uint32_t cpu = 0; cpu < (uint32_t)size * 8; cpu++) {
		/* The mask is an array of longs: mind their byte order. */
		unsigned long word = ((unsigned long *)(void *)mask)
			[cpu / (8 * sizeof(word))];

		set->has[cpu] = word >> cpu % (8 * sizeof(word)) & 1;
	}
	list_set(cpus, set);
	free(set);
	return cpus->count ? 0 : -ENODEV;
}

int cpus_online(struct cpus *cpus)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	static bool told;
	char list[4096];
	int error = file_read_text(path, list, sizeof(list));

	if (!error)
		error = cpus_parse(cpus, list);
	if (!error)
		return 0;
	/* Not mounted is one thing; but there may be more CPUs than these. */
	if (error != -ENOENT && !told) {
		log_warning("%s: read: %s: only CPUs that prof may run on are "
			    "known", path, system_strerror(error));
		told = true;
	}
	return cpus_of_affinity(cpus);
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
