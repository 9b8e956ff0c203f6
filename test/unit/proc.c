/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps and /proc/stat: as the kernel writes them, and otherwise. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"
#include "proc/maps.h"
#include "proc/stat.h"
#include "sys/cpus.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

/* ----------------------------------------------------------------- maps */

static void check_map(const char *text, uint64_t start, uint64_t end,
		      uint64_t offset, const char *path)
{
	char line[8192];
	struct map map;

	strcpy(line, text);
	if (!maps_parse(line, &map))
		unit_fail(__FILE__, __LINE__, "no map: %s", text);
	CHECK(map.executable);
	CHECK_U64(map.start, start);
	CHECK_U64(map.end, end);
	CHECK_U64(map.offset, offset);
	CHECK_TEXT(map.path, path);
}

static void check_no_map(const char *text)
{
	char line[8192];
	struct map map;

	strcpy(line, text);
	if (maps_parse(line, &map))
		unit_fail(__FILE__, __LINE__, "is a map: %s", text);
}

TEST(maps_parse_names)
{
	check_map("7f3a1c028000-7f3a1c1bd000 r-xp 00028000 fe:00 1234"
		  "                       /usr/lib/libc.so.6",
		  0x7f3a1c028000, 0x7f3a1c1bd000, 0x28000, "/usr/lib/libc.so.6");
	check_map("00400000-00452000 r-xp 00000000 08:02 173521"
		  "      /usr/bin/dbus-daemon",
		  0x400000, 0x452000, 0, "/usr/bin/dbus-daemon");
	/* Spaces, also at the ends, belong to the name. */
	check_map("1000-2000 r-xp 00000000 fe:00 7 /opt/my app/the lib.so",
		  0x1000, 0x2000, 0, "/opt/my app/the lib.so");
	check_map("1000-2000 r-xp 00000000 fe:00 7    /a/ x ", 0x1000, 0x2000,
		  0, "/a/ x ");
	check_map("1000-2000 r-xp 00000000 fe:00 7 /tmp/x (deleted)", 0x1000,
		  0x2000, 0, "/tmp/x (deleted)");
	/* It may really be called so. */
	check_map("1000-2000 r-xp 00000000 fe:00 7 /x (deleted) (deleted)",
		  0x1000, 0x2000, 0, "/x (deleted) (deleted)");
	check_map("1000-2000 r-xp 00000000 fe:00 7 /a\\012b", 0x1000, 0x2000,
		  0, "/a\nb");
	check_map("1000-2000 r-xs 00000000 00:01 9 /memfd:jit (deleted)",
		  0x1000, 0x2000, 0, "/memfd:jit (deleted)");
	check_map("1000-2000 r-xs 00000000 00:01 9 /dev/zero (deleted)",
		  0x1000, 0x2000, 0, "/dev/zero (deleted)");
}

TEST(maps_parse_without_file)
{
	check_map("7ffc1b5f2000-7ffc1b5f4000 r-xp 00000000 00:00 0"
		  "                          [vdso]",
		  0x7ffc1b5f2000, 0x7ffc1b5f4000, 0, "[vdso]");
	check_map("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0"
		  "                  [vsyscall]",
		  0xffffffffff600000, 0xffffffffff601000, 0, "[vsyscall]");
	check_map("1000-2000 rwxp 00000000 00:00 0 ", 0x1000, 0x2000, 0, "");
	check_map("1000-2000 rwxp 00000000 00:00 0", 0x1000, 0x2000, 0, "");
	check_map("1000-2000 rwxp 00000000 00:00 0 [stack]", 0x1000, 0x2000,
		  0, "[stack]");
	check_map("0-1000 r-xp 00000000 00:00 0", 0, 0x1000, 0, "");
	check_map("fffffffffffff000-ffffffffffffffff r-xp ffffffffffffffff "
		  "00:00 0", 0xfffffffffffff000, UINT64_MAX, UINT64_MAX, "");
}

TEST(maps_parse_no_code)
{
	static const char *const lines[] = {
		"1000-2000 r--p 00000000 fe:00 7 /usr/lib/libc.so.6",
		"1000-2000 rw-p 00000000 00:00 0 [heap]",
		"1000-2000 ---p 00000000 00:00 0",
	};

	for (size_t i = 0; i < 3; i++) {
		char line[128];
		struct map map;

		strcpy(line, lines[i]);
		CHECK(maps_parse(line, &map));
		CHECK(!map.executable);
	}
}

/* Which file it is, in the kernel's numbers. */
TEST(maps_parse_file)
{
	char line[] = "1000-2000 r-xp 00000000 fe:1f 18446744073709551615 /x";
	char none[] = "1000-2000 r-xp 00000000 00:00 0 ";
	struct map map;

	CHECK(maps_parse(line, &map));
	CHECK_U64(map.major, 0xfe);
	CHECK_U64(map.minor, 0x1f);
	CHECK_U64(map.inode, UINT64_MAX);
	CHECK(maps_parse(none, &map));
	CHECK_U64(map.inode, 0);
}

