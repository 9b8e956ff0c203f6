/* SPDX-License-Identifier: MIT */
#ifndef SYS_FILES_H
#define SYS_FILES_H

#include <stdint.h>

/* How files_open() treats the last part of a path. */
enum { FILES_FOLLOW, FILES_NO_LINK };

/*
 * Opens a regular file for reading, as a task with the root directory `root`
 * (an O_PATH descriptor, or -1: ours) would: links lead nowhere outside.  What
 * is no regular file is never opened.  A descriptor or -errno (-EINVAL: not
 * regular; -ELOOP: a link, with FILES_NO_LINK).
 */
int files_open(int root, const char *path, int links);

/* Which file an open one is, whose, how old, how large. */
struct files_status {
	uint64_t device, inode, size, links;
	uint32_t uid;
	int64_t changed;	/* last written to, as time(2) */
};

/* 0 or -errno. */
int files_status(int fd, struct files_status *status);

#endif
