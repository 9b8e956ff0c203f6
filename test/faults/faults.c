/* SPDX-License-Identifier: MIT */
/*
 * faults: makes one system call of the product fail, and says what is left.
 *
 * Linked by -Wl,--wrap, so that each call of the product's objects passes here
 * before it goes to libc.  A call has a name: what is called, and on what, with
 * numbers as N and files without their directories:
 *
 *	bpf MAP_CREATE stacks0    open /proc/N/maps    calloc at 4034f1
 *
 * FAULTS		faults, with `;` between: NAME#2=12 fails the second call of
 *		this name with errno 12, NAME#2+=12 that and all later ones.
 *		Instead of a number: `short` moves one byte only, `end` is the
 *		end of the file.
 * FAULTS_REPORT	a file for what is known when the process ends:
 *
 *	call 3 open /proc/N/maps	so often was it called
 *	struck 1			so many calls the first fault made fail
 *	open 7 anon_inode:bpf-map	a descriptor that was not closed
 *	blocks 2			so much memory was not freed
 *
 * What the product's child does before it becomes another program is called
 * `child ...`, and is not in the report.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "lib/memory.h"

enum { POINTS_MOST = 1024, FAULTS_MOST = 8, FDS_MOST = 4096, NAME_SIZE = 80 };

/* In place of an errno. */
enum { MOVE_ONE_BYTE = -1, END_OF_FILE = -2 };

static struct point {
	char name[NAME_SIZE];
	unsigned long count;
} points[POINTS_MOST];

static struct fault {
	const char *name;
	unsigned long from;
	bool onwards;
	int what;
} faults[FAULTS_MOST];

static size_t point_count, fault_count;
static unsigned long struck, blocks;
static bool open_at_start[FDS_MOST];
static char map_of[FDS_MOST][BPF_OBJ_NAME_LEN];
static const char *prefix = "";
static const void *site;	/* who wants memory */

#define WRAP(type, call, ...) \
	type __real_##call(__VA_ARGS__); \
	type __wrap_##call(__VA_ARGS__); \
	type __wrap_##call(__VA_ARGS__)

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_readlink(const char *path, char *to, size_t size);

/* ------------------------------------------------------------ which calls */

/* The errno for this call (or MOVE_ONE_BYTE...), or 0 if it is to go on. */
static int strike(const char *call, const char *object)
{
	char name[NAME_SIZE];
	size_t i;

	snprintf(name, sizeof(name), "%s%s%s%s", prefix, call,
		 *object ? " " : "", object);
	for (i = 0; i < point_count && strcmp(points[i].name, name); i++)
		;
	if (i == POINTS_MOST)
		abort();
	if (i == point_count)
		strcpy(points[point_count++].name, name);
	points[i].count++;
	for (size_t j = 0; j < fault_count; j++) {
		if (strcmp(faults[j].name, name) ||
		    (faults[j].onwards ? points[i].count < faults[j].from :
		     points[i].count != faults[j].from))
			continue;
		struck += j == 0;
		return faults[j].what;
	}
	return 0;
}

/* A path as a part of a name: the same in each run. */
static const char *short_path(const char *path)
{
	static char text[NAME_SIZE];
	const char *slash = strrchr(path, '/');
	size_t length = 0;

	if (slash && strncmp(path, "/proc/", 6) && strncmp(path, "/sys/", 5) &&
	    strncmp(path, "/dev/", 5))
		path = slash + 1;
	if (!strncmp(path, ".prof.", 6))
		return ".prof.X";
	while (*path && length < sizeof(text) - 1) {
		bool digit = *path >= '0' && *path <= '9';

		text[length++] = *path;
		if (digit)
			text[length - 1] = 'N';
		path += digit ? strspn(path, "0123456789") : 1;
	}
	text[length] = '\0';
	return text;
}

static const char *fd_path(int fd)
{
	static const char *const standard[] = { "stdin", "stdout", "stderr" };
	static char path[4096];
	char link[32];
	ssize_t length;

	if (fd >= 0 && fd < 3)
		return standard[fd];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = __real_readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	return short_path(path);
}