/* Not the kernel's: no crash, and nothing that could be taken for a map. */
TEST(maps_parse_odd_lines)
{
	static const char *const odd[] = {
		"", " ", "-", "1000", "1000-", "1000-2000", "1000-2000 ",
		"1000-2000 r", "1000-2000 r-x", "1000-2000 r-xp",
		"1000-2000 r-xp ", "1000-2000 r-xp x", "-2000 r-xp 0 0:0 0 x",
		"2000-1000 r-xp 00000000 00:00 0 /x",
		"1000-1000 r-xp 00000000 00:00 0 /x",
		"10000000000001000-10000000000002000 r-xp 0 00:00 0 /x",
		"1000-2000 r-xp 10000000000000000 00:00 0 /x",
		"1000 2000 r-xp 00000000 00:00 0 /x",
		"1000-2000  r-xp 00000000 00:00 0 /x",
		"g000-h000 r-xp 00000000 00:00 0 /x",
		"VmSize:     1234 kB", "Size:                  4 kB",
		"0x1000-0x2000 r-xp 00000000 00:00 0 /x",
		"1000-2000 r-xp 00000000 00 0 /x",
		"1000-2000 r-xp 00000000 00:00 /x",
		"1000-2000 r-xp 00000000 00:00 18446744073709551616 /x",
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		check_no_map(odd[i]);
}

/* Any cut of a good line ends inside it. */
TEST(maps_parse_cut_lines)
{
	static const char whole[] = "7f3a1c028000-7f3a1c1bd000 r-xp 00028000 "
		"fe:00 1234     /usr/lib/my lib.so (deleted)";

	for (size_t size = 0; size < sizeof(whole); size++) {
		char text[sizeof(whole)] = { 0 };
		struct bytes line;
		struct map map;

		memcpy(text, whole, size);
		line = unit_fenced(text, size + 1);
		if (maps_parse((char *)line.data, &map)) {
			const uint8_t *path = (const uint8_t *)map.path;

			CHECK_U64(map.start, 0x7f3a1c028000);
			CHECK(path >= line.data &&
			      path < line.data + line.size);
		}
	}
}

static const char maps_text[] =
	"00400000-00401000 r--p 00000000 fe:00 1 /bin/prog\n"
	"00401000-00403000 r-xp 00001000 fe:00 1 /bin/prog\n"
	"00403000-00404000 r--p 00003000 fe:00 1 /bin/prog\n"
	"00500000-00600000 rwxp 00000000 00:00 0 \n"
	"00600000-00601000 r-xp 00000000 fe:00 2 /lib/next to it.so\n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

/* What was read, as a text: "401000 /bin/prog, ...". */
static void tell_map(void *context, const struct map *map)
{
	text_format(context, "%llx %s, ", (unsigned long long)map->start,
		    map->path);
}

static int read_maps(size_t most, size_t *lines, struct text *text)
{
	text->length = 0;
	text_add(text, "", 0);
	return maps_read(4194305, most, lines, tell_map, text);
}

TEST(maps_read_code)
{
	struct text text = { 0 };
	size_t lines;

	unit_write_text("maps", maps_text);
	redirect("/proc/4194305/maps", "maps");
	CHECK(!read_maps(100, &lines, &text));
	CHECK_U64(lines, 7);
	CHECK_TEXT(text.data, "401000 /bin/prog, 500000 , "
		   "600000 /lib/next to it.so, 7ffd00000000 [vdso], "
		   "ffffffffff600000 [vsyscall], ");
	/* Anybody can have very many mappings: there is an end to it. */
	CHECK(!read_maps(7, &lines, &text));
	for (size_t most = 0; most < 7; most++) {
		CHECK(read_maps(most, &lines, &text) == -E2BIG);
		CHECK_U64(lines, most + 1);
	}
	text_free(&text);
}

TEST(maps_read_failures)
{
	struct text text = { 0 };
	char *data = malloc(3 << 20);
	size_t lines;

	CHECK(data);
	CHECK(read_maps(100, &lines, &text) == -ENOENT);
	CHECK_U64(lines, 0);
	/* A zombie's is empty. */
	unit_write_text("maps", "");
	redirect("/proc/4194305/maps", "maps");
	CHECK(read_maps(100, &lines, &text) == -ENOENT);
	/* Nothing that could be run is no error. */
	unit_write_text("maps", "1000-2000 rw-p 00000000 00:00 0 [heap]\n");
	CHECK(!read_maps(100, &lines, &text));
	CHECK_TEXT(text.data, "");
	/* An error in the middle. */
	memset(data, 'x', 3 << 20);
	memcpy(data, maps_text, sizeof(maps_text) - 1);
	unit_write("maps", data, 3 << 20);
	CHECK(read_maps(100, &lines, &text) == -EMSGSIZE);
	free(data);
	text_free(&text);
}

TEST(maps_locate_file)
{
	struct map map = { .inode = 2, .major = 0xfe };

	unit_write_text("maps", maps_text);
	redirect("/proc/4194305/maps", "maps");
	CHECK(maps_locate("4194305", &map));
	CHECK_U64(map.start, 0x600000);
	CHECK_U64(map.end, 0x601000);
	map = (struct map){ .inode = 2, .major = 0xfd };
	CHECK(!maps_locate("4194305", &map));
	map = (struct map){ .start = 0x403000 };
	CHECK(maps_locate("4194305", &map));
	CHECK_U64(map.inode, 1);
	map = (struct map){ .start = 0x403001 };
	CHECK(!maps_locate("4194305", &map));
	CHECK(!maps_locate("4194306", &map));
}

/* Not const: constants can share a page with code. */
static int somewhere;
static void some_function(void)
{
}

static bool code_there, data_there;
static void look_for_both(void *context, const struct map *map)
{
	uint64_t code = (uint64_t)(uintptr_t)some_function;
	uint64_t data = (uint64_t)(uintptr_t)&somewhere;

	code_there |= map->start <= code && code < map->end &&
		      !strcmp(map->path, context);
	data_there |= map->start <= data && data < map->end;
}

/* The test's own maps: code is there, data is not. */
TEST(maps_read_self)
{
	char self[4096] = { 0 };
	size_t size;
	char *link = unit_read("/proc/self/stat", &size);

	CHECK(link);
	some_function();
	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	CHECK(!maps_read((uint32_t)strtoul(link, NULL, 10), 10000, &size,
			 look_for_both, self));
	free(link);
	CHECK(code_there);
	CHECK(!data_there);
}

/* ----------------------------------------------------------------- stat */

TEST(stat_parse_cpu)
{
	struct stat_times times = { 0 };
	uint32_t cpu = 77;

	/* user nice system idle iowait irq softirq steal guest guest_nice */
	CHECK(stat_parse("cpu3 10 20 30 400 50 6 7 88 9 1", &cpu, &times));
	CHECK_U64(cpu, 3);
	CHECK_U64(times.idle, 4500000000);
	CHECK_U64(times.steal, 880000000);
	CHECK(stat_parse("cpu8191 0 0 0 0 0 0 0 0 0 0", &cpu, &times));
	CHECK_U64(cpu, 8191);
	CHECK_U64(times.idle, 0);
	CHECK_U64(times.steal, 0);
	/* Four years of idle time. */
	CHECK(stat_parse("cpu0 0 0 0 12614400000 0 0 0 1 0 0", &cpu, &times));
	CHECK_U64(times.idle, 126144000000000000);
}

/* The first line is the sum of all: its first number is no CPU. */
TEST(stat_parse_others)
{
	static const char *const others[] = {
		"cpu  2255 34 2290 22625563 6290 127 456 0 0 0",
		"cpu 1 2 3 4 5 6 7 8 9 10", "cpu", "cpu0", "cpu0 1 2 3", "",
		"cpux 1 2 3 4 5 6 7 8 9 10", "intr 1 2 3 4 5 6 7 8 9 10",
		"cpu0 1 2 3 4 5 6 7", "cpu0 a b c d e f g h i j",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct stat_times times;
		uint32_t cpu;

		if (stat_parse(others[i], &cpu, &times))
			unit_fail(__FILE__, __LINE__, "is of CPU %u: %s", cpu,
				  others[i]);
	}
}

TEST(stat_read_cpus)
{
	static const char text[] =
		"cpu  2 0 0 999 0 0 0 999 0 0\n"
		"cpu0 1 0 0 10 1 0 0 2 0 0\n"
		"cpu2 1 0 0 20 2 0 0 3 0 0\n"
		"intr 1 2 3\n"
		"cpu3 1 0 0 30 3 0 0 4 0 0\n";
	struct cpus cpus = { 0 };
	struct stat_times times[4];

	unit_write_text("stat", text);
	redirect("/proc/stat", "stat");
	CHECK(!cpus_parse(&cpus, "0,2,5"));
	memset(times, 'x', sizeof(times));
	stat_read(&cpus, times);
	CHECK_U64(times[0].idle, 110000000);
	CHECK_U64(times[0].steal, 20000000);
	CHECK_U64(times[1].idle, 220000000);
	CHECK_U64(times[1].steal, 30000000);
	/* Not in the file. */
	CHECK_U64(times[2].idle, 0);
	CHECK_U64(times[2].steal, 0);
	redirect("/proc/stat", NULL);
	memset(times, 'x', sizeof(times));
	stat_read(&cpus, times);
	CHECK_U64(times[0].idle, 0);
	CHECK_U64(times[2].steal, 0);
	cpus_free(&cpus);
}

/* Only the sum knows CPU 2 here; it must not be taken for it. */
TEST(stat_read_ignores_sum)
{
	struct cpus cpus = { 0 };
	struct stat_times times[1];

	unit_write_text("stat", "cpu  2 0 0 999 7 0 0 999 0 0\n"
				"cpu0 1 0 0 10 1 0 0 2 0 0\n");
	redirect("/proc/stat", "stat");
	CHECK(!cpus_parse(&cpus, "2"));
	stat_read(&cpus, times);
	CHECK_U64(times[0].idle, 0);
	cpus_free(&cpus);
}
