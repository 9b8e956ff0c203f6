/* SPDX-License-Identifier: MIT */
/* Whose perf map it is; who a process is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc/identity.h"
#include "sym/jit.h"
#include "sys/system.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

enum { PID = 4194305 };		/* above the highest pid_max */

static void set_process(const char *status, const char *stat)
{
	unit_write_text("status", status);
	unit_write_text("stat", stat);
	redirect("/proc/4194305/status", "status");
	redirect("/proc/4194305/stat", "stat");
}

#define FIELDS " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "

TEST(identity_of_a_process)
{
	struct identity identity;

	set_process("Name:\tx\nUid:\t1\t1002\t3\t4\nNSpid:\t4194305\t77\t5\n",
		    "4194305 (a) S 1 b)\nc) (d)" FIELDS "250 99\n");
	CHECK(!identity_read(PID, &identity));
	CHECK_U64(identity.inner, 5);
	CHECK_U64(identity.uid, 1002);
	CHECK_U64(identity.started, 2500000000);
	/* Of a kernel without PID namespaces. */
	set_process("Uid:\t0\t0\t0\t0\n", "4194305 (x)" FIELDS "1 2\n");
	CHECK(!identity_read(PID, &identity));
	CHECK_U64(identity.inner, PID);
	CHECK_U64(identity.uid, 0);
	set_process("", "");
	CHECK(identity_read(PID, &identity));
	set_process("Uid:\t0\t0\t0\t0\n", "4194305 (x) S 1 2\n");
	CHECK(identity_read(PID, &identity));
	redirect("/proc/4194305/status", NULL);
	CHECK(identity_read(PID, &identity));
}

static const char map_path[] = "/tmp/perf-4194305.map";

static void write_map(const char *text)
{
	FILE *file;

	if (!text) {
		unlink(map_path);
		return;
	}
	file = fopen(map_path, "w");
	CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

TEST(jit_names)
{
	struct jit *jit = jit_new();
	struct jit_task task = { .tgid = PID };
	struct identity self;
	char stat[256];
	uint32_t late;

	CHECK(!identity_read((uint32_t)getpid(), &self));
	snprintf(stat, sizeof(stat), "1 (x)" FIELDS "%llu 0\n",
		 (unsigned long long)self.started / 10000000);
	{
		char status[128];

		snprintf(status, sizeof(status),
			 "Uid:\t0\t%u\t0\t0\nNSpid:\t%u\n", self.uid, PID);
		set_process(status, stat);
	}
	write_map(NULL);
	/* It has none: there is nothing to wait for. */
	CHECK(!jit_find(jit, &task, 0x1000, &late));
	CHECK_U64(late, 0);
	/* It is looked for once in a drain. */
	write_map("1000 10 one\n");
	CHECK(!jit_find(jit, &task, 0x1000, &late));
	jit_round(jit);
	CHECK_TEXT(jit_find(jit, &task, 0x100f, &late), "one");
	CHECK_U64(late, 0);
	CHECK(!jit_find(jit, &task, 0x1010, &late));
	CHECK(late);
	CHECK(!jit_late(jit, late, 0x1010));
	write_map("1000 10 one\n1010 10 two\n");
	jit_round(jit);
	CHECK_TEXT(jit_late(jit, late, 0x1010), "two");
	/* Its process is gone, but what was read stays. */
	redirect("/proc/4194305/status", NULL);
	write_map(NULL);
	jit_round(jit);
	CHECK_TEXT(jit_find(jit, &task, 0x1010, &late), "two");
	CHECK_TEXT(unit_messages(), "");
	jit_report(jit);
	CHECK_TEXT(unit_messages(), "");
	/* Another program with the number, which is gone, too. */
	task.born = system_now();
	CHECK(!jit_find(jit, &task, 0x1010, &late));
	jit_free(jit);
	jit_free(NULL);
}

/* The owner's number is another: not believed, and that is said. */
TEST(jit_of_another)
{
	struct jit *jit = jit_new();
	const struct jit_task task = { .tgid = PID };
	uint32_t late;

	set_process("Uid:\t1\t999999\t1\t1\n", "1 (x)" FIELDS "0 0\n");
	write_map("1000 10 one\n");
	/* What root wrote is believed. */
	if (!geteuid())
		CHECK(!chown(map_path, 12345, 12345));
	CHECK(!jit_find(jit, &task, 0x1000, &late));
	CHECK_U64(late, 0);
	jit_report(jit);
	CHECK(strstr(unit_messages(), "of another user"));
	write_map(NULL);
	jit_free(jit);
}
