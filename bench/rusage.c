/* SPDX-License-Identifier: MIT */
/*
 * rusage FILE COMMAND [ARG...]: runs the command and writes to FILE its peak
 * resident memory in KB, its CPU time and its wall time in ms.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double begin = now();
	int status = 0;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return 1;
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	fprintf(file, "%ld %.1f %.1f\n", usage.ru_maxrss,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3,
		now() - begin);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
