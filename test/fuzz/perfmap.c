/* SPDX-License-Identifier: MIT */
/* A perf map: read in one go, and in pieces as it grows, is the same. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/perfmap.h"
#include "test/fuzz/fuzz.h"

static int root = -1, fd;

static void begin(void)
{
	char path[] = "/tmp/prof-fuzz-XXXXXX";

	MUST(mkdtemp(path));
	root = open(path, O_PATH | O_CLOEXEC);
	MUST(root >= 0);
	MUST(!mkdirat(root, "tmp", 0700));
	fd = openat(root, "tmp/perf-1.map", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0);
}

static void end(void)
{
	char path[64], real[4096];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	length = readlink(path, real, sizeof(real) - 1);
	unlinkat(root, "tmp/perf-1.map", 0);
	unlinkat(root, "tmp", AT_REMOVEDIR);
	if (length > 0) {
		real[length] = '\0';
		rmdir(real);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_task task = { .pid = 1, .uid = getuid() };
	struct perfmap *whole, *pieces;
	size_t half = size / 2;

	if (root < 0) {
		begin();
		atexit(end);
	}
	whole = perfmap_open(&task);
	pieces = perfmap_open(&task);
	MUST(!ftruncate(fd, 0));
	for (size_t at = 0; at < size; at += half + 1) {
		size_t left = size - at, part = left < half + 1 ? left :
								  half + 1;

		MUST(pwrite(fd, data + at, part, (off_t)at) == (ssize_t)part);
		MUST(!perfmap_read(pieces, root));
	}
	MUST(!perfmap_read(whole, root));
	for (uint64_t x = 0; x < 512; x++) {
		uint64_t address = x < 256 ? x : (x << 56 | (x & 15));
		const char *a = perfmap_find(whole, address);
		const char *b = perfmap_find(pieces, address);

		MUST(!a == !b);
		MUST(!a || (*a && !strcmp(a, b)));
	}
	perfmap_close(whole);
	perfmap_close(pieces);
	return 0;
}
