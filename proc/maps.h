/* SPDX-License-Identifier: MIT */
#ifndef PROC_MAPS_H
#define PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/names.h"

/* Executable mappings of a process, ascending.  Starts zeroed. */
struct maps {
	struct map {
		uint64_t start, end;	/* [start, end) */
		uint64_t offset;	/* of start, in the file */
		uint32_t file;		/* in names: "libc.so.6"; "" if none */
	} *map;
	size_t count, capacity;
};

/* Parses one line of /proc/PID/maps; false if it maps no code. */
bool maps_parse(char *line, struct map *map, const char **file);

/*
 * Reads /proc/PID/maps to *maps, which must be empty; 0 or -errno, with *maps
 * empty then.  -E2BIG for one with more lines than `most`; *lines is how many
 * were read.
 */
int maps_read(struct maps *maps, uint32_t pid, struct names *names,
	      size_t most, size_t *lines);

/* The mapping that holds the address, or NULL. */
const struct map *maps_find(const struct maps *maps, uint64_t address);
void maps_free(struct maps *maps);

#endif
