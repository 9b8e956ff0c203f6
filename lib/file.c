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
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "lib/random.h"

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

/* -errno for what has no end, or nothing to read. */
static int check_kind(const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		return -EISDIR;
	return S_ISREG(status->st_mode) || S_ISFIFO(status->st_mode) ? 0 :
	       -ENODEV;
}

int lines_open_named(struct lines *lines, const char *path)
{
	struct stat status;
	int error;

	*lines = (struct lines){ .fd = -1 };
	if (strcmp(path, "-"))
		error = lines_open(lines, path);
	else
		error = (lines->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC,
					   STDERR_FILENO + 1)) < 0 ?
			-errno : 0;
	if (error)
		return error;
	error = fstat(lines->fd, &status) ? -errno :
		strcmp(path, "-") ? check_kind(&status) : 0;
	/* A pipe's writer may be slower than we are. */
	if (!error && strcmp(path, "-") && fcntl(lines->fd, F_SETFL, 0))
		error = -errno;
	if (error)
		lines_close(lines);
	return error;
}

void lines_open_bytes(struct lines *lines, uint8_t *data, size_t size)
{
	*lines = (struct lines){
		.fd = -1, .data = (char *)data, .to = size, .capacity = size,
	};
	/* Room for the zero byte of the last line. */
	lines->data = memory_grow(lines->data, &lines->capacity, size + 1, 1);
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
	if (lines->fd < 0)
		return false;
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

	if (lines->error || (!lines->data && !lines_fill(lines)))
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

struct bytes lines_peek(struct lines *lines)
{
	if (lines->from == lines->to && !lines->error)
		lines_fill(lines);
	return (struct bytes){
		(const uint8_t *)lines->data + lines->from,
		lines->to - lines->from,
	};
}

int lines_rest(struct lines *lines, size_t most, uint8_t **data, size_t *size)
{
	ssize_t got = 1;

	if (lines->from)
		memmove(lines->data, lines->data + lines->from,
			lines->to - lines->from);
	lines->to -= lines->from;
	lines->from = 0;
	while (lines->fd >= 0 && got && !lines->error && lines->to <= most) {
		lines->data = memory_grow(lines->data, &lines->capacity,
					  lines->to + LINES_CHUNK, 1);
		got = read(lines->fd, lines->data + lines->to,
			   lines->capacity - lines->to);
		if (got > 0)
			lines->to += (size_t)got;
		else if (got < 0 && errno != EINTR)
			lines->error = -errno;
	}
	if (lines->to > most)
		lines->error = -EFBIG;
	if (lines->error)
		return lines->error;
	*data = (uint8_t *)lines->data;
	*size = lines->to;
	lines->data = NULL;
	lines->to = lines->capacity = 0;
	return 0;
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
	/* Cut off in the midst of a number it would be another one. */
	if (!error && length == size - 1)
		error = -EMSGSIZE;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return error;
}

int file_size(int fd, uint64_t *size)
{
	struct stat status;

	*size = 0;
	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	*size = (uint64_t)status.st_size;
	return 0;
}

size_t file_read_at(int fd, uint64_t offset, void *to, size_t size)
{
	size_t length = 0;

	if (offset > INT64_MAX || size > INT64_MAX - offset)
		return 0;
	while (length < size) {
		ssize_t got = pread(fd, (char *)to + length, size - length,
				    (off_t)(offset + length));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	return length;
}

/* What file_out_abandon() has to remove; "" if nothing. */
static char file_out_beside[PATH_MAX];

void file_out_abandon(void)
{
	if (*file_out_beside)
		unlink(file_out_beside);
}

/* Follows a symbolic link that leads to nothing yet: `> link` makes it. */
static int follow_link(char path[PATH_MAX])
{
	for (int links = 0; links < 40; links++) {
		char to[PATH_MAX], joined[2 * PATH_MAX];
		ssize_t length = readlink(path, to, sizeof(to) - 1);
		char *slash = strrchr(path, '/');

		if (length < 0)
			return errno == EINVAL || errno == ENOENT ? 0 : -errno;
		to[length] = '\0';
		snprintf(joined, sizeof(joined), "%.*s%s",
			 *to == '/' || !slash ? 0 : (int)(slash + 1 - path),
			 path, to);
		if (strlen(joined) >= PATH_MAX)
			return -ENAMETOOLONG;
		strcpy(path, joined);
	}
	return -ELOOP;
}

/*
 * Where a new file for `path` has to be made, to *target; NULL there if it
 * names something that must be written as it is.  0 or -errno.
 */
static int find_target(const char *path, char **target)
{
	char real[PATH_MAX];
	struct stat status, found;

	*target = NULL;
	if (!*path)
		return -ENOENT;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (stat(path, &status)) {
		int error;

		if (errno != ENOENT)
			return -errno;
		strcpy(real, path);
		error = follow_link(real);
		if (!error)
			*target = memory_text(real, strlen(real));
		return error;
	}
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	/*
	 * /dev/stdout and the like are links to descriptors: what they lead to
	 * may have another name by now, or none.
	 */
	if (!S_ISREG(status.st_mode) || !strncmp(path, "/dev/", 5) ||
	    !strncmp(path, "/proc/", 6))
		return 0;
	if (!realpath(path, real))
		return errno == ENOENT ? 0 : -errno;
	if (!strncmp(real, "/proc/", 6))
		return 0;
	if (lstat(real, &found))
		return -errno;
	if (found.st_dev == status.st_dev && found.st_ino == status.st_ino)
		*target = memory_text(real, strlen(real));
	return 0;
}

/* stdout stays open: it may be wanted again, and its number must not be free. */
static int copy_of_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	return fd < 0 ? -errno : fd;
}

/* Opens what is written as it is; our own stdout is that very descriptor. */
static int open_directly(const char *path)
{
	struct stat status, ours;
	int fd;

	if (!stat(path, &status) && !fstat(STDOUT_FILENO, &ours) &&
	    status.st_dev == ours.st_dev && status.st_ino == ours.st_ino &&
	    !S_ISCHR(status.st_mode))
		return copy_of_stdout();
	/* A FIFO waits for its reader, and a command may end meanwhile. */
	do
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* A new file beside out->path: sets fd and beside. */
static int open_beside(struct file_out *out)
{
	const char *slash = strrchr(out->path, '/');
	int directory = slash ? (int)(slash + 1 - out->path) : 0;

	if (slash && !slash[1])
		return -EISDIR;
	for (int try = 0; try < 100; try++) {
		uint64_t random;

		random_fill(&random, sizeof(random));
		snprintf(file_out_beside, sizeof(file_out_beside),
			 "%.*s.prof.%016llx", directory, out->path,
			 (unsigned long long)random);
		/* O_EXCL: neither another's file nor a planted link. */
		out->fd = open(file_out_beside, O_RDWR | O_CREAT | O_EXCL |
			       O_CLOEXEC, 0600);
		if (out->fd >= 0 || errno != EEXIST)
			break;
	}
	if (out->fd < 0) {
		int error = -errno;

		*file_out_beside = '\0';
		return error;
	}
	out->beside = memory_text(file_out_beside, strlen(file_out_beside));
	return 0;
}

int file_out_open(struct file_out *out, const char *path)
{
	*out = (struct file_out){ .fd = -1 };
	out->data = memory_new(OUT_CHUNK, 1);
	if (!path || !strcmp(path, "-")) {
		out->fd = copy_of_stdout();
		out->error = out->fd < 0 ? out->fd : 0;
		return out->error;
	}
	out->error = find_target(path, &out->path);
	if (out->error)
		return out->error;
	if (out->path) {
		out->error = open_beside(out);
	} else {
		out->fd = open_directly(path);
		if (out->fd < 0)
			out->error = out->fd;
	}
	return out->error;
}

int file_out_check(const char *path)
{
	struct file_out out;
	char *target;
	int error = find_target(path, &target);
	bool direct = !target;

	free(target);
	/* A FIFO would wait for its reader: that is for later. */
	if (error || !strcmp(path, "-"))
		return error;
	if (direct)
		return access(path, W_OK) ? -errno : 0;
	error = file_out_open(&out, path);
	/* A directory that keeps all it gets (chattr +a) is of no use. */
	if (!error && unlink(out.beside))
		error = -errno;
	file_out_drop(&out);
	return error;
}

int file_put(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t put = write(fd, data, length);
		struct pollfd room = { .fd = fd, .events = POLLOUT };

		if (put < 0 && errno == EAGAIN)
			poll(&room, 1, -1);
		else if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			data += put;
			length -= (size_t)put;
		}
	}
	return 0;
}