static bool is_open(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

/* ---------------------------------------------------------- start and end */

static void report(void)
{
	const char *path = getenv("FAULTS_REPORT");
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	for (size_t i = 0; i < point_count; i++)
		fprintf(file, "call %lu %s\n", points[i].count, points[i].name);
	fprintf(file, "struck %lu\n", struck);
	for (int fd = 0; fd < FDS_MOST; fd++)
		if (!open_at_start[fd] && fd != fileno(file) && is_open(fd))
			fprintf(file, "open %d %s\n", fd, fd_path(fd));
	fprintf(file, "blocks %lu\n", blocks);
	fclose(file);
}

static void read_fault(char *text)
{
	struct fault fault = { .name = text };
	char *number = strrchr(text, '#'), *what = strrchr(text, '=');

	if (!number || !what || what < number || fault_count == FAULTS_MOST) {
		fprintf(stderr, "FAULTS: %s\n", text);
		_exit(99);
	}
	*number = '\0';
	fault.from = strtoul(number + 1, NULL, 10);
	fault.onwards = what[-1] == '+';
	fault.what = !strcmp(what + 1, "short") ? MOVE_ONE_BYTE :
		     !strcmp(what + 1, "end") ? END_OF_FILE : atoi(what + 1);
	faults[fault_count++] = fault;
}

/* Before main, so that this end comes after all others. */
__attribute__((constructor)) static void begin(void)
{
	char *text = getenv("FAULTS");

	for (int fd = 0; fd < FDS_MOST; fd++)
		open_at_start[fd] = is_open(fd);
	text = text ? strdup(text) : NULL;
	for (text = text ? strtok(text, ";") : NULL; text;
	     text = strtok(NULL, ";"))
		read_fault(text);
	atexit(report);
}

/* -------------------------------------------------------------- the kernel */

static const char *bpf_command(int command)
{
	static const char *const names[] = {
		[BPF_MAP_CREATE] = "MAP_CREATE",
		[BPF_MAP_LOOKUP_ELEM] = "MAP_LOOKUP_ELEM",
		[BPF_MAP_UPDATE_ELEM] = "MAP_UPDATE_ELEM",
		[BPF_MAP_DELETE_ELEM] = "MAP_DELETE_ELEM",
		[BPF_MAP_GET_NEXT_KEY] = "MAP_GET_NEXT_KEY",
		[BPF_MAP_LOOKUP_AND_DELETE_BATCH] = "MAP_LOOKUP_AND_DELETE_BATCH",
		[BPF_MAP_FREEZE] = "MAP_FREEZE",
		[BPF_PROG_LOAD] = "PROG_LOAD",
		[BPF_PROG_TEST_RUN] = "PROG_TEST_RUN",
	};

	if (command < 0 || command >= (int)(sizeof(names) / sizeof(*names)) ||
	    !names[command])
		return "?";
	return names[command];
}

static const char *bpf_object_of(int command, const union bpf_attr *attr)
{
	switch (command) {
	case BPF_MAP_CREATE:
		return attr->map_name;
	case BPF_PROG_LOAD:
		return attr->prog_name;
	case BPF_PROG_TEST_RUN:
		return "";
	default:
		/* map_fd and batch.map_fd */
		return map_of[command == BPF_MAP_LOOKUP_AND_DELETE_BATCH ?
			      attr->batch.map_fd : attr->map_fd];
	}
}

static int strike_bpf(int command, union bpf_attr *attr)
{
	char name[NAME_SIZE];
	int fault;

	snprintf(name, sizeof(name), "%s %s", bpf_command(command),
		 bpf_object_of(command, attr));
	fault = strike("bpf", name);
	/* The kernel writes this before it does anything else. */
	if (fault && command == BPF_MAP_LOOKUP_AND_DELETE_BATCH)
		attr->batch.count = 0;
	return fault;
}

static int strike_syscall(long number, long a, long b)
{
	switch (number) {
	case SYS_bpf:
		return strike_bpf((int)a, (union bpf_attr *)b);
	case SYS_perf_event_open:
		return strike("perf_event_open",
			      ((struct perf_event_attr *)a)->task ? "forks" :
			      "clock");
	case SYS_getrandom:
		return strike("getrandom", "");
	case SYS_membarrier:
		return strike("membarrier", "");
	case SYS_sched_getaffinity:
		return strike("sched_getaffinity", "");
	default:
		return 0;
	}
}

WRAP(long, syscall, long number, ...)
{
	long a[6], result;
	va_list args;
	int fault;

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	fault = strike_syscall(number, a[0], a[1]);
	if (fault) {
		errno = fault;
		return -1;
	}
	result = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE && result >= 0 &&
	    result < FDS_MOST)
		memcpy(map_of[result], ((union bpf_attr *)a[1])->map_name,
		       BPF_OBJ_NAME_LEN);
	return result;
}

WRAP(int, ioctl, int fd, int request, ...)
{
	const char *what = (unsigned int)request == PERF_EVENT_IOC_SET_BPF ?
			   "SET_BPF" :
			   (unsigned int)request == PERF_EVENT_IOC_ENABLE ?
			   "ENABLE" :
			   (unsigned int)request == PERF_EVENT_IOC_DISABLE ?
			   "DISABLE" : "?";
	int fault = strike("ioctl", what);
	va_list args;
	long argument;

	va_start(args, request);
	argument = va_arg(args, long);
	va_end(args);
	if (fault) {
		errno = fault;
		return -1;
	}
	return __real_ioctl(fd, request, argument);
}

/* ---------------------------------------------------------------- memory */

WRAP(void *, memory_new, size_t count, size_t size)
{
	void *data;

	site = __builtin_return_address(0);
	data = __real_memory_new(count, size);
	site = NULL;
	return data;
}

WRAP(char *, memory_text, const char *text, size_t length)
{
	char *copy;

	site = __builtin_return_address(0);
	copy = __real_memory_text(text, length);
	site = NULL;
	return copy;
}

