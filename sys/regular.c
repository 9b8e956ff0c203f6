/* SPDX-License-Identifier: MIT */
/*
 * regular: files of other people, opened with care.
 *
 * What a path leads to, its owner decides, and can change it at any moment.  A
 * plain open(2) of a FIFO waits for ever, that of a device does something.  So:
 *
 *	open(path, O_PATH) ── fstat, fstatfs: regular? ──> open(/proc/self/fd/N)
 *
 * The second open gives that very file again, whatever the path means by then.
 * Where there is no /proc, the path is opened a second time, and compared.
 *
 * Sources: man 2 open (O_PATH), man 2 openat2, <linux/fs.h> (FS_IOC_GETVERSION),
 * man 3 getauxval.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include "sys/regular.h"

enum { MEMORY_MOST = 1024 * 1024 };

/* errno of a system call that gave -1, as the result. */
static int result(long value)
{
	return value < 0 ? -errno : (int)value;
}

static int open_at(int root, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	if (root < 0)
		return result(open(path, (int)how.flags));
	return result(syscall(SYS_openat2, root, path, &how, sizeof(how)));
}

/* File systems whose "files" are questions to the kernel. */
static bool is_pseudo(const struct statfs *fs)
{
	switch ((uint32_t)fs->f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case SELINUX_MAGIC:
	case SMACK_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC:
	case EFIVARFS_MAGIC:
	case PSTOREFS_MAGIC:
	case BINFMTFS_MAGIC:
	case DEVPTS_SUPER_MAGIC:
	case NSFS_MAGIC:
	case RDTGROUP_SUPER_MAGIC:
	case 0x62656570:	/* configfs */
	case 0x65735543:	/* the control files of FUSE */
	case 0x19800202:	/* mqueue */
		return true;
	default:
		return false;
	}
}

/* Opens for reading what is open by its path only. */
static int reopen(int fd, int root, const char *path, const struct stat *seen)
{
	const uint64_t flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct stat status;
	char link[32];
	int got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = open_at(-1, link, flags);
	if (got == -ENOENT)
		got = open_at(root, path, flags);
	if (got < 0)
		return got;
	if (!fstat(got, &status) && S_ISREG(status.st_mode) &&
	    status.st_dev == seen->st_dev && status.st_ino == seen->st_ino)
		return got;
	close(got);
	return -EBADF;
}

static int open_regular(int root, const char *path, uint64_t flags)
{
	struct statfs fs;
	struct stat status;
	int fd = open_at(root, path, O_PATH | flags), got;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) || fstatfs(fd, &fs))
		got = -errno;
	else if (S_ISLNK(status.st_mode))
		got = -ELOOP;
	else if (!S_ISREG(status.st_mode) || is_pseudo(&fs))
		got = -EBADF;
	else
		got = reopen(fd, root, path, &status);
	close(fd);
	return got;
}

int regular_open(int root, const char *path)
{
	return open_regular(root, path, 0);
}

int regular_open_itself(int root, const char *path)
{
	return open_regular(root, path, O_NOFOLLOW);
}

/* Asked only where the answer is the inode's generation, and comes at once. */
static uint32_t generation_of(int fd)
{
	struct statfs fs;
	/* An int is written, whatever the request's number says. */
	union {
		long wide;
		uint32_t number;
	} generation = { 0 };

	if (fstatfs(fd, &fs))
		return 0;
	switch ((uint32_t)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
		break;
	default:
		return 0;
	}
	if (ioctl(fd, FS_IOC_GETVERSION, &generation.wide))
		return 0;
	return generation.number;
}

int regular_stat(int fd, struct regular *regular)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*regular = (struct regular){
		.inode = status.st_ino, .size = (uint64_t)status.st_size,
		.major = major(status.st_dev), .minor = minor(status.st_dev),
		.generation = generation_of(fd), .links = status.st_nlink,
		.owner = status.st_uid, .changed = status.st_mtim.tv_sec,
	};
	return 0;
}

bool regular_read(int fd, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX &&
	       pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

void *regular_map(int fd)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

void regular_unmap(void *page)
{
	munmap(page, 1);
}

/* Writes `size` bytes of process `pid` to fd. */
static int copy_memory(int fd, uint32_t pid, uint64_t from, size_t size)
{
	char path[32], chunk[4096];
	int memory, error = 0;

	if (!pid)
		return write(fd, (const void *)(uintptr_t)from, size) ==
		       (ssize_t)size ? 0 : -EFAULT;
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return -errno;
	while (size && !error) {
		size_t part = size < sizeof(chunk) ? size : sizeof(chunk);

		if (pread(memory, chunk, part, (off_t)from) != (ssize_t)part ||
		    write(fd, chunk, part) != (ssize_t)part)
			error = -EFAULT;
		from += part;
		size -= part;
	}
	close(memory);
	return error;
}

int regular_copy_memory(uint32_t pid, uint64_t from, size_t size)
{
	int fd, error;

	if (!size || size > MEMORY_MOST || from > INT64_MAX)
		return -EINVAL;
	fd = (int)syscall(SYS_memfd_create, "vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = copy_memory(fd, pid, from, size);
	if (!error)
		return fd;
	close(fd);
	return error;
}

uint64_t regular_vdso(void)
{
	return getauxval(AT_SYSINFO_EHDR);
}

int regular_copy(int fd)
{
	return result(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

size_t regular_descriptors(void)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > SIZE_MAX ? SIZE_MAX : (size_t)limit.rlim_cur;
}

void regular_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
