/* SPDX-License-Identifier: MIT */
/*
 * storm SECONDS: forks and reaps as fast as it can; every child works for a
 * moment in user and in kernel mode, renames itself, and is gone.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void child(unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), "storm %u", number % 100);
	prctl(PR_SET_NAME, name);
	for (unsigned int i = 0; i < 50000 + number % 7 * 50000; i++)
		sink += i;
	for (int i = 0; i < 100; i++)
		(void)!read(-1, NULL, 0);
	_exit(0);
}

int main(int argc, char **argv)
{
	double end = now() + atof(argc > 1 ? argv[1] : "1");
	unsigned int forks = 0;

	while (now() < end) {
		pid_t pid = fork();

		if (pid == 0)
			child(forks);
		if (pid > 0)
			forks++;
		/* A few at a time, so that there is always one to run. */
		while (waitpid(-1, NULL, forks % 4 ? WNOHANG : 0) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%u\n", forks);
	return 0;
}
