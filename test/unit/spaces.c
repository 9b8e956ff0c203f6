/* SPDX-License-Identifier: MIT */
/* What code was where, at which time: made-up records and snapshots. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/text.h"
#include "proc/spaces.h"
#include "sys/system.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

/* Above the highest pid_max: there are no such processes. */
enum { PID = 4194305, CHILD = 4194306, OTHER = 4194307 };

static struct files *files;
static struct spaces *spaces;
static uint64_t begin;

static void nothing(void *context)
{
	(void)context;
}

/* Times of events are ns after `begin`. */
static void open_spaces(void)
{
	files = files_new();
	spaces = spaces_new(files);
	begin = system_now();
	spaces_listen(spaces, begin, nothing, NULL);
	spaces_round(spaces);
}

static void close_spaces(void)
{
	spaces_free(spaces);
	files_free(files);
}

static void set_maps(uint32_t pid, const char *text)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	snprintf(name, sizeof(name), "maps.%u", pid);
	if (text)
		unit_write_text(name, text);
	redirect(path, text ? name : NULL);
}

static void on_fork(uint32_t parent, uint32_t child, uint64_t time)
{
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_FORK, .time = begin + time,
			     .pid = child, .tid = child, .ppid = parent,
		     });
}

static void on_exec(uint32_t pid, uint64_t time)
{
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXEC, .time = begin + time,
			     .pid = pid, .tid = pid,
		     });
}

/* The inode is the sum of the path's letters; one page is mapped. */
static void on_map(uint32_t pid, uint64_t start, const char *path,
		   uint64_t time)
{
	struct side_event event = {
		.kind = SIDE_MAP, .time = begin + time, .pid = pid, .tid = pid,
		.map = { .start = start, .size = 0x1000, .path = path,
			 .major = 8 },
	};

	if (*path == '/' && path[1] != '/')
		for (const char *p = path; *p; p++)
			event.map.inode += (unsigned char)*p;
	spaces_event(spaces, &event);
}

static void on_lost(uint64_t since, uint64_t time)
{
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_LOST, .time = begin + time,
			     .lost_since = begin + since,
		     });
}

/* What was at the address in this span of time, in words. */
static const char *at_span(uint32_t pid, uint64_t address, uint64_t first,
			   uint64_t last, bool in_kernel)
{
	static const char *const notes[] = {
		"file", "unmapped", "remapped", "exec", "exited", "forbidden",
		"too many", "no proc", "elsewhere",
	};
	static char text[64];
	struct space_view view = spaces_view(spaces, &(struct space_moment){
		.tgid = pid, .tid = pid, .comm = "x", .first = begin + first,
		.last = begin + last, .in_kernel = in_kernel,
	});
	struct place place = spaces_find(spaces, &view, address);

	if (place.note != SPACE_FILE)
		return notes[place.note];
	snprintf(text, sizeof(text), "%s+%llx", files_name(files, place.file),
		 (unsigned long long)place.offset);
	return text;
}

static const char *at(uint32_t pid, uint64_t address, uint64_t time)
{
	return at_span(pid, address, time, time, false);
}

static void start(uint32_t pid, uint64_t time)
{
	on_exec(pid, time);
	on_map(pid, 0x1000, "/bin/x", time + 1);
}

/* --------------------------------------------------------------- records */

TEST(spaces_exec_and_maps)
{
	open_spaces();
	start(PID, 100);
	on_map(PID, 0x5000, "/lib/a", 200);
	CHECK_TEXT(at(PID, 0x1010, 150), "x+10");
	CHECK_TEXT(at(PID, 0x5010, 250), "a+10");
	CHECK_TEXT(at(PID, 0x2000, 250), "unmapped");
	/* The record tells that it was mapped later than that. */
	CHECK_TEXT(at(PID, 0x5010, 150), "remapped");
	CHECK_TEXT(at_span(PID, 0x5010, 150, 210, false), "a+10");
	/* Before all that is known of this number. */
	CHECK_TEXT(at(PID, 0x1010, 50), "exited");
	CHECK_TEXT(at(OTHER, 0x1010, 150), "exited");
	CHECK_TEXT(at(0, 0x1010, 150), "elsewhere");
	close_spaces();
}

