/* SPDX-License-Identifier: MIT */
/* Recordings read back: folded stacks and pprof, good, odd, and hostile. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "in/in.h"
#include "lib/pack.h"
#include "lib/text.h"
#include "lib/wire.h"
#include "out/out.h"
#include "test/unit/unit.h"

#define SHOW_ALL (SHOW_KERNEL | SHOW_USER | SHOW_IDLE)

static struct meta meta;

/* The profile as folded lines, to be freed. */
static char *folded(struct profile *profile)
{
	char *text;

	CHECK(profile);
	CHECK(!out_write(profile, &meta, out_named("folded"), "out"));
	text = unit_read("out", NULL);
	CHECK(text);
	return text;
}

static void check_read(const char *path, unsigned int show, const char *want)
{
	struct profile *profile = in_read(path, show, &meta);
	char *text;

	if (!profile)
		unit_fail(__FILE__, __LINE__, "%s", unit_messages());
	text = folded(profile);
	CHECK_TEXT(text, want);
	free(text);
	profile_free(profile);
	meta_free(&meta);
}

static void check_folded(const char *text, const char *want)
{
	unit_write_text("in", text);
	check_read("in", SHOW_ALL, want);
}

static void check_refused(const char *path, const char *message)
{
	CHECK(!in_read(path, SHOW_ALL, &meta));
	CHECK_TEXT(unit_messages(), message);
	meta_free(&meta);
}

/* ------------------------------------------------------------------ folded */

TEST(in_folded_same)
{
	static const char text[] =
		"a;b;c_[k] 12\n"
		"a;[libc.so.6+0x12];[0x7f00];[truncated];x_[j];y_[i] 5\n"
		"swapper/0;do_idle_[k] 4\n"
		"comm alone 3\n"
		"x y;[no stack] 1\n";

	check_folded(text, text);
}

TEST(in_folded_merges)
{
	check_folded("a;b 1\na;c 2\na;b 3\n", "a;b 4\na;c 2\n");
}

/* What a line has in common with the one before is not read again. */
TEST(in_folded_begin_alike)
{
	static const char text[] =
		"a;main;working;on_the_left 12\n"
		"a;main;working;on_the_right 11\n"
		"a;main;worki 10\n"
		"a;main;working 9\n"
		"a;main;working;on_the_right;side 8\n"
		"b;main;working;on_the_right;side 7\n"
		"b;main;workingon_the_right;side 6\n"
		"b;main 5\n"
		"a 4\n"
		"a;main 3\n"
		"a;main;[unknown];working 2\n"
		"a;main_[k];working_[k] 1\n";

	check_folded(text, text);
	check_folded("a;b;;c 2\na;b; 1\n",
		     "a;b;[unknown];c 2\na;b;[unknown] 1\n");
}

TEST(in_folded_endings)
{
	check_folded("", "");
	check_folded("\n\n", "");
	check_folded("a;b 1", "a;b 1\n");
	check_folded("a;b 1\r\nc 2\t\r\n", "c 2\na;b 1\n");
	check_folded("  1 2\na 3\n", "a 3\n _1 2\n");
	check_folded("a;b\t \t7 \n", "a;b 7\n");
	check_folded("# a comment\n#not;one 3\n", "_not;one 3\n");
	CHECK_TEXT(unit_messages(), "");
}

TEST(in_folded_numbers)
{
	check_folded("a 1.2\nb 2.5\nc 3.\nd 0\n", "b 3\nc 3\na 1\n");
	check_folded("a 9223372036854775807\n", "a 9223372036854775807\n");
	unit_write_text("in", "a 9223372036854775807\nb 1\n");
	check_refused("in", "prof: in: line 2: too much: all samples have to "
		      "fit 63 bits, and all frames 1 GB\n");
	unit_write_text("in", "a 9223372036854775808\n");
	check_refused("in", "prof: in: line 1: too much: all samples have to "
		      "fit 63 bits, and all frames 1 GB\n");
}

