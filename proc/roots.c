/* SPDX-License-Identifier: MIT */
/*
 * roots: where a process's paths lead, also when it is gone.
 *
 * The debug files of a container's programs lie in the container.  A name is
 * looked for some seconds after its sample, and the way there, /proc/PID/root,
 * ends with the process; descriptors of that directory and of the mount namespace
 * do not.  They also keep the container's file systems from being taken down, so
 * they are held no longer than until the names are made, 20 seconds at most.
 *
 * Two roots are the same if directory and mount namespace are: a namespace can
 * have the same root as ours and other file systems below it.
 *
 * Source: man 5 proc_pid_root, man 7 mount_namespaces.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/memory.h"
#include "proc/roots.h"
#include "sys/regular.h"
#include "sys/system.h"

/* So many containers whose processes have samples, between two namings. */
enum { ROOTS_MOST = 64 };

static bool look(const char *process, struct root *root)
{
	struct stat directory, mounts;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	if (stat(path, &mounts))
		return false;
	snprintf(path, sizeof(path), "/proc/%s/root", process);
	if (stat(path, &directory))
		return false;
	*root = (struct root){
		.mounts = mounts.st_ino, .device = directory.st_dev,
		.inode = directory.st_ino, .fd = -1, .mounts_fd = -1,
	};
	return true;
}

static bool is_same(const struct root *a, const struct root *b)
{
	return a->mounts == b->mounts && a->device == b->device &&
	       a->inode == b->inode;
}

bool roots_get(struct roots *roots, uint32_t tid, uint32_t *number)
{
	char process[16], path[64];
	struct root root;

	*number = 0;
	snprintf(process, sizeof(process), "%u", tid);
	if ((!roots->ours.inode && !look("self", &roots->ours)) ||
	    !look(process, &root))
		return false;
	if (is_same(&root, &roots->ours))
		return true;
	for (size_t i = 0; i < roots->count; i++)
		if (is_same(&roots->roots[i], &root)) {
			*number = (uint32_t)i + 1;
			return true;
		}
	if (roots->count >= ROOTS_MOST)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/root", process);
	root.fd = system_open_directory(path);
	if (root.fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	root.mounts_fd = open(path, O_RDONLY | O_CLOEXEC);
	roots->roots = memory_grow(roots->roots, &roots->capacity,
				   roots->count + 1, sizeof(root));
	roots->roots[roots->count++] = root;
	*number = (uint32_t)roots->count;
	return true;
}

int roots_fd(const struct roots *roots, uint32_t number)
{
	return number && number <= roots->count ?
	       roots->roots[number - 1].fd : -1;
}

void roots_forget(struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		regular_close(roots->roots[i].fd);
		regular_close(roots->roots[i].mounts_fd);
	}
	roots->count = 0;
}

void roots_free(struct roots *roots)
{
	roots_forget(roots);
	free(roots->roots);
	*roots = (struct roots){ 0 };
}