/*
 * Samples without times: of a process that is gone, what its first thread was
 * called before the exec is of another program; a look in vain changes nothing.
 */
TEST(spaces_without_times)
{
	open_spaces();
	spaces_timeless(spaces);
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXEC, .time = begin + 100,
			     .pid = PID, .tid = PID, .comm = "y",
		     });
	on_map(PID, 0x1000, "/bin/y", 110);
	CHECK_TEXT(at(PID, 0x1010, 200), "remapped");
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXEC, .time = begin + 100,
			     .pid = OTHER, .tid = OTHER, .comm = "x",
		     });
	on_map(OTHER, 0x1000, "/bin/x", 110);
	CHECK_TEXT(at(OTHER, 0x2000, 200), "unmapped");
	CHECK_TEXT(at(OTHER, 0x1010, 200), "x+10");
	/* Only forked, never another program. */
	on_fork(OTHER, CHILD, 150);
	CHECK_TEXT(at(CHILD, 0x1010, 200), "x+10");
	close_spaces();
}

/* The same name, the same addresses, another program. */
TEST(spaces_exec_again)
{
	open_spaces();
	start(PID, 100);
	on_exec(PID, 300);
	on_map(PID, 0x1000, "/bin/y", 310);
	on_exec(PID, 500);
	on_map(PID, 0x1000, "/bin/x", 510);
	CHECK_TEXT(at(PID, 0x1010, 200), "x+10");
	CHECK_TEXT(at(PID, 0x1010, 400), "y+10");
	CHECK_TEXT(at(PID, 0x1010, 600), "x+10");
	CHECK_TEXT(at_span(PID, 0x1010, 290, 320, false), "remapped");
	/* Over both changes: it was not one thing all the time. */
	CHECK_TEXT(at_span(PID, 0x1010, 290, 600, false), "remapped");
	/* Only the old one had that. */
	on_map(PID, 0x5000, "/lib/a", 600);
	on_exec(PID, 700);
	CHECK_TEXT(at_span(PID, 0x5000, 690, 710, false), "a+0");
	CHECK_TEXT(at(PID, 0x5000, 710), "unmapped");
	close_spaces();
}

/* dlclose(3), and dlopen(3) of something else at the same address. */
TEST(spaces_address_used_again)
{
	open_spaces();
	start(PID, 100);
	on_map(PID, 0x5000, "/lib/a", 200);
	on_map(PID, 0x5000, "/lib/b", 400);
	on_map(PID, 0x5000, "/lib/a", 600);
	CHECK_TEXT(at(PID, 0x5010, 300), "a+10");
	CHECK_TEXT(at(PID, 0x5010, 500), "b+10");
	CHECK_TEXT(at(PID, 0x5010, 700), "a+10");
	CHECK_TEXT(at_span(PID, 0x5010, 390, 410, false), "remapped");
	CHECK_TEXT(at_span(PID, 0x1010, 390, 410, false), "x+10");
	/* The same file again is no change. */
	on_map(PID, 0x5000, "/lib/a", 800);
	CHECK_TEXT(at_span(PID, 0x5010, 700, 900, false), "a+10");
	close_spaces();
}

