/* SPDX-License-Identifier: MIT */
/*
 * files: opening what other people may have put there.
 *
 * To open a FIFO can block or wake its writer; to open a device can start it.
 * So a path is opened by O_PATH first, which touches nothing; what that gives is
 * looked at, and only a regular file is opened for reading, by its descriptor's
 * entry in /proc: nobody can put another one there meanwhile.
 *
 * Source: open(2), openat2(2) (Linux 5.6), proc(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/files.h"

static int open_path(int root, const char *path, int links)
{
	int flags = O_PATH | O_CLOEXEC |
		    (links == FILES_NO_LINK ? O_NOFOLLOW : 0);
	struct open_how how = {
		.flags = (uint64_t)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	if (root < 0)
		return open(path, flags);
	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

int files_open(int root, const char *path, int links)
{
	char self[32];
	struct stat status;
	int fd = open_path(root, path, links), error = 0, file;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		error = -errno;
	else if (S_ISLNK(status.st_mode))
		error = -ELOOP;
	else if (!S_ISREG(status.st_mode))
		error = -EINVAL;
	if (error) {
		close(fd);
		return error;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	file = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		error = -errno;
	close(fd);
	return error ? error : file;
}

int files_status(int fd, struct files_status *status)
{
	struct stat found;

	if (fstat(fd, &found))
		return -errno;
	*status = (struct files_status){
		.device = found.st_dev, .inode = found.st_ino,
		.size = (uint64_t)found.st_size, .links = found.st_nlink,
		.uid = found.st_uid, .changed = found.st_mtim.tv_sec,
	};
	return 0;
}
