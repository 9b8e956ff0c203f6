/* SPDX-License-Identifier: MIT */
/*
 * signals: a request to end is noticed between two drains, never inside one.
 *
 * The signals are blocked but while ppoll(2) waits, so none can slip in
 * between the look at the flag and the sleep.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "sys/signals.h"
#include "sys/system.h"

static const int signals_end[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS_END = sizeof(signals_end) / sizeof(signals_end[0]) };

static volatile sig_atomic_t signals_got;
static sigset_t signals_while_waiting;

static void signals_handler(int number)
{
	if (signals_got) {
		/* Unblocked when the handler returns: the process ends. */
		signal(number, SIG_DFL);
		raise(number);
	}
	signals_got = number;
}

void signals_open(void)
{
	struct sigaction action = { .sa_handler = signals_handler };
	sigset_t block;

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
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, &signals_while_waiting);
	/* Whoever started us may have blocked them: they are ours now. */
	for (size_t i = 0; i < SIGNALS_END; i++)
		sigdelset(&signals_while_waiting, signals_end[i]);
}

int signals_wait(uint64_t deadline)
{
	while (!signals_got) {
		uint64_t now = system_now();
		struct timespec left = { 0 };

		if (now < deadline) {
			left.tv_sec = (time_t)((deadline - now) / 1000000000);
			left.tv_nsec = (long)((deadline - now) % 1000000000);
		}
		/* Also with no time left, so that a signal is seen. */
		if (!ppoll(NULL, 0, &left, &signals_while_waiting))
			break;
	}
	return signals_got;
}

void signals_allow(void)
{
	sigprocmask(SIG_SETMASK, &signals_while_waiting, NULL);
}