TEST(in_folded_unsafe_names)
{
	check_folded("a\x1b[2J;b\xff;<c>;;\xc2\x9b 1\n",
		     "a?[2J;b\xef\xbf\xbd;<c>;[unknown];? 1\n");
	/* Only the first line says that there are two numbers. */
	check_folded("a;b 1\na;c 12 5\n", "a;c_12 5\na;b 1\n");
}

TEST(in_folded_bad_lines)
{
	check_folded("x\na;b 1\nno number\n12\n 12\na b;c 1e5\n-;x -4\n"
		     "a;b 1\na;b 1\na;b 1\na;b 1\na;b 1\n", "a;b 6\n");
	CHECK_TEXT(unit_messages(),
		   "prof: warning: in: line 1: no number of samples at its "
		   "end: left out\n"
		   "prof: warning: in: line 3: no number of samples at its "
		   "end: left out\n"
		   "prof: warning: in: line 4: no number of samples at its "
		   "end: left out\n"
		   "prof: warning: in: 3 more lines: left out\n");
	unit_write_text("in", "what is this\n");
	check_refused("in", "prof: warning: in: line 1: no number of samples "
		      "at its end: left out\nprof: in: read: neither folded "
		      "stacks nor pprof\n");
	/* Any text has a line or two that end in a number. */
	unit_write_text("in", "Chapter 1\nWhat it is\nand why\n");
	check_refused("in", "prof: warning: in: line 2: no number of samples "
		      "at its end: left out\nprof: warning: in: line 3: no "
		      "number of samples at its end: left out\nprof: in: read: "
		      "neither folded stacks nor pprof\n");
	check_folded("a 18446744073709551616\nb 1\n", "b 1\n");
}

TEST(in_folded_shows)
{
	static const char text[] = "a;u;k_[k] 4\nb;u 2\n"
				   "swapper/0;idle_[k] 1\n";

	unit_write_text("in", text);
	check_read("in", SHOW_KERNEL, "a;k_[k] 4\n");
	check_read("in", SHOW_USER, "a;u 4\nb;u 2\n");
	check_read("in", SHOW_USER | SHOW_KERNEL, "a;u;k_[k] 4\nb;u 2\n");
}

TEST(in_folded_modes)
{
	struct profile *profile;

	unit_write_text("in", "a;u;k_[k] 1\na;u 2\nswapper/1;i_[k] 4\n"
			"swapper/1;i_[k];__do_softirq_[k] 8\na 16\n"
			"a;[no stack] 32\nksoftirqd/0;run_ksoftirqd_[k] 64\n");
	profile = in_read("in", SHOW_USER | SHOW_KERNEL, &meta);
	CHECK(profile);
	CHECK_U64(profile->by_mode[MODE_KERNEL], 1);
	CHECK_U64(profile->by_mode[MODE_USER], 2);
	CHECK_U64(profile->filtered, 4);
	CHECK_U64(profile->by_mode[MODE_SOFTIRQ], 8 + 64);
	CHECK_U64(profile->by_mode[MODE_UNKNOWN], 16 + 32);
	CHECK_U64(profile->total, 127 - 4);
	profile_free(profile);
	meta_free(&meta);
}

TEST(in_folded_deep)
{
	struct text text = { 0 };
	struct profile *profile;

	text_add(&text, "a", 1);
	for (int i = 0; i < 100000; i++)
		text_format(&text, ";f%d", i % 10);
	text_add(&text, " 1\n", 3);
	unit_write_text("in", text.data);
	profile = in_read("in", SHOW_ALL, &meta);
	CHECK(profile && profile->stack_count == 1);
	CHECK_U64(profile->stacks[0].depth, 4097);
	text_free(&text);
	text_add(&text, "a 1\n", 4);
	for (int i = 0; i < 1100000; i++)
		text_add(&text, "x", 1);
	unit_write_text("in", text.data);
	meta_free(&meta);
	check_refused("in", "prof: in: line 2: longer than 1 MB\n");
	text_free(&text);
	profile_free(profile);
}

