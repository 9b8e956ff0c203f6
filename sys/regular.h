/* SPDX-License-Identifier: MIT */
#ifndef SYS_REGULAR_H
#define SYS_REGULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens regular files of real file systems for reading, and nothing else: what
 * it is, is known before it is opened (O_PATH).  Never a FIFO, a device, a
 * socket, or a file of /proc, /sys and their like.  A descriptor or -errno;
 * -EBADF for one that is there, but of another kind.
 *
 * `root` < 0: `path` is followed as open(2) does it.  Else `path` is that of a
 * process whose root directory this is: links stay inside, and none of /proc's
 * links to open files is followed.
 */
int regular_open(int root, const char *path);

/* The same, but -ELOOP if the last part of the path is a link. */
int regular_open_itself(int root, const char *path);

/* Which file it is, as fstat(2) has it; `generation` 0: is not told. */
struct regular {
	uint64_t inode, size, links;
	uint32_t major, minor;
	uint32_t generation;
	uint32_t owner;
	int64_t changed;	/* last written to, as time(2) */
};
int regular_stat(int fd, struct regular *regular);

/* The `size` bytes at `offset`; false if they are not all there. */
bool regular_read(int fd, uint64_t offset, void *to, size_t size);

/* One page of the file, mapped but not touched; NULL if that is refused. */
void *regular_map(int fd);
void regular_unmap(void *page);

/*
 * A new file in memory with the bytes at `from` of process `pid`, or of our own
 * if that is 0.  A descriptor or -errno.
 */
int regular_copy_memory(uint32_t pid, uint64_t from, size_t size);

/* Where the kernel mapped our own vDSO; 0: it did not. */
uint64_t regular_vdso(void);

/* Another descriptor of the same file, or -errno. */
int regular_copy(int fd);

/* How many descriptors this process may have. */
size_t regular_descriptors(void);

/* close(2), for those who may not touch errno. */
void regular_close(int fd);

#endif
