/* SPDX-License-Identifier: MIT */
#ifndef PROC_ROOTS_H
#define PROC_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Root directories of processes that see other files than we do, held from one
 * naming to the next.  Starts zeroed.
 */
struct roots {
	struct root {
		uint64_t mounts;	/* the mount namespace's inode */
		uint64_t device, inode;
		int fd, mounts_fd;
	} *roots;
	size_t count, capacity;
	struct root ours;
};

/*
 * The root of a process, asked by one of its threads: a number that roots_fd()
 * takes until roots_forget(), 0 if it is ours.  False if that cannot be had, as
 * the thread is gone, or as there are too many roots.
 */
bool roots_get(struct roots *roots, uint32_t tid, uint32_t *number);

/* A descriptor that stays roots', -1 for ours. */
int roots_fd(const struct roots *roots, uint32_t number);

/* Closes all; their numbers are over. */
void roots_forget(struct roots *roots);
void roots_free(struct roots *roots);

#endif
