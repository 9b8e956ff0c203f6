/* SPDX-License-Identifier: MIT */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

#include <stddef.h>
#include <stdint.h>

/* CPU numbers, ascending, each once.  Starts zeroed. */
struct cpus {
	uint32_t *cpu;
	size_t count, capacity;
};

/*
 * The CPUs of a list as the kernel and taskset write it, "0-3,6,8-10", in the
 * place of what was in *cpus.  0, or -EINVAL with *cpus empty.
 */
int cpus_parse(struct cpus *cpus, const char *list);

/* The CPUs that are on line now.  0 or -errno. */
int cpus_online(struct cpus *cpus);

/* The most CPUs that any kernel can be built for. */
enum { CPUS_MOST = 8192 };

int cpus_contain(const struct cpus *cpus, uint32_t cpu);
void cpus_free(struct cpus *cpus);

#endif
