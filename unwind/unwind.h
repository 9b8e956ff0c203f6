/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "loader.h"
#include "proc/files.h"
#include "proc/sideband.h"
#include "proc/spaces.h"
#include "samples.h"
#include "unwind/tables.h"

/*
 * Whole user stacks of programs without frame pointers: the walker in the
 * kernel, its tables, and the walks of copies.
 *
 *	unwind_open ─> loads the walker; from then on it takes the ticks
 *	unwind_event   what happened to processes
 *	unwind_read    copies that have come, as samples; tables for whom they
 *	               are from
 */
struct unwind;

/*
 * What it works with; all of it has to outlive it.  `hz`: ticks a second of all
 * CPUs; `memory`: what its maps may take, in bytes.
 */
struct unwind_world {
	struct loader *loader;
	struct files *files;
	struct spaces *spaces;
	uint64_t hz, memory;
	bool must;		/* say what is refused */
	/* Whether a sample is of a process that is asked for: only these cost
	 * anything.  NULL: all are. */
	bool (*wanted)(void *context, const struct sample *sample);
	void *context;		/* for `wanted` */
};

/*
 * NULL where the kernel refuses it; *why says what, in words.  Samples are by
 * frame pointers then, as before.
 */
struct unwind *unwind_open(const struct unwind_world *world, const char **why);

/* A side_fn: mappings of a process change, it runs another program, it ends. */
void unwind_event(struct unwind *unwind, const struct side_event *event);

/* Becomes readable when the first copy comes after a unwind_read(). */
int unwind_fd(const struct unwind *unwind);

/* Gives each copied sample, walked, to `add`. */
void unwind_read(struct unwind *unwind, samples_fn *add, void *context);

/* How it went. */
struct unwind_cost {
	uint64_t copies;	/* samples that came as such */
	uint64_t spaces;	/* processes whose tables went to the kernel */
	uint64_t ns;		/* CPU time for all of it */
	uint64_t resets;	/* for want of room for mappings */
	bool kernel_mode;	/* samples in the kernel are walked as well */
	bool full;		/* no room for a table */
	struct tables_cost tables;
};
struct unwind_cost unwind_cost(const struct unwind *unwind);

/* Takes NULL. */
void unwind_close(struct unwind *unwind);

#endif
