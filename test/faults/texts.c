/* SPDX-License-Identifier: MIT */
/* texts: files read and written whole, the names of errors, lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/faults/drive.h"

static const struct {
	const char *name;
	int number;
} numbers[] = {
	{ "E2BIG", E2BIG }, { "EACCES", EACCES }, { "EAGAIN", EAGAIN },
	{ "EBUSY", EBUSY }, { "EDQUOT", EDQUOT }, { "EEXIST", EEXIST },
	{ "EFBIG", EFBIG }, { "EINTR", EINTR }, { "EINVAL", EINVAL },
	{ "EIO", EIO }, { "ELOOP", ELOOP }, { "EMFILE", EMFILE },
	{ "ENFILE", ENFILE }, { "ENODEV", ENODEV }, { "ENOENT", ENOENT },
	{ "ENOEXEC", ENOEXEC }, { "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC },
	{ "ENOSYS", ENOSYS }, { "ENOTDIR", ENOTDIR }, { "ENOTSUPP", 524 },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "EPERM", EPERM }, { "EPIPE", EPIPE },
	{ "EROFS", EROFS }, { "ESRCH", ESRCH }, { "ETXTBSY", ETXTBSY },
	{ "EXDEV", EXDEV }, { "short", MOVE_ONE_BYTE }, { "end", END_OF_FILE },
};

char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0, room = 1 << 16;
	char *text = malloc(room);
	ssize_t got;

	while (text && fd >= 0 &&
	       (got = read(fd, text + size, room - size - 1)) > 0) {
		size += (size_t)got;
		if (size == room - 1)
			text = realloc(text, room *= 2);
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[size] = '\0';
	return text;
}

void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		_exit(98);
}

const char *error_name(int error)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].number == error)
			return numbers[i].name;
	return "?";
}

int error_number(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (strlen(numbers[i].name) == length &&
		    !strncmp(numbers[i].name, name, length))
			return numbers[i].number;
	fprintf(stderr, "rules.h: %.*s: no such error\n", (int)length, name);
	exit(1);
}

const char *line_with(const char *text, const char *begin)
{
	while (text && strncmp(text, begin, strlen(begin))) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

int count_lines(const char *text, const char *begin)
{
	int count = 0;

	for (text = line_with(text, begin); text;
	     text = line_with(text + 1, begin))
		count++;
	return count;
}