static void file_out_flush(struct file_out *out)
{
	if (!out->error)
		out->error = file_put(out->fd, out->data, out->length);
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

/* Owner and mode of the old file, or what a new one gets. */
static int take_over(const struct file_out *out)
{
	struct stat old;
	mode_t mask;

	if (lstat(out->path, &old)) {
		if (errno != ENOENT)
			return -errno;
		old.st_mode = 0;
	}
	if (!S_ISREG(old.st_mode)) {
		mask = umask(0);
		umask(mask);
		old.st_mode = 0666 & ~mask;
	} else if (fchown(out->fd, old.st_uid, old.st_gid) &&
		   errno != EPERM && errno != EINVAL) {
		/*
		 * Not permitted, or of nobody in this user namespace: the owner
		 * stays us, which is fine.
		 */
		return -errno;
	}
	/* Some file systems keep modes of their own: 0600 is never too much. */
	if (fchmod(out->fd, old.st_mode & 0777) && errno != EPERM)
		return -errno;
	return 0;
}

/* What cannot be renamed over, as a file that is mounted: in place then. */
static int write_in_place(struct file_out *out)
{
	int from = open(out->beside, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	if (from < 0)
		return -errno;
	out->fd = open(out->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (out->fd < 0)
		out->error = -errno;
	while (!out->error && got > 0) {
		got = read(from, out->data, OUT_CHUNK);
		if (got < 0)
			out->error = -errno;
		out->length = got > 0 ? (size_t)got : 0;
		file_out_flush(out);
	}
	close(from);
	if (out->fd >= 0 && close(out->fd) && !out->error)
		out->error = -errno;
	out->fd = -1;
	return out->error;
}

static int put_in_place(struct file_out *out)
{
	if (!rename(out->beside, out->path))
		return 0;
	if (errno != EBUSY && errno != EPERM && errno != EXDEV)
		return -errno;
	return write_in_place(out);
}

int file_out_close(struct file_out *out)
{
	int error;

	file_out_flush(out);
	if (out->beside && !out->error)
		out->error = take_over(out);
	/* First closed, then renamed: some disks tell only now that they are
	 * full. */
	if (out->fd >= 0 && close(out->fd) && !out->error)
		out->error = -errno;
	out->fd = -1;
	if (out->beside && !out->error)
		out->error = put_in_place(out);
	error = out->error;
	file_out_drop(out);
	return error;
}

void file_out_drop(struct file_out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	/* Gone already, if it was renamed. */
	if (out->beside)
		unlink(out->beside);
	*file_out_beside = '\0';
	free(out->beside);
	free(out->path);
	free(out->data);
	*out = (struct file_out){ .fd = -1 };
}
