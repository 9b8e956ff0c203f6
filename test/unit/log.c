/* SPDX-License-Identifier: MIT */
/* Messages: what each level tells, and that they cannot drive a terminal. */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "test/unit/unit.h"

static void say_all(void)
{
	log_error("error %d", 1);
	log_advice("of error");
	log_warning("warning");
	log_advice("of warning");
	log_note("note");
	log_detail("detail");
}

TEST(log_levels)
{
	say_all();
	CHECK_TEXT(unit_messages(), "prof: error 1\n      of error\n"
		   "prof: warning: warning\n      of warning\nprof: note\n");
	log_open(LOG_QUIET);
	say_all();
	CHECK_TEXT(unit_messages(), "prof: error 1\n      of error\n");
	log_open(LOG_VERBOSE);
	say_all();
	CHECK_TEXT(unit_messages(), "prof: error 1\n      of error\n"
		   "prof: warning: warning\n      of warning\nprof: note\n"
		   "prof: detail\n");
}

TEST(log_is_safe)
{
	log_error("%s", "a\nb\x1b[2J\x7f\x01\tz");
	CHECK_TEXT(unit_messages(), "prof: a?b?[2J???z\n");
}

TEST(log_long_lines)
{
	char *text = malloc(100001);
	const char *got;

	CHECK(text);
	memset(text, 'x', 100000);
	text[100000] = '\0';
	for (size_t length = 2000; length < 2100; length++) {
		log_error("%.*s", (int)length, text);
		got = unit_messages();
		CHECK(!strncmp(got, "prof: xxx", 9));
		CHECK(strlen(got) <= length + 7);
		CHECK(got[strlen(got) - 1] == '\n');
	}
	log_error("%s", text);
	got = unit_messages();
	CHECK(got[strlen(got) - 1] == '\n' && got[strlen(got) - 2] == 'x');
	free(text);
}

TEST(log_progress_is_overwritten)
{
	log_progress("1 s");
	log_progress("2 s");
	log_note("end");
	CHECK_TEXT(unit_messages(), "prof: 1 s\r\033[Kprof: 2 s"
		   "\r\033[Kprof: end\n");
}

static int watched;

static void watch(void *context)
{
	watched += *(int *)context;
}

/* Whoever draws there is told before, and only if something comes. */
TEST(log_is_watched)
{
	int one = 1;

	log_watch(watch, &one);
	log_error("a");
	log_detail("not told");
	log_note("b");
	CHECK_U64(watched, 2);
	log_watch(NULL, NULL);
	log_note("c");
	CHECK_U64(watched, 2);
}
