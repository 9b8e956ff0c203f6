/* SPDX-License-Identifier: MIT */
/* Calculations that are ended from outside, or from inside. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "sys/limit.h"
#include "test/unit/unit.h"

static volatile uint64_t turns;

static void count(void *argument)
{
	for (uint64_t i = 0; i < *(uint64_t *)argument; i++)
		turns++;
}

static void leave(void *argument)
{
	(void)argument;
	turns = 1;
	limit_leave();
}

static int count_for(uint64_t times, uint64_t ns)
{
	turns = 0;
	return limit_run(count, &times, ns);
}

static void check_timer_off(void)
{
	struct itimerval timer;

	CHECK(!getitimer(ITIMER_VIRTUAL, &timer));
	CHECK(!timer.it_value.tv_sec && !timer.it_value.tv_usec);
}

TEST(limit_to_the_end)
{
	CHECK(!count_for(1000, 1000000000));
	CHECK_U64(turns, 1000);
	check_timer_off();
}

/* Ended a hundred times, each soon: the signal is not left blocked. */
TEST(limit_too_long)
{
	clock_t begin = clock();

	for (int i = 0; i < 100; i++) {
		CHECK(count_for(UINT64_MAX, 1000000) == -ETIME);
		CHECK(turns);
		check_timer_off();
	}
	CHECK((clock() - begin) / CLOCKS_PER_SEC < 20);
	CHECK(!count_for(1000, 1000000000));
}

TEST(limit_left)
{
	CHECK(limit_run(leave, NULL, 1000000000) == -ECANCELED);
	CHECK_U64(turns, 1);
	check_timer_off();
	CHECK(count_for(UINT64_MAX, 1000000) == -ETIME);
}

/* Outside, the signal does nothing. */
TEST(limit_late_signal)
{
	CHECK(!count_for(1, 1000000000));
	CHECK(!raise(SIGVTALRM));
}

TEST(limit_signal_was_blocked)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(signal(SIGVTALRM, SIG_IGN) != SIG_ERR);
	CHECK(count_for(UINT64_MAX, 1000000) == -ETIME);
}

TEST(limit_little_stack)
{
	struct rlimit stack;

	CHECK(!getrlimit(RLIMIT_STACK, &stack));
	stack.rlim_cur = LIMIT_STACK - 4096;
	CHECK(!setrlimit(RLIMIT_STACK, &stack));
	CHECK(count_for(1000, 1000000000) == -ENOTSUP);
	CHECK_U64(turns, 0);
	check_timer_off();
}