TEST(spaces_fork)
{
	open_spaces();
	start(PID, 100);
	on_map(PID, 0x5000, "/lib/before", 200);
	on_fork(PID, CHILD, 300);
	on_map(PID, 0x7000, "/lib/after", 400);
	on_map(PID, 0x5000, "/lib/other", 410);
	on_map(CHILD, 0x9000, "/lib/child", 500);
	CHECK_TEXT(at(CHILD, 0x1010, 600), "x+10");
	CHECK_TEXT(at(CHILD, 0x5010, 600), "before+10");
	CHECK_TEXT(at(CHILD, 0x7010, 600), "unmapped");
	CHECK_TEXT(at(CHILD, 0x9010, 600), "child+10");
	CHECK_TEXT(at(PID, 0x5010, 600), "other+10");
	CHECK_TEXT(at(PID, 0x9010, 600), "unmapped");
	/* A thread has no memory of its own. */
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_FORK, .time = begin + 700,
			     .pid = PID, .tid = OTHER, .ppid = PID,
		     });
	CHECK_TEXT(at(PID, 0x7010, 800), "after+10");
	close_spaces();
}

/* vfork(2): the parent's memory until the exec. */
TEST(spaces_vfork_exec)
{
	open_spaces();
	start(PID, 100);
	on_fork(PID, CHILD, 200);
	on_exec(CHILD, 300);
	on_map(CHILD, 0x1000, "/bin/true", 310);
	CHECK_TEXT(at(CHILD, 0x1010, 250), "x+10");
	CHECK_TEXT(at(CHILD, 0x1010, 350), "true+10");
	CHECK_TEXT(at(PID, 0x1010, 350), "x+10");
	close_spaces();
}

/* A process number is given to somebody else. */
TEST(spaces_number_is_reused)
{
	open_spaces();
	start(PID, 100);
	on_fork(PID, CHILD, 200);
	start(CHILD, 210);
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXIT, .time = begin + 300,
			     .pid = CHILD, .tid = CHILD, .ppid = PID,
		     });
	on_fork(PID, CHILD, 400);
	on_exec(CHILD, 500);
	on_map(CHILD, 0x1000, "/bin/next", 510);
	CHECK_TEXT(at(CHILD, 0x1010, 250), "x+10");
	CHECK_TEXT(at(CHILD, 0x1010, 450), "x+10");
	CHECK_TEXT(at(CHILD, 0x1010, 550), "next+10");
	close_spaces();
}

/* In the kernel the old registers last until the exec is over. */
TEST(spaces_in_exec)
{
	open_spaces();
	start(PID, 100);
	on_map(PID, 0x5000, "/lib/a", 150);
	on_exec(PID, 10000000);
	on_map(PID, 0x1000, "/bin/y", 10000100);
	on_map(PID, 0x8000, "[vdso]", 10000200);
	/* Where the old one called execve(2). */
	CHECK_TEXT(at_span(PID, 0x1010, 10000150, 10000150, true), "x+10");
	CHECK_TEXT(at_span(PID, 0x9010, 10000150, 10000150, true), "exec");
	CHECK_TEXT(at_span(PID, 0x1010, 10000150, 10000150, false), "y+10");
	/* Just behind it, it is not known of an address of both. */
	CHECK_TEXT(at_span(PID, 0x1010, 10000300, 10000300, true), "remapped");
	CHECK_TEXT(at_span(PID, 0x5010, 10000300, 10000300, true), "a+10");
	CHECK_TEXT(at_span(PID, 0x8010, 10000300, 10000300, true), "vdso+10");
	CHECK_TEXT(at_span(PID, 0x1010, 10000300, 10000300, false), "y+10");
	CHECK_TEXT(at_span(PID, 0x1010, 20000000, 20000000, true), "y+10");
	/* A child of it is in no exec. */
	on_fork(PID, CHILD, 10000250);
	CHECK_TEXT(at_span(CHILD, 0x1010, 10000300, 10000300, true), "y+10");
	close_spaces();
}