TEST(in_not_files)
{
#define ADVICE "      give a file of folded stacks or pprof, or - for " \
	"standard input\n"
	check_refused("none", "prof: none: open: No such file or directory\n"
		      ADVICE);
	check_refused(".", "prof: .: open: Is a directory\n" ADVICE);
	check_refused("/dev/zero", "prof: /dev/zero: open: a device has no "
		      "end\n" ADVICE);
	/* A FIFO without a writer is empty, not a trap. */
	CHECK(!mkfifo("fifo", 0600));
	check_read("fifo", SHOW_ALL, "");
}

TEST(in_stdin)
{
	unit_write_text("in", "a;b 2\n");
	CHECK(freopen("in", "r", stdin));
	check_read("-", SHOW_ALL, "a;b 2\n");
}

/* ------------------------------------------------------------- comparisons */

static void check_compared(const char *old, const char *new, const char *want)
{
	struct profile *profile;
	char *text;

	unit_write_text("old", old);
	unit_write_text("new", new);
	profile = in_compare("old", "new", SHOW_ALL, &meta);
	CHECK(profile && meta.before);
	text = folded(profile);
	CHECK_TEXT(text, want);
	free(text);
	profile_free(profile);
	meta_free(&meta);
}

TEST(in_compare_matches)
{
	check_compared("a;b 2\na;gone 2\n", "a;b 1\na;come 3\n",
		       "a;come 0 3\na;b 2 1\na;gone 2 0\n");
	/* The older one's ten samples weigh as five. */
	check_compared("a;b 10\n", "a;b 2\na;c 3\n",
		       "a;c 0 3\na;b 5 2\n");
	check_compared("", "a;b 1\n", "a;b 0 1\n");
	check_compared("a;b 1\n", "", "a;b 0 0\n");
}

TEST(in_compare_reads_its_own)
{
	static const char text[] = "a;come 0 3\na;b 2 1\na;gone 2 0\n";
	struct profile *profile;

	check_folded(text, text);
	check_folded("a;b 1 2\na;c 5\n", "a;b 2 2\n");
	CHECK_TEXT(unit_messages(), "prof: warning: in: line 2: no two numbers "
		   "at its end: left out\n");
	unit_write_text("old", text);
	unit_write_text("new", "a;b 3\n");
	profile = in_compare("old", "new", SHOW_ALL, &meta);
	CHECK(!profile);
	CHECK_TEXT(unit_messages(), "prof: old: --diff: is a comparison of two "
		   "recordings\n");
	meta_free(&meta);
	CHECK(!in_compare("new", "old", SHOW_ALL, &meta));
	CHECK_TEXT(unit_messages(), "prof: old: --diff: is a comparison of two "
		   "recordings\n");
	meta_free(&meta);
}

/* ------------------------------------------------------------------- pprof */

/* A message of numbers: field, value, ..., 0. */
static void put(struct text *to, unsigned int field, const uint64_t *numbers)
{
	struct text message = { 0 };

	for (; numbers[0]; numbers += 2)
		wire_put_number(&message, (unsigned int)numbers[0],
				numbers[1]);
	wire_put_text(to, field, &message);
	text_free(&message);
}

#define PUT(to, field, ...)						\
	put(to, field, (const uint64_t[]){ __VA_ARGS__, 0 })

