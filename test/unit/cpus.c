/* SPDX-License-Identifier: MIT */
/* Lists of CPUs, and where they come from. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "sys/cpus.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

/* "0-3,6" written out: "0 1 2 3 6 " */
static const char *written_out(const struct cpus *cpus)
{
	static char text[65536];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < cpus->count; i++)
		length += (size_t)sprintf(text + length, "%u ", cpus->cpu[i]);
	return text;
}

static void check_list(const char *list, const char *want)
{
	struct cpus cpus = { 0 };

	CHECK(!cpus_parse(&cpus, list));
	CHECK_TEXT(written_out(&cpus), want);
	cpus_free(&cpus);
	CHECK(!cpus.cpu && !cpus.count);
}

TEST(cpus_parse_lists)
{
	check_list("0", "0 ");
	check_list("0-3", "0 1 2 3 ");
	check_list("0-3,6", "0 1 2 3 6 ");
	check_list("0-3,6,8-10", "0 1 2 3 6 8 9 10 ");
	check_list("5-5", "5 ");
	check_list("2-3,7", "2 3 7 ");
	check_list("8191", "8191 ");
	check_list("007", "7 ");
	/* In any order, and more than once: ascending, each once. */
	check_list("6,0-3", "0 1 2 3 6 ");
	check_list("3,3,3", "3 ");
	check_list("0-4,2-6,1", "0 1 2 3 4 5 6 ");
}

TEST(cpus_parse_all)
{
	struct cpus cpus = { 0 };

	CHECK(!cpus_parse(&cpus, "0-8191"));
	CHECK_U64(cpus.count, 8192);
	for (uint32_t i = 0; i < 8192; i++)
		CHECK_U64(cpus.cpu[i], i);
	CHECK(cpus_contain(&cpus, 0) && cpus_contain(&cpus, 8191));
	CHECK(!cpus_contain(&cpus, 8192) && !cpus_contain(&cpus, UINT32_MAX));
	cpus_free(&cpus);
}

TEST(cpus_parse_garbage)
{
	static const char *const bad[] = {
		"", ",", "-", "0,", ",0", "0,,1", "0-", "-1", "3-1", "0--3",
		"0-1-2", "a", "0a", " 0", "0 ", "0\n", "0, 1", "0x1", "+1",
		"8192", "0-8192", "4294967296", "4294967295", "0-4294967295",
		"18446744073709551616", "99999999999999999999999", "0-3:1/2",
		"0;1", "1.5",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpus cpus = { 0 };

		if (cpus_parse(&cpus, bad[i]) != -EINVAL)
			unit_fail(__FILE__, __LINE__, "\"%s\" is a list",
				  bad[i]);
		CHECK(!cpus.count && !cpus.cpu);
	}
}

static void instead(const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", file);
	if (text)
		unit_write_text(file, text);
	redirect(path, text ? file : NULL);
}

TEST(cpus_online_reads_sys)
{
	struct cpus cpus = { 0 };

	instead("online", "1,3-4\n");
	CHECK(!cpus_online(&cpus));
	CHECK_TEXT(written_out(&cpus), "1 3 4 ");
	cpus_free(&cpus);
}

/* Without /sys: those on which this process may run, as libc tells them. */
TEST(cpus_online_without_sys)
{
	struct cpus cpus = { 0 };
	cpu_set_t set;
	size_t count = 0;

	instead("online", NULL);
	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	CHECK(!cpus_online(&cpus));
	for (uint32_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set)) {
			CHECK(cpus_contain(&cpus, i));
			count++;
		}
	CHECK_U64(cpus.count, count);
	cpus_free(&cpus);
	instead("online", "nonsense\n");
	CHECK(!cpus_online(&cpus));
	CHECK_U64(cpus.count, count);
	cpus_free(&cpus);
}
