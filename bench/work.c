/* SPDX-License-Identifier: MIT */
/*
 * work TURNS DEPTH: a fixed amount of work, half of it in the kernel, below DEPTH
 * calls (TURNS 0: for ever).  Prints the CPU time and the wall time that it took,
 * in ms: what a profiler adds is added to these.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static int zero, null;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

ALONE static uint64_t calculate(uint64_t sum)
{
	for (int i = 0; i < 20000; i++)
		sum = sum * 3 + sink;
	return sum;
}

ALONE static uint64_t ask(uint64_t sum)
{
	char buffer[4096];

	for (int i = 0; i < 40; i++) {
		sum += (uint64_t)syscall(SYS_getppid);
		sum += (uint64_t)read(zero, buffer, sizeof(buffer));
		sum += (uint64_t)write(null, buffer, sizeof(buffer));
	}
	return sum;
}

ALONE static uint64_t descend(uint64_t sum, int depth)
{
	if (depth)
		sum = descend(sum + 1, depth - 1);
	else
		sum = ask(calculate(sum));
	sink += sum;	/* so that the call above is no jump */
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t turns = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	int depth = argc > 2 ? atoi(argv[2]) : 20;
	double wall = now(CLOCK_MONOTONIC);
	double cpu = now(CLOCK_PROCESS_CPUTIME_ID);

	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (zero < 0 || null < 0)
		return 1;
	for (uint64_t i = 0; !turns || i < turns; i++)
		descend(i, depth);
	printf("%.2f %.2f\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu,
	       now(CLOCK_MONOTONIC) - wall);
	return 0;
}
