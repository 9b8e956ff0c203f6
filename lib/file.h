/* SPDX-License-Identifier: MIT */
#ifndef LIB_FILE_H
#define LIB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bytes.h"

/*
 * Reading a text line by line, in constant memory but for the longest line.
 */
struct lines {
	int fd;
	char *data;
	size_t from, to, capacity;	/* data[from..to) is not yet given out */
	int error;			/* -errno of a read that failed, or 0 */
};

/* Opens `path`; 0 or -errno.  With success, lines_close() is owed. */
int lines_open(struct lines *lines, const char *path);

/*
 * The same for a file that somebody names to be read: a regular one, a pipe, or
 * "-", which is stdin.  -ENODEV for a device, -EISDIR for a directory.
 */
int lines_open_named(struct lines *lines, const char *path);

/* The same for `size` bytes that malloc() gave, which are taken over. */
void lines_open_bytes(struct lines *lines, uint8_t *data, size_t size);

/* What comes next, at least a byte unless it is the end; it stays there. */
struct bytes lines_peek(struct lines *lines);

/*
 * All that comes, instead of lines: *data is the caller's then, to be freed.
 * 0, or -errno; -EFBIG if it is more than `most`.
 */
int lines_rest(struct lines *lines, size_t most, uint8_t **data, size_t *size);

/*
 * The next line without its newline, valid until the next call; NULL at the
 * end or after an error (lines->error).  A line may have any length up to
 * 1 MiB (-EMSGSIZE); zero bytes in it end its text early.
 */
char *lines_next(struct lines *lines);
void lines_close(struct lines *lines);

/*
 * Reads a small file whole (a sysctl, a CPU list) as text of less than size - 1
 * bytes, its last newline cut off.  0 or -errno; -EMSGSIZE for a longer one.
 */
int file_read_text(const char *path, char *text, size_t size);

/* The size of a regular file; -EINVAL for what is none, or another -errno. */
int file_size(int fd, uint64_t *size);

/* Reads at `offset`; fewer bytes at the file's end or after an error. */
size_t file_read_at(int fd, uint64_t offset, void *to, size_t size);
/* Writes all of it, however long that takes.  0 or -errno. */
int file_put(int fd, const char *data, size_t length);

/*
 * Writing a result.  A regular file appears under its name only when it is
 * whole: until then it stands beside, under a name that nobody can guess.
 * Symbolic links are followed, as a shell's `>` does, and the owner and the mode
 * of the file that is replaced are kept (but for set-user-ID and the like).
 * What cannot be replaced (a mount point) is written in place.  Pipes, devices
 * and stdout (path NULL or "-") are written as they are.
 */
struct file_out {
	int fd;
	char *path, *beside;	/* beside: NULL when written directly */
	char *data;
	size_t length;
	int error;		/* the first -errno; later writes do nothing */
};

/* Whether `path` can be written, by trying: 0 or -errno. */
int file_out_check(const char *path);

int file_out_open(struct file_out *out, const char *path);
void file_out_write(struct file_out *out, const char *data, size_t length);

/* Ends the writing; 0, or the -errno of whatever failed first. */
int file_out_close(struct file_out *out);

/* Gives up: what stands beside is removed. */
void file_out_drop(struct file_out *out);

/*
 * For a process that ends in the midst of it: removes what stands beside.  Safe
 * in a signal handler.
 */
void file_out_abandon(void);

#endif
