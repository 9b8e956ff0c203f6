/* SPDX-License-Identifier: MIT */
/*
 * signals: a request to end is noticed between two drains, never inside one.
 *
 * The signals are blocked but while ppoll(2) waits, so none can slip in
 * between the look at the flag and the sleep.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "sys/signals.h"
#include "sys/system.h"

static const int signals_end[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS_END = sizeof(signals_end) / sizeof(signals_end[0]) };

static volatile sig_atomic_t signals_count, signals_got;
static volatile sig_atomic_t signals_child;	/* who gets the first one */
static sigset_t signals_while_waiting, signals_mask_before;

/* What was there before us, for a child. */
static const int signals_ours[] = {
	SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ,
};
enum { SIGNALS_OURS = sizeof(signals_ours) / sizeof(signals_ours[0]) };
static struct sigaction signals_before[SIGNALS_OURS];

static void signals_handler(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (signals_count++) {
		file_out_abandon();
		/* Unblocked when the handler returns: the process ends. */
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	if (!signals_child)
		signals_got = number;
	else if (info->si_code <= 0)
		kill(signals_child, number);
}

/* Only to end a wait. */
static void signals_nothing(int number)
{
	(void)number;
}

void signals_open(void)
{
	struct sigaction action = {
		.sa_sigaction = signals_handler, .sa_flags = SA_SIGINFO,
	};
	struct sigaction child = { .sa_handler = signals_nothing };
	sigset_t block;

	for (size_t i = 0; i < SIGNALS_OURS; i++)
		sigaction(signals_ours[i], NULL, &signals_before[i]);
	sigemptyset(&block);
	for (size_t i = 0; i < SIGNALS_END; i++) {
		struct sigaction old;

		if (signals_end[i] == SIGHUP &&
		    !sigaction(SIGHUP, NULL, &old) &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals_end[i], &action, NULL);
		sigaddset(&block, signals_end[i]);
	}
	sigaction(SIGCHLD, &child, NULL);
	sigaddset(&block, SIGCHLD);
	/* Errors of write(2), then: EPIPE and EFBIG. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, &signals_mask_before);
	signals_while_waiting = signals_mask_before;
	/* Whoever started us may have blocked them: they are ours now. */
	for (size_t i = 0; i < SIGNALS_END; i++)
		sigdelset(&signals_while_waiting, signals_end[i]);
	sigdelset(&signals_while_waiting, SIGCHLD);
}

void signals_pass_on(int pid)
{
	signals_child = pid;
}

int signals_wait(uint64_t deadline, const int *fds, size_t count)
{
	struct pollfd *polls = memory_new(count, sizeof(*polls));
	uint64_t now = system_now();
	struct timespec left = { 0 };
	int error = 0;

	for (size_t i = 0; i < count; i++)
		polls[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (now < deadline) {
		left.tv_sec = (time_t)((deadline - now) / 1000000000);
		left.tv_nsec = (long)((deadline - now) % 1000000000);
	}
	/* Also with no time left, so that a signal is seen. */
	if (ppoll(polls, count, &left, &signals_while_waiting) < 0 &&
	    errno != EINTR)
		error = -errno;
	free(polls);
	return error ? error : signals_got;
}

void signals_undo(void)
{
	for (size_t i = 0; i < SIGNALS_OURS; i++)
		sigaction(signals_ours[i], &signals_before[i], NULL);
	sigprocmask(SIG_SETMASK, &signals_mask_before, NULL);
}

void signals_allow(void)
{
	if (!signals_count)
		signals_count = 1;
	sigprocmask(SIG_SETMASK, &signals_while_waiting, NULL);
}
