/* SPDX-License-Identifier: MIT */
/*
 * family forks|threads|execs|daemon|burn MS: short-lived tasks of known cost.
 *
 *	forks	300 children of 3 ms, one after the other
 *	threads	400 threads of 3 ms
 *	execs	150 times vfork and exec of `family burn 5`
 *	daemon	a child that forks a grandchild and ends; 1 s of work there
 *	burn	burns MS ms of CPU time
 *
 * Prints the CPU time of all of them, in ns, on standard error.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ms)
{
	uint64_t end = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sink = sink * 3 + (uint64_t)i;
}

static void *thread(void *unused)
{
	burn(3);
	return unused;
}

static uint64_t usage_ns(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
	       1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
	       1000;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t id;
	pid_t pid;

	if (!strcmp(what, "burn")) {
		burn(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
		return 0;
	}
	for (int i = 0; !strcmp(what, "forks") && i < 300; i++) {
		pid = fork();
		if (!pid) {
			burn(3);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; !strcmp(what, "threads") && i < 400; i++)
		if (!pthread_create(&id, NULL, thread, NULL))
			pthread_join(id, NULL);
	for (int i = 0; !strcmp(what, "execs") && i < 150; i++) {
		pid = vfork();
		if (!pid) {
			execl("/proc/self/exe", "family", "burn", "5",
			      (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	if (!strcmp(what, "daemon")) {
		pid = fork();
		if (!pid) {
			if (!fork()) {
				burn(1000);
				_exit(0);
			}
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		sleep(3);
		fprintf(stderr, "1000000000\n");
		return 0;
	}
	fprintf(stderr, "%llu\n", (unsigned long long)
		(usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN)));
	return 0;
}
