/* SPDX-License-Identifier: MIT */
/*
 * perf: perf_event_open(2) and what is done with its descriptors.
 *
 * An event without a ring buffer is a timer with a program: the kernel calls
 * the program from the timer's interrupt and nothing else happens.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/explain.h"
#include "sys/perf.h"

/*
 * int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
 *		       int group_fd, unsigned long flags);
 */
int perf_event_open(struct perf_event_attr *attr, int pid, int cpu,
		    int group_fd, unsigned long flags)
{
	int fd;

	attr->size = sizeof(*attr);
	flags |= PERF_FLAG_FD_CLOEXEC;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
	if (fd < 0)
		fd = -errno;
	if (explain_calls())
		explain_perf_event_open(attr, pid, cpu, group_fd, flags, fd);
	return fd;
}

static int perf_ioctl(int fd, unsigned long request, int argument)
{
	/* musl's request is an int, and drops bits of no meaning. */
	int error = ioctl(fd, (int)request, argument) ? -errno : 0;

	if (explain_calls())
		explain_ioctl(fd, request, argument, error);
	return error;
}

int perf_event_set_bpf(int fd, int prog_fd)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd);
}

int perf_event_enable(int fd)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int perf_event_disable(int fd)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* What PERF_FORMAT_TOTAL_TIME_ENABLED makes of read(2): the count, the time. */
static int read_values(int fd, uint64_t values[2])
{
	ssize_t got = read(fd, values, 2 * sizeof(*values));

	if (got < 0)
		got = -errno;
	if (explain_calls())
		explain_read(fd, 2 * sizeof(*values), values, got);
	if (got < 0)
		return (int)got;
	return got == 2 * sizeof(*values) ? 0 : -EIO;
}

int perf_event_time_enabled(int fd, uint64_t *ns)
{
	uint64_t values[2];
	int error = read_values(fd, values);

	*ns = error ? 0 : values[1];
	return error;
}

int perf_event_count(int fd, uint64_t *count)
{
	uint64_t values[2];
	int error = read_values(fd, values);

	*count = error ? 0 : values[0];
	return error;
}
