/* SPDX-License-Identifier: MIT */
/*
 * limit: ends a calculation that nobody can foresee the length of.
 *
 * setitimer(2) counts the process's own time in user mode, so that a machine
 * under load changes nothing, and sends SIGVTALRM, which nothing else here uses.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "sys/limit.h"

static sigjmp_buf limit_way_out;
static volatile sig_atomic_t limit_inside;

static _Noreturn void limit_jump(int why)
{
	limit_inside = 0;
	siglongjmp(limit_way_out, why);
}

static void limit_handler(int number)
{
	(void)number;
	if (limit_inside)
		limit_jump(ETIME);
}

_Noreturn void limit_leave(void)
{
	if (!limit_inside)
		abort();
	limit_jump(ECANCELED);
}

/*
 * Whoever started us may have blocked or ignored the signal, or left us little
 * stack.
 */
static bool limit_prepare(void)
{
	/* SA_NODEFER: it is not blocked after a jump, with no call for that. */
	struct sigaction action = {
		.sa_handler = limit_handler,
		.sa_flags = SA_NODEFER | SA_RESTART,
	};
	static bool done, enough;
	struct rlimit stack;
	sigset_t ours;

	if (done)
		return enough;
	done = true;
	enough = getrlimit(RLIMIT_STACK, &stack) ||
		 stack.rlim_cur >= LIMIT_STACK;
	sigemptyset(&ours);
	sigaddset(&ours, SIGVTALRM);
	sigaction(SIGVTALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &ours, NULL);
	return enough;
}

/* In a function of its own, so that no variable lives over the jump. */
static int limit_call(void (*run)(void *argument), void *argument)
{
	int why = sigsetjmp(limit_way_out, 0);

	if (why)
		return -why;
	limit_inside = 1;
	run(argument);
	limit_inside = 0;
	return 0;
}

int limit_run(void (*run)(void *argument), void *argument, uint64_t ns)
{
	struct itimerval timer = { 0 };
	int error;

	timer.it_value.tv_sec = (time_t)(ns / 1000000000);
	timer.it_value.tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
	if (!limit_prepare() || setitimer(ITIMER_VIRTUAL, &timer, NULL))
		return -ENOTSUP;
	error = limit_call(run, argument);
	timer = (struct itimerval){ 0 };
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	return error;
}
