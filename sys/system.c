/* SPDX-License-Identifier: MIT */
/* system: clocks, limits, sysctls, and the rest of what a kernel is asked. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include "lib/file.h"
#include "lib/text.h"
#include "sys/explain.h"
#include "sys/system.h"

/* Of the kernel, not of user space, and bpf(2) gives it all the same. */
enum { KERNEL_ENOTSUPP = 524 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t system_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static int64_t time_of(clockid_t clock, uint64_t ns)
{
	int64_t ago = (int64_t)(clock_ns(clock) - ns);

	return ((int64_t)clock_ns(CLOCK_REALTIME) - ago) / 1000000000;
}

int64_t system_time_of(uint64_t now)
{
	return time_of(CLOCK_MONOTONIC, now);
}

int64_t system_time_of_boot(uint64_t ns)
{
	return time_of(CLOCK_BOOTTIME, ns);
}

uint32_t system_user(void)
{
	return geteuid();
}

uint64_t system_wall_clock(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void system_host(char *name, size_t size)
{
	struct utsname names = { 0 };

	uname(&names);
	snprintf(name, size, "%s", names.nodename);
}

void system_kernel(char *name, size_t size)
{
	struct utsname names = { 0 };

	uname(&names);
	snprintf(name, size, "%s %s %s", names.sysname, names.release,
		 names.machine);
}

uint64_t system_cpu_time(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t system_peak_rss(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss;
}

uint64_t system_sysctl(const char *name, uint64_t other)
{
	char path[128], text[32];
	uint64_t value;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (file_read_text(path, text, sizeof(text)) ||
	    !text_number(text, 10, 0, UINT64_MAX, &value))
		return other;
	return value;
}

bool system_task_exists(uint32_t tid)
{
	/* 0 and numbers that are negative as int mean whole groups. */
	return tid && tid <= INT32_MAX &&
	       (!kill((pid_t)tid, 0) || errno == EPERM);
}

int system_priority(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

void system_set_priority(int nice)
{
	/* Not permitted: then it has to do as it is. */
	setpriority(PRIO_PROCESS, 0, nice);
}

int system_lift_memlock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_MEMLOCK, &all) ? -errno : 0;
}

int system_membarrier(void)
{
	int error = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ?
		    -errno : 0;

	if (explain_calls())
		explain_membarrier(error);
	return error;
}

void system_guard_descriptors(void)
{
	/* open(2) gives the lowest free number.  "/" where no /dev is. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			(void)!open("/", O_PATH);
}

int system_open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool system_is_terminal(int fd)
{
	return isatty(fd);
}

const char *system_strerror(int error)
{
	if (error < 0)
		error = -error;
	if (error == KERNEL_ENOTSUPP)
		return "Operation not supported by this kernel";
	return strerror(error);
}
