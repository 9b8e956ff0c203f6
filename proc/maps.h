/* SPDX-License-Identifier: MIT */
#ifndef PROC_MAPS_H
#define PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of /proc/PID/maps. */
struct map {
	uint64_t start, end;		/* [start, end) */
	uint64_t offset;		/* of start, in the file */
	uint64_t inode;			/* 0: there is no file */
	uint32_t major, minor;		/* of the file's device */
	bool executable;
	const char *path;		/* "" if there is none */
};

/* Parses a line, to which map->path points then; false if it is none. */
bool maps_parse(char *line, struct map *map);

typedef void maps_fn(void *context, const struct map *map);

/*
 * Gives each executable mapping of process or thread `pid`, as `each` likes it,
 * in ascending order.  0 or -errno; -E2BIG for one with more lines than `most`;
 * -ENOENT for one that has none (a zombie, a kernel thread).  *lines is how
 * many were read.
 */
int maps_read(uint32_t pid, size_t most, size_t *lines, maps_fn *each,
	      void *context);

/*
 * The first mapping of `pid` ("self", or a number) that shows this file, or,
 * with inode 0, the one that begins at map->start.  Without its path.  False if
 * there is none.
 */
bool maps_locate(const char *pid, struct map *map);

#endif
