/* SPDX-License-Identifier: MIT */
/*
 * namespace: whose process numbers we speak.
 *
 * The kernel's BPF side numbers tasks as the first PID namespace does, perf
 * and kill(2) as ours, /proc as the one that mounted it.  Outside containers
 * all are the same.  Inside, the program in the kernel is told to use ours
 * (struct scope), and /proc is used only if it is ours, too.
 *
 * Sources: man 7 pid_namespaces; <linux/proc_ns.h>.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/namespace.h"

enum { FIRST_NAMESPACE = 0xeffffffc };	/* PROC_PID_INIT_INO */

void namespace_name(uint64_t *device, uint64_t *inode)
{
	struct stat status;

	*device = *inode = 0;
	if (stat("/proc/self/ns/pid", &status) ||
	    status.st_ino == (ino_t)(uint32_t)FIRST_NAMESPACE)
		return;
	/* The kernel's own form of a device number: 12 and 20 bits. */
	*device = (uint64_t)major(status.st_dev) << 20 |
		  minor(status.st_dev);
	*inode = status.st_ino;
}

int namespace_check_proc(void)
{
	char link[32];
	ssize_t length = readlink("/proc/self", link, sizeof(link) - 1);

	if (length <= 0)
		return -ENOENT;
	link[length] = '\0';
	return strtol(link, NULL, 10) == getpid() ? 0 : -EXDEV;
}
