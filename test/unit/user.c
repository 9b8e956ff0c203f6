/* SPDX-License-Identifier: MIT */
/* User frames: files and offsets, and when a process is looked at again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sym/user.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

enum { PID = 4194305 };		/* above the highest pid_max */

static const char maps_text[] =
	"00400000-00401000 r--p 00000000 fe:00 1 /bin/prog\n"
	"00401000-00403000 r-xp 00001000 fe:00 1 /bin/prog\n"
	"7f3a1c028000-7f3a1c1bd000 r-xp 00028000 fe:00 2 /usr/lib/libc.so.6\n"
	"7f3a1d000000-7f3a1d001000 rwxp 00000000 00:00 0 \n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]\n";

static void set_maps(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", PID);
	if (text)
		unit_write_text("maps", text);
	redirect(path, text ? "maps" : NULL);
}

/* The text of one address: of a stack's leaf, or of the call above it. */
static const char *frame(struct user_names *names, const char *comm,
			 uint64_t address, bool call)
{
	static struct text text;
	const struct space_moment task = {
		.tgid = PID, .tid = PID, .comm = comm, .first = 1, .last = 2,
	};
	const uint64_t ip[] = { address, address };
	struct user_frame frames[2];

	user_names_stack(names, &task, ip, call ? 2 : 1, frames);
	text.length = 0;
	user_names_text(names, &frames[call], &text);
	return text.data;
}

static void set_comm(const char *comm)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", PID, PID);
	if (comm)
		unit_write_text("comm", comm);
	redirect(path, comm ? "comm" : NULL);
}

TEST(user_frames)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x7f3a1c029234, false),
		   "[libc.so.6+0x29234]");
	/* A return address: the call before it is meant. */
	CHECK_TEXT(frame(names, "p", 0x7f3a1c029234, true),
		   "[libc.so.6+0x29233]");
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	CHECK_TEXT(frame(names, "p", 0x402fff, false), "[prog+0x2fff]");
	/* The call was the last instruction of the mapping. */
	CHECK_TEXT(frame(names, "p", 0x403000, true), "[prog+0x2fff]");
	CHECK_TEXT(frame(names, "p", 0x403000, false), "[unmapped]");
	CHECK_TEXT(frame(names, "p", 0x401000, true), "[unmapped]");
	CHECK_TEXT(frame(names, "p", 0x7f3a1d000010, false),
		   "[anon]");
	CHECK_TEXT(frame(names, "p", 0x7ffd00000123, false), "[vdso+0x123]");
	CHECK_TEXT(frame(names, "p", 0, false), "[unmapped]");
	CHECK_TEXT(frame(names, "p", 0, true), "[unmapped]");
	CHECK_TEXT(frame(names, "p", UINT64_MAX, false),
		   "[unmapped]");
	user_names_free(names);
	user_names_free(NULL);
}

TEST(user_gone)
{
	struct user_names *names = user_names_new(false);

	set_maps(NULL);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[exited]");
	CHECK_TEXT(unit_messages(), "");
	user_names_free(names);
}

/* In another PID namespace the number means somebody else. */
static void check_blind(int error, const char *advice)
{
	struct user_names *names;
	const char *text;

	redirect_numbers = error;
	set_maps(maps_text);
	names = user_names_new(false);
	text = unit_messages();
	CHECK(strstr(text, "have no names") && strstr(text, advice));
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[no /proc]");
	CHECK_TEXT(frame(names, "p", 0x401000, true), "[no /proc]");
	user_names_free(names);
}

TEST(user_blind)
{
	check_blind(-EXDEV, "namespace");
	check_blind(-ENOENT, "mount");
}

/* What it has opened since (dlopen) is found in the next drain. */
TEST(user_looks_again)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	CHECK_TEXT(frame(names, "p", 0x500010, false), "[unmapped]");
	set_maps("00401000-00403000 r-xp 00001000 fe:00 1 /bin/prog\n"
		 "00500000-00501000 r-xp 00000000 fe:00 3 /lib/plugin.so\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x500010, false), "[plugin.so+0x10]");
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	/* Closed, and something else there. */
	set_maps("00500000-00501000 r-xp 00000000 fe:00 3 /lib/other.so\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x500010, false), "[other.so+0x10]");
	user_names_free(names);
}

/* In one drain it is read once, whatever is asked. */
TEST(user_looks_once)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x500010, false), "[unmapped]");
	set_maps("00500000-00501000 r-xp 00000000 fe:00 3 /lib/plugin.so\n");
	CHECK_TEXT(frame(names, "p", 0x500010, false), "[unmapped]");
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	user_names_free(names);
}

/* Maps that were read in time serve on when the process has ended. */
TEST(user_keeps_what_it_read)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	set_maps(NULL);
	for (int i = 0; i < 10; i++) {
		user_names_round(names);
		CHECK_TEXT(frame(names, "p", 0x999000, false), "[exited]");
		CHECK_TEXT(frame(names, "p", 0x401000, false),
			   "[prog+0x1000]");
	}
	/* Nor does a zombie, whose maps are empty, take them away. */
	set_maps("");
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	user_names_report(names);
	CHECK_TEXT(unit_messages(), "");
	user_names_free(names);
}