WRAP(void *, memory_grow, void *data, size_t *capacity, size_t need,
     size_t size)
{
	site = __builtin_return_address(0);
	data = __real_memory_grow(data, capacity, need, size);
	site = NULL;
	return data;
}

static bool strike_memory(const char *call)
{
	char at[32];

	snprintf(at, sizeof(at), "at %lx", (unsigned long)(uintptr_t)site);
	return strike(call, at);
}

WRAP(void *, calloc, size_t count, size_t size)
{
	void *data = strike_memory("calloc") ? NULL :
		     __real_calloc(count, size);

	blocks += data != NULL;
	return data;
}

WRAP(void *, realloc, void *data, size_t size)
{
	void *new = strike_memory("realloc") ? NULL :
		    __real_realloc(data, size);

	blocks += new && !data;
	return new;
}

WRAP(void, free, void *data)
{
	blocks -= data != NULL;
	__real_free(data);
}

/* ----------------------------------------------------- reading and writing */

WRAP(ssize_t, read, int fd, void *data, size_t size)
{
	int fault = strike("read", fd_path(fd));

	if (fault == END_OF_FILE)
		return 0;
	if (fault > 0) {
		errno = fault;
		return -1;
	}
	return __real_read(fd, data, fault && size ? 1 : size);
}

WRAP(ssize_t, write, int fd, const void *data, size_t size)
{
	int fault = strike("write", fd_path(fd));

	if (fault > 0) {
		errno = fault;
		return -1;
	}
	return __real_write(fd, data, fault && size ? 1 : size);
}

/* Closed it is all the same: so does Linux. */
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int fault = strike("close", fd_path(fd));
	int result = __real_close(fd);

	if (!fault)
		return result;
	errno = fault;
	return -1;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	int fault = strike("open", short_path(path));
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (fault) {
		errno = fault;
		return -1;
	}
	return __real_open(path, flags, mode);
}

WRAP(int, fcntl, int fd, int command, ...)
{
	int fault = strike("fcntl", command == F_GETFD ? "GETFD" : "DUPFD");
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	if (fault) {
		errno = fault;
		return -1;
	}
	return __real_fcntl(fd, command, argument);
}

WRAP(char *, realpath, const char *path, char *to)
{
	int fault = strike("realpath", short_path(path));

	if (!fault)
		return __real_realpath(path, to);
	errno = fault;
	return NULL;
}

WRAP(pid_t, fork, void)
{
	int fault = strike("fork", "");
	pid_t pid;

	if (fault) {
		errno = fault;
		return -1;
	}
	pid = __real_fork();
	if (!pid)
		prefix = "child ";
	return pid;
}

WRAP(void *, mmap, void *at, size_t size, int protection, int flags, int fd,
     off_t offset)
{
	int fault = strike("mmap", fd_path(fd));

	if (!fault)
		return __real_mmap(at, size, protection, flags, fd, offset);
	errno = fault;
	return MAP_FAILED;
}

/* All others return -1 and set errno. */
#define PLAIN(call, object, arguments, ...) \
	WRAP(int, call, __VA_ARGS__) \
	{ \
		int fault = strike(#call, object); \
	\
		if (!fault) \
			return __real_##call arguments; \
		errno = fault; \
		return -1; \
	}

PLAIN(pipe2, "", (fds, flags), int fds[2], int flags)
PLAIN(poll, "", (fds, count, ms), struct pollfd *fds, nfds_t count, int ms)
PLAIN(ppoll, "", (fds, count, left, mask), struct pollfd *fds, nfds_t count,
      const struct timespec *left, const sigset_t *mask)
PLAIN(rename, short_path(to), (from, to), const char *from, const char *to)
PLAIN(fchmod, fd_path(fd), (fd, mode), int fd, mode_t mode)
PLAIN(fchown, fd_path(fd), (fd, user, group), int fd, uid_t user, gid_t group)
PLAIN(stat, short_path(path), (path, status), const char *path,
      struct stat *status)
PLAIN(lstat, short_path(path), (path, status), const char *path,
      struct stat *status)
PLAIN(fstat, fd_path(fd), (fd, status), int fd, struct stat *status)
PLAIN(access, short_path(path), (path, mode), const char *path, int mode)
PLAIN(unlink, short_path(path), (path), const char *path)
PLAIN(waitpid, "", (pid, status, flags), pid_t pid, int *status, int flags)
PLAIN(kill, "", (pid, number), pid_t pid, int number)
PLAIN(setpriority, "", (which, who, nice), int which, id_t who, int nice)
PLAIN(setrlimit, "", (what, limit), int what, const struct rlimit *limit)
PLAIN(execvp, short_path(path), (path, argv), const char *path,
      char *const argv[])

ssize_t __wrap_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	int fault = strike("readlink", short_path(path));

	if (!fault)
		return __real_readlink(path, to, size);
	errno = fault;
	return -1;
}
