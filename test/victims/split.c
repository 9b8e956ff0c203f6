/* SPDX-License-Identifier: MIT */
/*
 * split SECONDS: spends 70, 20 and 10 % of its CPU time in seventy(), twenty()
 * and ten(), for tests that know what a profile has to say.  Prints the CPU
 * time that it used, in ns.
 *
 * The loops are of equal cost per turn, and short, so that no sampling period
 * is in step with them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ALONE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

ALONE static void seventy(unsigned int unit)
{
	for (unsigned int i = 0; i < 7 * unit; i++)
		sink = sink * 3 + i;
}

ALONE static void twenty(unsigned int unit)
{
	for (unsigned int i = 0; i < 2 * unit; i++)
		sink = sink * 3 + i;
}

ALONE static void ten(unsigned int unit)
{
	for (unsigned int i = 0; i < unit; i++)
		sink = sink * 3 + i;
}

int main(int argc, char **argv)
{
	uint64_t end = cpu_ns() + (uint64_t)(atof(argc > 1 ? argv[1] : "1") *
					     1e9);
	uint64_t random = 88172645463325252ull;

	while (cpu_ns() < end) {
		unsigned int unit;

		/* xorshift: a sequence that repeats would be in step with some
		 * sampling period. */
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		unit = (unsigned int)(random % 4000) + 200;
		seventy(unit);
		twenty(unit);
		ten(unit);
	}
	printf("%llu\n", (unsigned long long)cpu_ns());
	return 0;
}