TEST(spaces_memory)
{
	open_spaces();
	start(PID, 100);
	on_map(PID, 0x5000, "//anon", 200);
	on_map(PID, 0x6000, "[heap]", 200);
	on_map(PID, 0x7000, "[stack]", 200);
	on_map(PID, 0x8000, "[vdso]", 200);
	on_map(PID, 0x7fff00000000, "[vdso]", 200);
	CHECK_TEXT(at(PID, 0x5010, 300), "anon+5010");
	CHECK_TEXT(at(PID, 0x6010, 300), "heap+6010");
	CHECK_TEXT(at(PID, 0x7010, 300), "stack+7010");
	CHECK_TEXT(at(PID, 0x8010, 300), "vdso+10");
	CHECK_TEXT(at(PID, 0x7fff00000010, 300), "vdso+10");
	/* In the kernel's half, and nobody tells of it. */
	CHECK_TEXT(at(PID, 0xffffffffff600400, 300), "vsyscall+0");
	CHECK_TEXT(at(PID, 0xffffffffff601000, 300), "unmapped");
	/* All memory is the same: growing is no change. */
	on_map(PID, 0x5000, "//anon", 400);
	CHECK_TEXT(at_span(PID, 0x5010, 300, 500, false), "anon+5010");
	close_spaces();
}

/* ------------------------------------------------------------- snapshots */

static const char snapshot[] =
	"00001000-00002000 r-xp 00000000 08:00 77 /bin/old\n"
	"00005000-00006000 r-xp 00000000 08:00 78 /lib/old\n"
	"00005800-00005900 rw-p 00000000 08:00 79 /lib/data\n";

/* It ran before; what is read later was there, unless a record says else. */
TEST(spaces_snapshot)
{
	open_spaces();
	set_maps(PID, snapshot);
	on_map(PID, 0x5000, "/lib/new", 200);
	on_map(PID, 0x7000, "/lib/more", 300);
	CHECK_TEXT(at(PID, 0x1010, 100), "old+10");
	CHECK_TEXT(at(PID, 0x7010, 400), "more+10");
	CHECK_TEXT(at(PID, 0x9010, 400), "unmapped");
	/* What was there before the record's is gone. */
	CHECK_TEXT(at(PID, 0x5010, 100), "remapped");
	CHECK_TEXT(at(PID, 0x5010, 250), "new+10");
	close_spaces();
}

/* All that was known serves when it is gone, and what is read once is kept. */
TEST(spaces_snapshot_then_gone)
{
	open_spaces();
	set_maps(PID, snapshot);
	spaces_look(spaces, PID);
	set_maps(PID, NULL);
	spaces_round(spaces);
	CHECK_TEXT(at(PID, 0x1010, 100), "old+10");
	CHECK_TEXT(at(PID, 0x9010, 100), "unmapped");
	on_map(PID, 0x1000, "/bin/new", 200);
	CHECK_TEXT(at(PID, 0x1010, 100), "old+10");
	CHECK_TEXT(at(PID, 0x1010, 300), "new+10");
	close_spaces();
}

/* Code that was moved to huge pages is still that of its file. */
TEST(spaces_snapshot_of_huge_pages)
{
	open_spaces();
	set_maps(PID,
		 "1000-2000 r-xp 00000000 08:00 77 /bin/old\n"
		 "2000-5000 r-xp 00000000 00:00 0 \n"
		 "5000-6000 r-xp 00004000 08:00 77 /bin/old\n"
		 "6000-7000 rwxp 00000000 00:00 0 \n"
		 "7000-8000 r-xp 00007000 08:00 77 /bin/old\n");
	CHECK_TEXT(at(PID, 0x3010, 100), "old+2010");
	/* This does not fit. */
	CHECK_TEXT(at(PID, 0x6010, 100), "anon+6010");
	close_spaces();
}

/* The leader has exited; its maps are empty, those of a thread are not. */
TEST(spaces_snapshot_by_thread)
{
	struct space_view view;

	open_spaces();
	set_maps(PID, "");
	set_maps(OTHER, snapshot);
	view = spaces_view(spaces, &(struct space_moment){
		.tgid = PID, .tid = OTHER, .comm = "x",
		.first = begin + 100, .last = begin + 100,
	});
	CHECK(spaces_find(spaces, &view, 0x1010).note == SPACE_FILE);
	close_spaces();
}

