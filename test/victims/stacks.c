/* SPDX-License-Identifier: MIT */
/*
 * stacks COUNT DEPTH [turn [LOOPS]]: calls getppid(2) from COUNT different user stacks.
 *
 * A path of DEPTH calls goes left or right at each step as the bits of a
 * number say, so each number below 2^DEPTH makes another stack.  With `turn`
 * it burns CPU time at the end of each path instead, LOOPS times round, for COUNT
 * paths in random order.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static int burn, loops = 20000;

static uint64_t walk(uint64_t bits, int depth);

ALONE static uint64_t left(uint64_t bits, int depth)
{
	uint64_t sum = walk(bits >> 1, depth - 1);

	sink += sum;
	return sum + 1;
}

ALONE static uint64_t right(uint64_t bits, int depth)
{
	uint64_t sum = walk(bits >> 1, depth - 1);

	sink += sum;
	return sum + 2;
}

ALONE static uint64_t walk(uint64_t bits, int depth)
{
	uint64_t sum = 0;

	if (depth)
		sum = bits & 1 ? right(bits, depth) : left(bits, depth);
	else if (burn)
		for (int i = 0; i < loops; i++)
			sum += sink + (uint64_t)i;
	else
		sum = (uint64_t)syscall(SYS_getppid);
	sink += sum;
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	int depth = argc > 2 ? atoi(argv[2]) : 16;
	uint64_t random = 88172645463325252ull + (uint64_t)getpid();

	burn = argc > 3 && !strcmp(argv[3], "turn");
	if (argc > 4)
		loops = atoi(argv[4]);
	for (uint64_t i = 0; i < count; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		walk(burn ? random : i, depth);
	}
	return 0;
}
