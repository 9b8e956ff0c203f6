/* SPDX-License-Identifier: MIT */
/* Names of JIT code: whose file is believed, and which of its lines counts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sym/perfmap.h"
#include "test/unit/unit.h"

#define PATH "tmp/perf-12.map"

static int root;

static struct perfmap *begin(void)
{
	struct perfmap_task task = {
		.pid = 12, .uid = getuid(), .started = time(NULL) - 10,
	};

	if (access("tmp", F_OK))
		CHECK(!mkdir("tmp", 0755));
	root = open(".", O_PATH | O_CLOEXEC);
	CHECK(root >= 0);
	return perfmap_open(&task);
}

static void append(const char *text)
{
	int fd = open(PATH, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static const char *at(const struct perfmap *map, uint64_t address)
{
	const char *name = perfmap_find(map, address);

	return name ? name : "-";
}

TEST(perfmap_lines)
{
	struct perfmap *map = begin();

	CHECK(perfmap_read(map, root) == -ENOENT);
	append("1000 10 plain\n"
	       "0x2000 0X10 with 0x\n"
	       "AbC000 0000000000000010   Lazy:*fib /srv/a b.js:3 \n"
	       "3000 10 carriage\r\n"
	       "malformed\n"
	       "\n"
	       "4000\n"
	       "4000 10\n"
	       "4000 10 \n"
	       "4000 xyz name\n"
	       "-4000 10 name\n"
	       "4000 0 nothing long\n"
	       "00000000000004000 10 too many digits\n"
	       "fffffffffffffff0 20 around the end\n"
	       "5000 10 a;b\n"
	       "6000 10 not yet ended");
	CHECK(!perfmap_read(map, root));
	CHECK(!perfmap_why(map));
	CHECK_TEXT(at(map, 0xfff), "-");
	CHECK_TEXT(at(map, 0x1000), "plain");
	CHECK_TEXT(at(map, 0x100f), "plain");
	CHECK_TEXT(at(map, 0x1010), "-");
	CHECK_TEXT(at(map, 0x2001), "with 0x");
	CHECK_TEXT(at(map, 0xabc001), "Lazy:*fib /srv/a b.js:3 ");
	CHECK_TEXT(at(map, 0x3000), "carriage");
	CHECK_TEXT(at(map, 0x4000), "-");
	CHECK_TEXT(at(map, 0xfffffffffffffff8), "-");
	CHECK_TEXT(at(map, 0x5000), "a;b");
	CHECK_TEXT(at(map, 0x6000), "-");
	append(" but now\n");
	CHECK(!perfmap_read(map, root));
	CHECK_TEXT(at(map, 0x6000), "not yet ended but now");
	/* What was read serves when all is gone. */
	CHECK(!unlink(PATH));
	CHECK(perfmap_read(map, root) == -ENOENT);
	CHECK_TEXT(at(map, 0x1000), "plain");
	perfmap_close(map);
	perfmap_close(NULL);
}

/* Against an array with a name for each address. */
TEST(perfmap_last_line_wins)
{
	enum { SPACE = 2000, LINES = 600 };
	static uint32_t want[SPACE];
	struct perfmap *map = begin();

	srand(3);
	for (uint32_t i = 1; i <= LINES; i++) {
		uint32_t start = (uint32_t)rand() % SPACE;
		uint32_t size = 1 + (uint32_t)rand() % (i % 7 ? 30 : 300);
		char line[64], name[16];

		snprintf(line, sizeof(line), "%x %x n%u\n", start, size, i);
		append(line);
		for (uint32_t x = start; x < start + size && x < SPACE; x++)
			want[x] = i;
		if (i % 17 && i != LINES)
			continue;
		/* Read in pieces of several sizes. */
		CHECK(!perfmap_read(map, root));
		for (uint32_t x = 0; x < SPACE; x++) {
			snprintf(name, sizeof(name), "n%u", want[x]);
			CHECK_TEXT(at(map, x), want[x] ? name : "-");
		}
	}
	perfmap_close(map);
}