/* The leader exited long ago; when the last thread has, its samples still come. */
TEST(spaces_leader_exited_before)
{
	uint32_t pid;

	open_spaces();
	pid = (uint32_t)fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	set_maps(pid, snapshot);
	spaces_look(spaces, pid);
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXIT, .time = begin + 10,
			     .pid = pid, .tid = pid,
		     });
	usleep(250000);
	spaces_round(spaces);
	kill((pid_t)pid, SIGKILL);
	CHECK(waitpid((pid_t)pid, NULL, 0) == (pid_t)pid);
	set_maps(pid, NULL);
	spaces_round(spaces);
	CHECK_TEXT(at(pid, 0x1010, 100), "old+10");
	close_spaces();
}

/* A child of one of which nothing was known, and which is gone by now. */
TEST(spaces_snapshot_of_parent)
{
	open_spaces();
	set_maps(PID, snapshot);
	on_fork(PID, CHILD, 100);
	on_map(CHILD, 0x7000, "/lib/more", 200);
	on_map(PID, 0x5000, "/lib/new", 300);
	CHECK_TEXT(at(CHILD, 0x1010, 400), "old+10");
	CHECK_TEXT(at(CHILD, 0x7010, 400), "more+10");
	/* The parent's is another one since, and what it was is not known. */
	CHECK_TEXT(at(CHILD, 0x5010, 400), "unmapped");
	close_spaces();
}

/* An exec while the snapshot was taken: what it tells is not used. */
static void exec_meanwhile(void *context)
{
	uint64_t *times = context;

	if ((*times)++)
		return;
	spaces_event(spaces, &(struct side_event){
			     .kind = SIDE_EXEC, .pid = PID, .tid = PID,
			     .time = *(times + 1),
		     });
}

TEST(spaces_snapshot_during_exec)
{
	uint64_t times[2] = { 0 };

	open_spaces();
	spaces_listen(spaces, begin, exec_meanwhile, times);
	set_maps(PID, snapshot);
	/* After it was read: that is the program of before. */
	times[1] = begin + 1000000000000;
	CHECK_TEXT(at(PID, 0x1010, 100), "old+10");
	close_spaces();
	/* In the same moment. */
	open_spaces();
	times[0] = 0;
	times[1] = begin;
	spaces_listen(spaces, begin, exec_meanwhile, times);
	begin -= 1000;
	CHECK_TEXT(at(PID, 0x1010, 100), "exited");
	close_spaces();
}

/* ----------------------------------------------------------------- losses */

TEST(spaces_lost_records)
{
	open_spaces();
	start(PID, 100);
	start(CHILD, 100);
	on_lost(200, 300);
	start(OTHER, 400);
	/* One lives: what it has now it had since. */
	set_maps(PID, snapshot);
	CHECK_TEXT(at(PID, 0x5010, 500), "old+10");
	CHECK_TEXT(at(PID, 0x1010, 500), "old+10");
	/* One is gone: it may have been another program. */
	CHECK_TEXT(at(CHILD, 0x1010, 500), "exited");
	/* One began later. */
	CHECK_TEXT(at(OTHER, 0x1010, 500), "x+10");
	close_spaces();
}

/* Looked at in time, one that ends before its samples are drained is known. */
TEST(spaces_lost_but_looked_again)
{
	open_spaces();
	start(PID, 100);
	start(CHILD, 100);
	set_maps(PID, snapshot);
	on_lost(200, 300);
	spaces_look_again(spaces);
	set_maps(PID, NULL);
	/* There was another one at that time, but no longer. */
	CHECK_TEXT(at(PID, 0x1010, 150), "remapped");
	CHECK_TEXT(at(PID, 0x5010, 250), "old+10");
	CHECK_TEXT(at(PID, 0x5010, 500), "old+10");
	CHECK_TEXT(at(CHILD, 0x1010, 500), "exited");
	/* Not again and again. */
	set_maps(PID, snapshot);
	on_lost(1000000000000, 2000000000000);
	spaces_look_again(spaces);
	set_maps(PID, NULL);
	CHECK_TEXT(at(PID, 0x1010, 3000000000000), "exited");
	close_spaces();
}

