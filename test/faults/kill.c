/* SPDX-License-Identifier: MIT */
/*
 * kill COUNT PROF VICTIM DIRECTORY: ends the profiler by SIGKILL, again and
 * again: one half of the times in its start, in steps of 0.2 ms or somewhat
 * more, the other half at random moments of a whole run (sampling, draining,
 * naming, writing).
 *
 * Nobody can clean up after that but the kernel.  A command that was still
 * held has to end, as nobody will let it go; one that runs, runs on, and ends
 * as it would have.  The output is the old one or a whole new one.  What is
 * allowed to stay is a hidden file beside the output, readable by its owner
 * alone.  Prints what there was; status 1 if anything else was left.
 *
 * Whether the kernel holds programs and maps is for the caller to see.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 3, WORDS_MOST = 12 };

static char *kinds[KINDS][WORDS_MOST] = {
	{ "prof", "-q", "-F499", "--memory=8", "-d0.06", "-oout.folded", NULL },
	{ "prof", "-q", "-F499", "--memory=8", "-oout.folded", "--", "VICTIM",
	  "0.06", NULL },
	/* A drain each 0.1 s. */
	{ "prof", "-q", "-F49", "--memory=1", "-d0.25", "-oout.folded", NULL },
};

static const char *prof;
static long killed, late, ran_on, held, hidden, bad;

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 },
		  NULL);
}

static pid_t start(int kind)
{
	pid_t pid;
	int fd = open("out.folded", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, "old 1\n", 6) != 6 || close(fd))
		exit(2);
	pid = fork();
	if (!pid) {
		fd = open("/dev/null", O_RDWR);
		dup2(fd, 1);
		dup2(fd, 2);
		execv(prof, kinds[kind]);
		_exit(97);
	}
	return pid;
}

/* How long a whole run takes. */
static int64_t measure(int kind)
{
	int64_t begin = now_ns();
	int status;

	waitpid(start(kind), &status, 0);
	if (status) {
		printf("a run that nobody kills: status %d\n", status);
		exit(1);
	}
	return now_ns() - begin;
}

/* Text lines that end in a number each: whole. */
static bool is_whole(const char *path)
{
	FILE *file = fopen(path, "re");
	int last = '\n', c, digits = 1;

	while (file && (c = getc(file)) != EOF) {
		if (c == '\n' && !digits)
			break;
		digits = c >= '0' && c <= '9' ? digits + 1 :
			 c == '\n' ? digits : 0;
		last = c;
	}
	if (!file || fclose(file))
		return false;
	return last == '\n' && digits;
}

static void look_at_files(void)
{
	DIR *here = opendir(".");
	struct dirent *entry;

	if (!here) {
		perror(".");
		bad++;
		return;
	}
	while ((entry = readdir(here))) {
		struct stat status;

		if (strncmp(entry->d_name, ".prof.", 6) ||
		    stat(entry->d_name, &status))
			continue;
		hidden++;
		/* Just before its renaming it has the mode of the old file. */
		if (status.st_mode & 077) {
			printf("%s: mode %o\n", entry->d_name, status.st_mode);
			bad++;
		}
		unlink(entry->d_name);
	}
	closedir(here);
	if (!is_whole("out.folded")) {
		printf("out.folded is neither old nor whole\n");
		bad++;
	}
}

/* The one child that the command is, as the kernel gives it to us; or 0. */
static pid_t orphan(bool *runs)
{
	char path[64], comm[32] = "";
	int pid = 0;
	FILE *file = fopen("/proc/thread-self/children", "re");

	if (!file || fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (file && fscanf(file, "%31s", comm) == 1)
		*runs = strcmp(comm, "prof") != 0;
	if (file)
		fclose(file);
	return pid;
}

static void wait_for_command(void)
{
	bool runs = false;
	pid_t pid = orphan(&runs);

	if (!pid)
		return;
	ran_on += runs;
	held += !runs;
	for (int i = 0; i < 5000; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return;
		sleep_ns(1000000);
	}
	printf("the command %s for ever\n", runs ? "runs" : "waits");
	bad++;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void kill_once(int kind, int64_t after)
{
	int64_t begin = now_ns();
	pid_t pid = start(kind);
	int status;

	sleep_ns(begin + after - now_ns());
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		killed++;
	else
		late++;
	wait_for_command();
	look_at_files();
}

int main(int argc, char **argv)
{
	long count = argc == 5 ? strtol(argv[1], NULL, 10) : 0;
	int64_t whole[KINDS], step;
	char *victim;

	if (!count) {
		fprintf(stderr, "usage: kill COUNT PROF VICTIM DIRECTORY\n");
		return 2;
	}
	prof = realpath(argv[2], NULL);
	victim = realpath(argv[3], NULL);
	if (!prof || !victim || chdir(argv[4])) {
		perror("kill");
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	srandom((unsigned int)now_ns());
	for (int kind = 0; kind < KINDS; kind++) {
		for (size_t i = 0; kinds[kind][i]; i++)
			if (!strcmp(kinds[kind][i], "VICTIM"))
				kinds[kind][i] = victim;
		whole[kind] = measure(kind);
	}
	/* The start takes some 10 ms. */
	step = count > 100 ? 200000 : 20000000 / count;
	for (long i = 0; i < count; i++) {
		int kind = (int)(i / 2 % KINDS);

		kill_once(kind, i % 2 ? random() % whole[kind] : i / 2 * step);
	}
	printf("%ld killed, %ld ended before, %ld commands ran on and ended, "
	       "%ld held ones ended, %ld hidden files left\n", killed, late,
	       ran_on, held, hidden);
	return bad != 0;
}