static void put_strings(struct text *to)
{
	static const char *const strings[] = {
		"", "samples", "count", "cpu", "nanoseconds", "a", "b",
		"[kernel.kallsyms]", "comm", "x", "/bin/prog", "pprof::base",
		"true", "pid",
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		wire_put_bytes(to, 6, strings[i], strlen(strings[i]));
}

/* Two sample types, two functions; the samples are the test's. */
static void put_tables(struct text *to)
{
	struct text location = { 0 };

	PUT(to, 1, 1, 1, 2, 2);
	PUT(to, 1, 1, 3, 2, 4);
	PUT(to, 3, 1, 1, 5, 10);
	PUT(to, 3, 1, 2, 2, 0xffffffff81000000, 3, UINT64_MAX, 5, 7);
	PUT(to, 5, 1, 100, 2, 5);
	PUT(to, 5, 1, 7, 2, 6);
	/* 1: [prog+0x123]; 2: b inlined in a; 3: b of the kernel */
	PUT(to, 4, 1, 1, 2, 1, 3, 0x123);
	wire_put_number(&location, 1, 2);
	wire_put_number(&location, 2, 1);
	wire_put_number(&location, 3, 0x456);
	PUT(&location, 4, 1, 7);
	PUT(&location, 4, 1, 100);
	wire_put_text(to, 4, &location);
	location.length = 0;
	wire_put_number(&location, 1, 3);
	wire_put_number(&location, 2, 2);
	wire_put_number(&location, 3, 0xffffffff81000010);
	PUT(&location, 4, 1, 7);
	wire_put_text(to, 4, &location);
	text_free(&location);
}

/* Locations leaf first; label comm=x if `comm`. */
static void put_sample(struct text *to, const char *locations, uint64_t first,
		       uint64_t second, bool comm)
{
	struct text sample = { 0 }, list = { 0 };

	wire_put_bytes(&sample, 1, locations, strlen(locations));
	wire_put_varint(&list, first);
	wire_put_varint(&list, second);
	wire_put_text(&sample, 2, &list);
	if (comm)
		PUT(&sample, 3, 1, 8, 2, 9);
	wire_put_text(to, 2, &sample);
	text_free(&sample);
	text_free(&list);
}

static void write_pprof(struct text *text)
{
	unit_write("in", text->data, text->length);
	text_free(text);
}

TEST(in_pprof_names)
{
	struct text text = { 0 };

	put_tables(&text);
	put_sample(&text, "\x03\x02\x01", 3, 30, true);
	put_sample(&text, "\x02", 2, 20, false);
	put_sample(&text, "", 1, 10, true);
	put_strings(&text);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "x;[prog+0x123];a;b;b_[k] 3\n"
		   "prog;a;b 2\nx 1\n");
}

/* Numbers of a list one by one, unknown fields, strings first. */
TEST(in_pprof_other_shapes)
{
	struct text text = { 0 };

	put_strings(&text);
	PUT(&text, 2, 1, 3, 1, 2, 2, 5, 2, 50, 9, 1);
	PUT(&text, 200, 1, 1);
	wire_put_number(&text, 201, 1);
	put_tables(&text);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "prog;a;b;b_[k] 5\n");
}

/* What the file calls its default is read, unless it is the samples' time. */
TEST(in_pprof_chooses)
{
	struct text text = { 0 };

	put_tables(&text);
	put_sample(&text, "\x02", 2, 20, true);
	put_strings(&text);
	wire_put_number(&text, 14, 3);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "x;a;b 2\n");

	PUT(&text, 1, 1, 5, 2, 2);
	PUT(&text, 1, 1, 6, 2, 2);
	PUT(&text, 2, 2, 7, 2, 8);
	put_strings(&text);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "[unknown] 8\n");

	PUT(&text, 1, 1, 5, 2, 2);
	PUT(&text, 1, 1, 6, 2, 2);
	PUT(&text, 2, 2, 7, 2, 8);
	wire_put_number(&text, 14, 5);
	put_strings(&text);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "[unknown] 7\n");
}