TEST(perfmap_other_file_is_read_anew)
{
	struct perfmap *map = begin();

	append("1000 10 old\n2000 10 old too\n");
	CHECK(!perfmap_read(map, root));
	CHECK(!rename(PATH, "kept"));
	append("1000 10 new\n");
	CHECK(!perfmap_read(map, root));
	CHECK_TEXT(at(map, 0x1000), "new");
	CHECK_TEXT(at(map, 0x2000), "-");
	CHECK(!truncate(PATH, 0));
	CHECK(!perfmap_read(map, root));
	CHECK_TEXT(at(map, 0x1000), "-");
	perfmap_close(map);
}

TEST(perfmap_doubts)
{
	struct perfmap_task other = {
		.pid = 12, .uid = getuid() + 1, .started = time(NULL) + 100,
	};
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct perfmap *map = begin();

	append("1000 10 name\n");
	/* Older than the process. */
	CHECK(!utimensat(AT_FDCWD, PATH, old, 0));
	CHECK(perfmap_read(map, root) == -EPERM);
	CHECK_TEXT(perfmap_why(map), "older than the process");
	CHECK_TEXT(at(map, 0x1000), "-");
	append("2000 10 fresh\n");
	CHECK(!perfmap_read(map, root));
	/* A second name: it may be a file that somebody else wants read. */
	CHECK(!link(PATH, "second"));
	CHECK(perfmap_read(map, root) == -EPERM);
	CHECK_TEXT(perfmap_why(map), "has several names");
	/* A link, a FIFO, a directory. */
	CHECK(!unlink(PATH) && !symlink("../second", PATH));
	CHECK(perfmap_read(map, root) == -EPERM);
	CHECK_TEXT(perfmap_why(map), "not a regular file");
	CHECK(!unlink(PATH) && !mkfifo(PATH, 0666));
	CHECK(perfmap_read(map, root) == -EPERM);
	CHECK(!unlink(PATH) && !mkdir(PATH, 0755));
	CHECK(perfmap_read(map, root) == -EPERM);
	CHECK(!rmdir(PATH));
	perfmap_close(map);
	/* Another user's, unless it is root's. */
	append("1000 10 name\n");
	other.started = time(NULL);
	map = perfmap_open(&other);
	CHECK(perfmap_read(map, root) == (getuid() ? -EPERM : 0));
	perfmap_close(map);
	if (!getuid()) {
		CHECK(!chown(PATH, 77, 77));
		map = perfmap_open(&other);
		CHECK(perfmap_read(map, root) == -EPERM);
		CHECK_TEXT(perfmap_why(map), "of another user");
		perfmap_close(map);
	}
}

/* Long lines and many of them cost what they are, and no more. */
TEST(perfmap_hostile)
{
	struct perfmap *map = begin();
	char *line = malloc(100002);
	FILE *file;

	CHECK(line);
	memset(line, 'x', 100000);
	strcpy(line + 100000, "\n");
	memcpy(line, "1000 10 ", 8);
	append(line);
	append("2000 10 after\n");
	CHECK(!perfmap_read(map, root));
	CHECK_TEXT(at(map, 0x2000), "after");
	file = fopen(PATH, "a");
	CHECK(file);
	/* Each in the midst of the one before. */
	for (unsigned int i = 0; i < 200000; i++)
		fprintf(file, "%x %x n%u\n", 0x100000 + i,
			2 * (200000 - i), i);
	fclose(file);
	CHECK(!perfmap_read(map, root));
	CHECK_TEXT(at(map, 0x100000), "n0");
	CHECK_TEXT(at(map, 0x100000 + 199999), "n199999");
	CHECK_TEXT(at(map, 0x100000 + 200001), "n199998");
	CHECK(perfmap_memory(map) < 64 << 20);
	perfmap_close(map);
	free(line);
}
