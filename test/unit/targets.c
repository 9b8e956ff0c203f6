/* SPDX-License-Identifier: MIT */
/* Whose sample it is: numbers of processes over time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/targets.h"
#include "sys/events.h"
#include "test/unit/unit.h"

#define SECOND 1000000000ull

static void on_fork(struct targets *targets, uint32_t parent, uint32_t child,
		    uint64_t time)
{
	struct side_event event = {
		.time = time, .kind = SIDE_FORK, .pid = child, .tid = child,
		.ppid = parent,
	};

	targets_event(targets, &event);
}

static bool take(struct targets *targets, uint32_t pid, uint64_t time)
{
	return targets_take(targets, pid, pid, time, 1);
}

TEST(targets_tree)
{
	struct targets *targets = targets_new();

	targets_add_child(targets, 100);
	CHECK(take(targets, 100, 0));
	CHECK(take(targets, 100, 50 * SECOND));
	CHECK(!take(targets, 200, 50));
	/* A child from its fork on, and what that starts; not others'. */
	on_fork(targets, 100, 200, 10 * SECOND);
	on_fork(targets, 200, 300, 11 * SECOND);
	on_fork(targets, 999, 400, 12 * SECOND);
	CHECK(!take(targets, 200, 10 * SECOND - 1));
	CHECK(take(targets, 200, 10 * SECOND));
	CHECK(!take(targets, 300, 10 * SECOND));
	CHECK(take(targets, 300, 11 * SECOND));
	CHECK(!take(targets, 400, 13 * SECOND));
	/* Threads are their process's. */
	CHECK(targets_take(targets, 300, 301, 12 * SECOND, 1));
	targets_free(targets);
	targets_free(NULL);
}

/* A number that is given to somebody else is that one's from then on. */
TEST(targets_number_is_reused)
{
	struct targets *targets = targets_new();

	targets_add_child(targets, 100);
	on_fork(targets, 100, 200, 1 * SECOND);
	on_fork(targets, 999, 200, 2 * SECOND);
	on_fork(targets, 100, 200, 3 * SECOND);
	on_fork(targets, 999, 200, 4 * SECOND);
	CHECK(!take(targets, 200, 1 * SECOND - 1));
	CHECK(take(targets, 200, 1 * SECOND));
	CHECK(take(targets, 200, 2 * SECOND - 1));
	CHECK(!take(targets, 200, 2 * SECOND));
	CHECK(!take(targets, 200, 3 * SECOND - 1));
	CHECK(take(targets, 200, 3 * SECOND));
	CHECK(!take(targets, 200, 4 * SECOND));
	/* Also the one that was asked for. */
	on_fork(targets, 999, 100, 5 * SECOND);
	CHECK(take(targets, 100, 5 * SECOND - 1));
	CHECK(!take(targets, 100, 5 * SECOND));
	/* Whose children are no target's then. */
	on_fork(targets, 100, 500, 6 * SECOND);
	CHECK(!take(targets, 500, 6 * SECOND));
	targets_free(targets);
}

/*
 * What happened long ago is forgotten, but not what happened in this drain:
 * the second life ends when the third begins, and its samples come after.
 */
TEST(targets_forgets_only_the_old)
{
	struct targets *targets = targets_new();

	targets_add_child(targets, 100);
	on_fork(targets, 100, 200, 1 * SECOND);
	on_fork(targets, 999, 200, 2 * SECOND);
	on_fork(targets, 100, 200, 3 * SECOND);
	on_fork(targets, 100, 200, 14 * SECOND);
	CHECK(take(targets, 200, 14 * SECOND));
	CHECK(take(targets, 200, 14 * SECOND - 1));
	targets_free(targets);
}

/* Thousands of short lives on few numbers. */
TEST(targets_many_lives)
{
	struct targets *targets = targets_new();

	targets_add_child(targets, 100);
	for (uint64_t i = 1; i <= 200000; i++) {
		uint32_t pid = (uint32_t)(1000 + i % 500);

		on_fork(targets, i % 2 ? 100 : 999, pid, i * SECOND / 1000);
		CHECK(take(targets, pid, i * SECOND / 1000) == (i % 2 == 1));
	}
	targets_free(targets);
}

/* A thread alone: neither the rest of its process nor what it starts. */
TEST(targets_thread)
{
	struct targets *targets = targets_new();
	uint32_t self = (uint32_t)getpid();
	struct side_event event = {
		.kind = SIDE_FORK, .time = SECOND, .pid = self,
		.tid = self + 1, .ppid = self,
	};

	CHECK(!targets_add_thread(targets, self));
	targets_event(targets, &event);
	CHECK(targets_take(targets, 999, self, SECOND, 1));
	CHECK(!targets_take(targets, self, self + 1, SECOND, 1));
	CHECK(targets_live(targets));
	targets_free(targets);
}

TEST(targets_there_or_not)
{
	struct targets *targets = targets_new();
	pid_t child = fork();

	if (!child)
		_exit(0);
	CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	CHECK(targets_add_process(targets, (uint32_t)child) == -ESRCH);
	CHECK(targets_add_thread(targets, (uint32_t)child) == -ESRCH);
	CHECK(targets_add_process(targets, 4194305) == -ESRCH);
	CHECK(targets_add_process(targets, 0) == -ESRCH);
	CHECK(targets_add_process(targets, UINT32_MAX) == -ESRCH);
	CHECK(strstr(unit_messages(), "process 4194305: "));
	CHECK(!targets_live(targets));
	CHECK(!targets_add_process(targets, (uint32_t)getpid()));
	CHECK(targets_live(targets));
	targets_report(targets);
	CHECK(strstr(unit_messages(), "no sample"));
	CHECK(take(targets, (uint32_t)getpid(), SECOND));
	targets_report(targets);
	CHECK_TEXT(unit_messages(), "");
	targets_free(targets);
}

/* ---------------------------------------------------------------- events */

TEST(events_names)
{
	struct event_kind kind;

	CHECK(event_find("cpu-clock", &kind));
	CHECK(kind.clock && kind.type == 1 && kind.config == 0);
	CHECK_U64(kind.period, 0);
	CHECK(event_find("page-faults", &kind));
	CHECK(!kind.clock && kind.type == 1 && kind.config == 2);
	CHECK(event_find("cycles/1000000", &kind));
	CHECK(!kind.clock && kind.type == 0 && kind.config == 0);
	CHECK_U64(kind.period, 1000000);
	CHECK(event_find("cs/1", &kind));
	CHECK(kind.type == 1 && kind.config == 3);
	CHECK(event_find("cycles/9223372036854775807", &kind));
}

TEST(events_refusals)
{
	static const char *const bad[] = {
		"", "/", "/5", "cycle", "cyclesx", "Cycles", "cycles/",
		"cycles/0", "cycles/-1", "cycles/x", "cycles/1/2", "cycles /1",
		"cycles/9223372036854775808", "cpu-clock,cycles", " cycles",
	};
	struct event_kind kind;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (event_find(bad[i], &kind))
			unit_fail(__FILE__, __LINE__, "\"%s\" is an event",
				  bad[i]);
}

/* All that are offered are there. */
TEST(events_offered)
{
	char names[1024];
	struct event_kind kind;

	snprintf(names, sizeof(names), "%s", event_names);
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
		CHECK(event_find(name, &kind));
}