TEST(in_pprof_meta)
{
	static const char *const comments[] = {
		"prof 0.1", "command: prof -d 1", "host: h", "kernel: k",
		"event: e", "cpus: 3",
		"balance: sampled 9 filtered 2 lost 1 expected 10",
		"note: n", "warning: w", "advice: a", "something else",
	};
	struct profile *profile;
	struct text text = { 0 };

	put_tables(&text);
	put_strings(&text);
	for (size_t i = 0; i < sizeof(comments) / sizeof(*comments); i++) {
		wire_put_bytes(&text, 6, comments[i], strlen(comments[i]));
		wire_put_number(&text, 13, 14 + i);
	}
	PUT(&text, 11, 1, 3, 2, 4);
	wire_put_number(&text, 12, 10101010);
	wire_put_number(&text, 9, 1700000000000000000);
	wire_put_number(&text, 10, 1000);
	write_pprof(&text);
	profile = in_read("in", SHOW_ALL, &meta);
	CHECK(profile);
	CHECK_TEXT(meta.program, "prof 0.1");
	CHECK_TEXT(meta.command, "prof -d 1");
	CHECK_TEXT(meta.host, "h");
	CHECK_TEXT(meta.kernel, "k");
	CHECK_TEXT(meta.event, "e");
	CHECK_TEXT(meta.source, "in");
	CHECK_TEXT(meta.type, "samples");
	CHECK_U64(meta.cpus, 3);
	CHECK(meta.clock && meta.balanced && meta.foreseen);
	CHECK_U64(meta.hz, 99);
	CHECK_U64(meta.sampled, 9);
	CHECK_U64(profile->filtered, 2);
	CHECK_U64(meta.lost, 1);
	CHECK_U64((uint64_t)meta.unaccounted, 1);
	CHECK_U64(meta.time, 1700000000000000000);
	CHECK_U64(meta.duration, 1000);
	CHECK_U64(meta.line_count, 4);
	CHECK(meta.lines[0].kind == META_NOTE &&
	      meta.lines[1].kind == META_WARNING &&
	      meta.lines[2].kind == META_ADVICE);
	CHECK_TEXT(meta.lines[3].text, "something else");
	profile_free(profile);
	meta_free(&meta);
}

TEST(in_pprof_base)
{
	struct text text = { 0 };

	put_tables(&text);
	put_sample(&text, "\x02", 2, 20, true);
	/* comm=x, pprof::base=true, -3 and -30 */
	wire_put_bytes(&text, 2, "\x0a\1\2\x12\x14"
		       "\xfd\xff\xff\xff\xff\xff\xff\xff\xff\1"
		       "\xe2\xff\xff\xff\xff\xff\xff\xff\xff\1"
		       "\x1a\4\x08\x08\x10\x09\x1a\4\x08\x0b\x10\x0c", 37);
	put_strings(&text);
	write_pprof(&text);
	check_read("in", SHOW_ALL, "x;a;b 2 2\n");
	put_tables(&text);
	put_sample(&text, "\x02", UINT64_MAX - 2, 20, true);
	put_strings(&text);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: sample 1: a negative value\n");
}

TEST(in_pprof_refuses)
{
	struct text text = { 0 };

	put_tables(&text);
	put_sample(&text, "\x09", 2, 20, true);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: sample 1: a location is not "
		      "there\n");
	put_tables(&text);
	PUT(&text, 2, 1, 2, 2, 1);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: sample 1: as many values as "
		      "sample types are wanted\n");
	put_tables(&text);
	PUT(&text, 4, 1, 3);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: location 3 is there twice\n");
	put_tables(&text);
	PUT(&text, 5, 2, 5);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: a function without a number\n");
	PUT(&text, 1, 1, 1, 2, 2);
	wire_put_bytes(&text, 4, "\x08\1\x22\2\x08\5", 6);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: function 5 is not there\n");
	PUT(&text, 2, 1, 1);
	write_pprof(&text);
	check_refused("in", "prof: in: pprof: samples, but no sample type\n");
	put_tables(&text);
	text.length -= 3;
	write_pprof(&text);
	CHECK(!in_read("in", SHOW_ALL, &meta));
	CHECK(strstr(unit_messages(), ": damaged or cut short\n"));
	meta_free(&meta);
}