/* A thread that is called otherwise now runs another program, maybe. */
TEST(user_new_comm)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	set_comm("sh\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "sh", 0x401000, false), "[prog+0x1000]");
	/* It has executed; the sample is of before, the maps of after. */
	set_maps("00401000-00402000 r-xp 00000000 fe:00 3 /bin/other\n");
	set_comm("other\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "sh", 0x401000, false), "[remapped]");
	CHECK_TEXT(frame(names, "other", 0x401000, false), "[other+0x0]");
	/* As long as it can be: cut at 15 bytes, in both places. */
	set_comm("fifteen_bytes_x\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "fifteen_bytes_x", 0x401000, false),
		   "[other+0x0]");
	/* With newlines, and none of its own to be cut off but the last. */
	set_comm("a\nb\n\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "a\nb\n", 0x401000, false), "[other+0x0]");
	user_names_free(names);
}

/* Gone: there are no maps but those that were read while it was there. */
TEST(user_gone_after_a_look)
{
	struct user_names *names = user_names_new(false);

	set_maps(maps_text);
	set_comm("p\n");
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	set_maps(NULL);
	set_comm(NULL);
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x401000, false), "[prog+0x1000]");
	user_names_free(names);
}

/* One with very many mappings is not looked at, and that is said. */
TEST(user_too_many_mappings)
{
	struct user_names *names = user_names_new(false);
	FILE *file = fopen("maps", "w");
	char path[64];

	CHECK(file);
	for (unsigned int i = 0; i < 80000; i++)
		fprintf(file, "%x000-%x000 r-xp 00000000 fe:00 1 /bin/x\n",
			i + 1, i + 2);
	CHECK(!fclose(file));
	snprintf(path, sizeof(path), "/proc/%u/maps", PID);
	redirect(path, "maps");
	user_names_round(names);
	CHECK_TEXT(frame(names, "p", 0x1000, false), "[too many mappings]");
	user_names_report(names);
	CHECK(strstr(unit_messages(), "too many mappings"));
	/* Others are looked at all the same. */
	unit_write_text("others", maps_text);
	redirect("/proc/4194306/maps", "others");
	{
		const struct space_moment task = {
			.tgid = PID + 1, .tid = PID + 1, .comm = "q",
			.first = 1, .last = 2,
		};
		const uint64_t ip = 0x401000;
		struct user_frame frame;

		user_names_stack(names, &task, &ip, 1, &frame);
		CHECK_U64(frame.value, 0x1000);
		CHECK(frame.file);
	}
	user_names_free(names);
}

/* The idle task has no maps. */
TEST(user_of_nobody)
{
	struct user_names *names = user_names_new(false);
	const struct space_moment task = { .comm = "swapper/0" };
	const uint64_t ip = 0x401000;
	struct user_frame frame;

	unit_write_text("maps", maps_text);
	redirect("/proc/0/maps", "maps");
	user_names_round(names);
	user_names_stack(names, &task, &ip, 1, &frame);
	CHECK_U64(frame.value, 0);
	CHECK_U64(frame.file, 0);
	user_names_free(names);
}

/* So many that all are forgotten now and then; what was given stays right. */
TEST(user_many_processes)
{
	struct user_names *names = user_names_new(false);
	struct space_moment task = {
		.tgid = PID, .tid = PID, .comm = "p", .first = 1, .last = 2,
	};
	struct user_frame first, frame;
	struct text text = { 0 };
	uint64_t ip = 0x401000;

	set_maps(maps_text);
	user_names_round(names);
	user_names_stack(names, &task, &ip, 1, &first);
	for (uint32_t i = 1; i < 20000; i++) {
		if (i % 1000 == 0)
			user_names_round(names);
		task.tgid = task.tid = PID + i;
		ip = i;
		user_names_stack(names, &task, &ip, 1, &frame);
	}
	user_names_text(names, &frame, &text);
	user_names_text(names, &first, &text);
	CHECK_TEXT(text.data, "[exited][prog+0x1000]");
	text_free(&text);
	user_names_free(names);
}

/* Equal frames are equal as bytes, whichever process they are of. */
TEST(user_frames_compare)
{
	struct user_names *names = user_names_new(false);
	const struct space_moment p = {
		.tgid = PID, .tid = PID, .comm = "p", .first = 1, .last = 2,
	};
	const struct space_moment q = {
		.tgid = PID + 1, .tid = PID + 2, .comm = "q",
		.first = 3, .last = 4,
	};
	const uint64_t ip[] = { 0x401000, 0x401001, 0x999000 };
	struct user_frame a[3], b[3];

	set_maps(maps_text);
	redirect("/proc/4194306/maps", "maps");
	memset(a, 'x', sizeof(a));
	memset(b, 'y', sizeof(b));
	user_names_round(names);
	user_names_stack(names, &p, ip, 3, a);
	user_names_stack(names, &q, ip, 3, b);
	CHECK(!memcmp(a, b, sizeof(a)));
	CHECK(!memcmp(&a[0], &a[1], sizeof(*a)));
	user_names_stack(names, &p, ip, 0, a);
	user_names_free(names);
}
