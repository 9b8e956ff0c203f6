/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_TABLES_H
#define UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "loader.h"
#include "proc/files.h"

/*
 * The rows of all files that were met, in the kernel's maps `parts` and `rows`.
 * Files are known by their numbers in a set of files.
 */
struct tables;

/* What is known of a file. */
struct table {
	uint32_t file;
	uint32_t part, parts;	/* a run in the map; 0 parts: it has no rows */
	size_t rows;
	uint64_t base;		/* rows count from this address of the file */
	struct table_segment {
		uint64_t offset, size, address;
	} segments[8];		/* those that can be executed */
	size_t segment_count;
};

/*
 * `loader` has made the maps, and makes `rows` anew when it has to grow, to at
 * most `chunks`; `grow` loads the programs that use it.  What it returns is 0
 * or -errno.
 */
struct tables *tables_new(struct loader *loader, struct files *files,
			  uint32_t chunks, int (*grow)(void *context),
			  void *context);

/*
 * The table of a file, made at its first sight.  NULL if the file cannot be had
 * or if there is no more room.  Valid until the next call.
 */
const struct table *tables_get(struct tables *tables, uint32_t file,
			       const struct file_user *user);

/*
 * address - bias is what rows of the table have as pc, for a mapping that
 * begins at `start` with the file's byte `offset`.  False if nothing executable
 * is there.
 */
bool table_bias(const struct table *table, uint64_t start, uint64_t offset,
		uint64_t *bias);

/* The row of a pc; false if there is none. */
bool tables_row(struct tables *tables, const struct table *table, uint32_t pc,
		struct unwind_row *row);

/*
 * The 8 bytes of a plain file in front of `end`, as a little-endian word.  False
 * if they cannot be had.
 */
bool tables_code(struct tables *tables, uint32_t file,
		 const struct file_user *user, uint64_t end, uint64_t *word);

/* No memory of the maps stays mapped here. */
void tables_release(struct tables *tables);

/* Room ran out, and a table was not made: ever; since tables_forget(). */
bool tables_full(const struct tables *tables);
bool tables_tight(const struct tables *tables);

/* Begins anew.  No walker may use any table. */
void tables_forget(struct tables *tables);

struct tables_cost {
	size_t files, rows;
	uint64_t bytes;		/* of the kernel's memory for rows */
	uint64_t ns;		/* CPU time to make them */
};
struct tables_cost tables_cost(const struct tables *tables);

/* Takes NULL. */
void tables_free(struct tables *tables);

#endif