/* Every shorter file is refused, or is a recording of fewer samples. */
TEST(in_pprof_cut_anywhere)
{
	struct text text = { 0 };

	put_tables(&text);
	put_sample(&text, "\x03\x02\x01", 3, 30, true);
	put_strings(&text);
	for (size_t size = 0; size < text.length; size++) {
		struct profile *profile;

		unit_write("in", text.data, size);
		profile = in_read("in", SHOW_ALL, &meta);
		CHECK(profile || *unit_messages());
		profile_free(profile);
		meta_free(&meta);
	}
	text_free(&text);
}

#ifdef PROF_ZLIB

TEST(in_folded_packed)
{
	static const char text[] = "a;b 2\nc 1";
	struct file_out out;
	struct pack *pack;

	CHECK(!file_out_open(&out, "x.gz"));
	pack = pack_open(&out);
	pack_write(pack, text, strlen(text));
	pack_close(pack);
	CHECK(!file_out_close(&out));
	check_read("x.gz", SHOW_ALL, "a;b 2\nc 1\n");
}

/* 3.5 MB that would become 555. */
TEST(in_bomb)
{
	enum { BOMB = 7 << 19 };
	static const uint8_t head[10] = { 0x1f, 0x8b, 8 };
	uint8_t *bomb = malloc(BOMB);

	CHECK(bomb);
	memset(bomb, 0, BOMB);
	memcpy(bomb, head, sizeof(head));
	/*
	 * A block of the fixed code: byte 0, then copies of 258 bytes from a
	 * distance of 1, which are 13 bits each: 11000101 00000.
	 */
	for (size_t bit = 0, i = 0; i < BOMB * 8 - 100; i++, bit++) {
		static const char first[] = "110" "00110000", copy[] =
			"1100010100000";
		int c = i < 11 ? first[i] : copy[(i - 11) % 13];

		if (c == '1')
			bomb[10 + bit / 8] |= (uint8_t)(1 << bit % 8);
	}
	unit_write("bomb", bomb, BOMB);
	CHECK(!in_read("bomb", SHOW_ALL, &meta));
	CHECK_TEXT(unit_messages(), "prof: bomb: unpack: more than 512 MB\n");
	meta_free(&meta);
	free(bomb);
}

#endif

/* ------------------------------------------------------------ and back again */

/* The same samples by way of every format that is read. */
TEST(in_out_in)
{
	static const char text[] =
		"a b;u x;v_[j];k_[k];m_[k] 12\n"
		"a b;[libc.so.6+0x12];[0x7f00];[truncated] 5\n"
		"swapper/0;do_idle_[k] 4\n"
		"c;<i>;\"q\\'&;\xc3\xa9 3\n"
		"c 2\n";
	static const char *const files[] = { "x.pb", "x.folded", "x.pb.gz" };
	struct profile *profile;

	unit_write_text("in", text);
	for (size_t i = 0; i < 3; i++) {
#ifndef PROF_ZLIB
		if (i == 2)
			continue;
#endif
		profile = in_read("in", SHOW_ALL | SHOW_ADDRESSES, &meta);
		CHECK(profile);
		CHECK(!out_write(profile, &meta, out_for_file(files[i]),
				 files[i]));
		profile_free(profile);
		meta_free(&meta);
		check_read(files[i], SHOW_ALL, text);
	}
}

TEST(in_compared_by_pprof)
{
	struct profile *profile;

	unit_write_text("old", "a;b 2\na;gone 2\n");
	unit_write_text("new", "a;b 1\na;come 3\n");
	profile = in_compare("old", "new", SHOW_ALL | SHOW_ADDRESSES, &meta);
	CHECK(profile);
	CHECK(!out_write(profile, &meta, out_named("pprof-raw"), "x.pb"));
	profile_free(profile);
	meta_free(&meta);
	check_read("x.pb", SHOW_ALL, "a;come 0 3\na;b 2 1\na;gone 2 0\n");
}
