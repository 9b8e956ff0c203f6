/* SPDX-License-Identifier: MIT */
/*
 * file: reading texts line by line, writing results whole or not at all.
 *
 * Source: open(2), rename(2).  fsync(2) is left out: a crash of the machine may
 * leave an empty file, and a profile is not a ledger.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/memory.h"

enum {
	LINES_CHUNK = 64 * 1024,
	LINES_LONGEST = 1024 * 1024,
	OUT_CHUNK = 64 * 1024,
};

int lines_open(struct lines *lines, const char *path)
{
	*lines = (struct lines){ 0 };
	/* O_NONBLOCK: a FIFO that somebody put there must not stop us. */
	lines->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (lines->fd < 0)
		return -errno;
	return 0;
}

/* Reads more behind what is there.  False at the end or after an error. */
static bool lines_fill(struct lines *lines)
{
	ssize_t got;

	if (lines->from) {
		memmove(lines->data, lines->data + lines->from,
			lines->to - lines->from);
		lines->to -= lines->from;
		lines->from = 0;
	}
	if (lines->to > LINES_LONGEST) {
		lines->error = -EMSGSIZE;
		return false;
	}
	lines->data = memory_grow(lines->data, &lines->capacity,
				  lines->to + LINES_CHUNK + 1, 1);
	do
		got = read(lines->fd, lines->data + lines->to, LINES_CHUNK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		lines->error = -errno;
	if (got <= 0)
		return false;
	lines->to += (size_t)got;
	return true;
}

char *lines_next(struct lines *lines)
{
	size_t seen = 0;
	char *line, *end;

	if (lines->error)
		return NULL;
	for (;;) {
		size_t have = lines->to - lines->from;

		line = lines->data + lines->from;
		end = have > seen ?
		      memchr(line + seen, '\n', have - seen) : NULL;
		if (end)
			break;
		seen = have;
		if (lines_fill(lines))
			continue;
		if (lines->error || !seen)
			return NULL;
		/* The last line, without a newline. */
		line = lines->data + lines->from;
		line[seen] = '\0';
		lines->from = lines->to;
		return line;
	}
	*end = '\0';
	lines->from = (size_t)(end + 1 - lines->data);
	return line;
}

void lines_close(struct lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->data);
	*lines = (struct lines){ .fd = -1 };
}

int file_read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	size_t length = 0;

	if (fd < 0)
		return -errno;
	while (length < size - 1) {
		ssize_t got = read(fd, text + length, size - 1 - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	close(fd);
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return error;
}

/*
 * Where a new file for `path` has to be made: symbolic links are followed, so
 * that the link stays and its target is replaced.  NULL if `path` names
 * something that is not a regular file and must be written as it is.
 */
static char *replace_path(const char *path)
{
	struct stat status;
	char *real;

	if (stat(path, &status))
		return memory_text(path, strlen(path));
	if (!S_ISREG(status.st_mode))
		return NULL;
	real = realpath(path, NULL);
	return real ? real : memory_text(path, strlen(path));
}

static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

int file_out_check(const char *path)
{
	char *target = replace_path(path), *directory;
	struct stat status;
	int error = 0;

	if (!target) {
		if (!stat(path, &status) && S_ISDIR(status.st_mode))
			return -EISDIR;
		return access(path, W_OK) ? -errno : 0;
	}
	directory = memory_text(target, directory_length(target));
	if (access(*directory ? directory : ".", W_OK | X_OK))
		error = -errno;
	else if (!strcmp(target, directory))
		error = -EISDIR;
	free(directory);
	free(target);
	return error;
}

/* A new file `.NAME.XXXXXX` beside out->path: sets fd and beside. */
static int open_beside(struct file_out *out)
{
	size_t directory = directory_length(out->path);
	size_t size = strlen(out->path) + sizeof("..123456");

	out->beside = memory_new(size, 1);
	for (unsigned int try = 0; try < 100; try++) {
		snprintf(out->beside, size, "%.*s.%s.%06x", (int)directory,
			 out->path, out->path + directory,
			 ((unsigned int)getpid() * 100 + try) & 0xffffff);
		/* O_EXCL: neither another's file nor a planted link. */
		out->fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL |
			       O_CLOEXEC, 0666);
		if (out->fd >= 0 || errno != EEXIST)
			break;
	}
	return out->fd < 0 ? -errno : 0;
}

int file_out_open(struct file_out *out, const char *path)
{
	*out = (struct file_out){ .fd = STDOUT_FILENO };
	out->data = memory_new(OUT_CHUNK, 1);
	if (!path)
		return 0;
	out->path = replace_path(path);
	if (out->path) {
		out->error = open_beside(out);
	} else {
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (out->fd < 0)
			out->error = -errno;
	}
	return out->error;
}

static void file_out_flush(struct file_out *out)
{
	for (size_t done = 0; done < out->length && !out->error;) {
		ssize_t put = write(out->fd, out->data + done,
				    out->length - done);

		if (put < 0 && errno != EINTR)
			out->error = -errno;
		if (put > 0)
			done += (size_t)put;
	}
	out->length = 0;
}

void file_out_write(struct file_out *out, const char *data, size_t length)
{
	while (length && !out->error) {
		size_t part = OUT_CHUNK - out->length;

		if (part > length)
			part = length;
		memcpy(out->data + out->length, data, part);
		out->length += part;
		data += part;
		length -= part;
		if (out->length == OUT_CHUNK)
			file_out_flush(out);
	}
}

/* The mode of the file that is replaced is kept. */
static int file_out_rename(struct file_out *out)
{
	struct stat old;

	if (!stat(out->path, &old) && fchmod(out->fd, old.st_mode & 07777))
		return -errno;
	if (rename(out->beside, out->path))
		return -errno;
	return 0;
}

int file_out_close(struct file_out *out)
{
	int error;

	file_out_flush(out);
	if (out->beside && !out->error)
		out->error = file_out_rename(out);
	/* stdout is closed too: some disks report a full disk only here. */
	if (out->fd >= 0 && close(out->fd) && !out->error)
		out->error = -errno;
	error = out->error;
	out->fd = -1;
	file_out_drop(out);
	return error;
}

void file_out_drop(struct file_out *out)
{
	if (out->fd > STDERR_FILENO)
		close(out->fd);
	if (out->beside && (out->error || out->fd >= 0))
		unlink(out->beside);
	free(out->beside);
	free(out->path);
	free(out->data);
	*out = (struct file_out){ .fd = -1 };
}