/* ------------------------------------------------------------------ bounds */

/* A drain later, what was before it is forgotten. */
TEST(spaces_forget)
{
	struct spaces_cost cost;

	open_spaces();
	for (uint32_t i = 0; i < 5000; i++) {
		on_fork(PID, CHILD + i, 100 + i);
		start(CHILD + i, 100 + i);
		spaces_event(spaces, &(struct side_event){
				     .kind = SIDE_EXIT, .time = begin + 101 + i,
				     .pid = CHILD + i, .tid = CHILD + i,
			     });
	}
	cost = spaces_cost(spaces);
	CHECK_U64(cost.spaces, 5001);
	CHECK_U64(cost.ranges, 5000);
	CHECK_TEXT(at(CHILD + 7, 0x1010, 200), "x+10");
	/* They are found gone, and what was drained with that still comes. */
	spaces_round(spaces);
	CHECK_TEXT(at(CHILD + 7, 0x1010, 200), "x+10");
	usleep(250000);
	spaces_round(spaces);
	spaces_round(spaces);
	CHECK_TEXT(at(CHILD + 8, 0x1010, 200), "exited");
	cost = spaces_cost(spaces);
	CHECK(cost.spaces < 10);
	CHECK_U64(cost.ranges, 0);
	/* Their numbers come again. */
	for (uint32_t i = 0; i < 5000; i++)
		start(CHILD + i, 300000000 + i);
	CHECK_U64(spaces_cost(spaces).spaces, 5001);
	CHECK_TEXT(at(CHILD + 4999, 0x1010, 400000000), "x+10");
	close_spaces();
}

/* One that maps and maps: what it costs has an end, and nothing is wrong. */
TEST(spaces_many_changes)
{
	static const char *const paths[] = { "/lib/a", "/lib/b" };

	open_spaces();
	start(PID, 100);
	for (uint64_t i = 0; i < 10000; i++)
		on_map(PID, 0x5000, paths[i % 2], 1000 + i * 10);
	CHECK_TEXT(at(PID, 0x5010, 1000 + 9999 * 10 + 5), "b+10");
	CHECK_TEXT(at(PID, 0x5010, 1000 + 9990 * 10 + 5), "a+10");
	CHECK(spaces_cost(spaces).ranges < 2000);
	for (uint64_t i = 0; i < 300000; i++)
		on_map(PID, 0x100000 + i * 0x2000, "/lib/c", 200000 + i);
	/* The old ones stay as long as samples of them can come. */
	CHECK(spaces_cost(spaces).ranges < 310000);
	CHECK_TEXT(at(PID, 0x100010 + 299999 * 0x2000ull, 600000), "c+10");
	close_spaces();
}

/* Files of programs that came and went are forgotten, but for those shown. */
TEST(spaces_many_files)
{
	char path[32];

	open_spaces();
	files_pin(files, files_add(files, &(struct file_key){ .inode = 1 },
				   "/shown"));
	for (unsigned int i = 0; i < 20000; i++) {
		snprintf(path, sizeof(path), "/tmp/%u", i);
		on_exec(PID, i);
		on_map(PID, 0x1000, path, i);
		if (i % 1000 == 999)
			spaces_round(spaces);
	}
	CHECK_U64(files_add(files, &(struct file_key){ .inode = 1 }, "/shown"),
		  2);
	CHECK_TEXT(at(PID, 0x1010, 20001), "19999+10");
	CHECK(files_add(files, &(struct file_key){ .inode = 2 }, "/new") <
	      10000);
	close_spaces();
}
