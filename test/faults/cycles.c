/* SPDX-License-Identifier: MIT */
/*
 * cycles COUNT DIRECTORY: starts and stops the profiler COUNT times in one
 * process, with all stages of a run, by turns of the whole machine, of a
 * command, and by the textbook's engine.  Each time it must give back all that
 * it took: descriptors, mappings, memory, threads, children.
 *
 * Prints what there was after the tenth cycle and after the last.  Status 1 if
 * a run failed or if there was more at the end.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded.h"
#include "lib/file.h"
#include "lib/log.h"
#include "options.h"
#include "run.h"
#include "sys/signals.h"
#include "sys/system.h"

/* Until memory is as large as it has to be. */
enum { WARM_UP = 10 };

struct held {
	long fds, maps, threads, kb;
};

/* As in prof.c. */
static int one_cycle(int argc, const char *const *argv)
{
	struct options options;
	struct run run = {
		.options = &options, .begin = system_now(), .cgroup_fd = -1,
		.object = embedded_object(),
	};
	int failed = options_parse(&options, argc, (char **)argv);

	if (!failed)
		failed = run_check(&run) || run_choose(&run) ||
			 run_load(&run) || run_open(&run) || run_start(&run) ||
			 run_sample(&run) || run_name(&run) ||
			 run_write(&run) || run_balance(&run);
	failed = run_close(&run, failed);
	options_free(&options);
	return failed;
}

static long count_lines(const char *path, const char *begin, long *number)
{
	struct lines lines;
	long count = 0;
	char *line;

	if (lines_open(&lines, path))
		return -1;
	while ((line = lines_next(&lines))) {
		count++;
		if (number && !strncmp(line, begin, strlen(begin)))
			*number = strtol(line + strlen(begin), NULL, 10);
	}
	lines_close(&lines);
	return count;
}

static struct held look(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct held held = { 0 };

	while (directory && readdir(directory))
		held.fds++;
	if (directory)
		closedir(directory);
	held.maps = count_lines("/proc/self/maps", "", NULL);
	count_lines("/proc/self/status", "VmRSS:", &held.kb);
	count_lines("/proc/self/status", "Threads:", &held.threads);
	return held;
}

static void print(const char *when, struct held held)
{
	printf("%s: %ld descriptors, %ld mappings, %ld threads, %ld KB\n", when,
	       held.fds, held.maps, held.threads, held.kb);
}

int main(int argc, char **argv)
{
	static const char *const kinds[][12] = {
		{ "prof", "-q", "-d0.002", "--memory=1", "-oout", NULL },
		{ "prof", "-q", "--memory=1", "-oout", "--", "true", NULL },
		{ "prof", "-q", "-d0.002", "--engine=stackid", "-oout", NULL },
	};
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	struct held early = { 0 }, late;
	bool more;

	if (!count || chdir(argv[2])) {
		fprintf(stderr, "usage: cycles COUNT DIRECTORY\n");
		return 2;
	}
	log_open(LOG_QUIET);
	for (long i = 0; i < count + WARM_UP; i++) {
		const char *const *args = kinds[i % 3];
		int words = 0;

		if (i == WARM_UP)
			early = look();
		while (args[words])
			words++;
		/* getopt(3) has state of its own. */
		optind = 1;
		signals_open();
		if (one_cycle(words, args)) {
			printf("cycle %ld failed\n", i);
			return 1;
		}
	}
	late = look();
	print("after ten", early);
	print("at the end", late);
	/* A page here and there is the heap's own business. */
	more = late.fds > early.fds || late.maps > early.maps + 8 ||
	       late.threads > early.threads || late.kb > early.kb + 256;
	if (waitpid(-1, NULL, WNOHANG) >= 0) {
		printf("a child is left\n");
		more = true;
	}
	return more;
}
