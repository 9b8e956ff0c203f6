/* SPDX-License-Identifier: MIT */
/* fuzz: inputs as files and as texts. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/fuzz/fuzz.h"

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd;

	if (!fd) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		MUST(fd > 2);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	MUST(!ftruncate(fd, 0));
	MUST(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}
