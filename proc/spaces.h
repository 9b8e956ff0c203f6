/* SPDX-License-Identifier: MIT */
#ifndef PROC_SPACES_H
#define PROC_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/files.h"
#include "proc/sideband.h"

/* What code was at which address of which process, at which time. */
struct spaces;

/* `files` has to outlive it.  A message where /proc is not to be had. */
struct spaces *spaces_new(struct files *files);

/* What happened, in the order of time (a side_fn). */
void spaces_event(void *spaces, const struct side_event *event);

/*
 * There are events, from `begin` (ns) on, and none is missing but for those
 * that SIDE_LOST tells of.  `update` gives all up to now to spaces_event().
 * Without this call, /proc is read anew in each round.
 */
void spaces_listen(struct spaces *spaces, uint64_t begin,
		   void (*update)(void *context), void *context);

/*
 * Samples have no time: they are believed only as long as their thread has the
 * same name.
 */
void spaces_timeless(struct spaces *spaces);

/*
 * Reads the mappings of process `tgid`, or of all that there are, for as long
 * as that costs little; the others are read when they are first met.
 */
void spaces_look(struct spaces *spaces, uint32_t tgid);
void spaces_look_around(struct spaces *spaces);

/* After records were lost: reads those that are known anew, if that is due. */
void spaces_look_again(struct spaces *spaces);

/*
 * A new drain begins, and gives samples from that of the last one on: what
 * was before is forgotten.
 */
void spaces_round(struct spaces *spaces);

/* A sample, or several with the same stacks: who, and when. */
struct space_moment {
	uint32_t tgid, tid;
	const char *comm;
	uint64_t first, last;	/* ns, CLOCK_MONOTONIC */
	bool in_kernel;		/* was in the kernel, and may have been in an
				   exec there */
};

/* Why an address has no file. */
enum space_note {
	SPACE_FILE,		/* it has */
	SPACE_UNMAPPED,		/* there was no code */
	SPACE_REMAPPED,		/* not one, but several were there then */
	SPACE_EXEC,		/* the program was just being replaced, and what
				   it was is not known */
	SPACE_EXITED,		/* gone before its mappings could be read */
	SPACE_FORBIDDEN,	/* /proc/PID/maps may not be read */
	SPACE_TOO_MANY,		/* mappings to read them all */
	SPACE_NO_PROC,		/* there is no /proc, or another's */
	SPACE_ELSEWHERE,	/* of another PID namespace: has no number */
};

/* The state of one process in one moment; valid until the next call. */
struct space_view {
	uint32_t space;
	size_t first, last;	/* versions */
	size_t before;		/* + 1: the one before an exec that may not be
				   over; 0: there is none */
	uint64_t from, to;	/* the moment's times */
	uint32_t tgid, tid;
	bool whole;		/* what is not there was not there */
	enum space_note note;	/* not SPACE_FILE: the same for all addresses
				   that are not found */
};
struct space_view spaces_view(struct spaces *spaces,
			      const struct space_moment *moment);

struct place {
	enum space_note note;
	uint32_t file;		/* in the set of files; if SPACE_FILE */
	uint64_t offset;	/* in the file, or the vDSO */
	struct file_user user;	/* for files_open() */
	uint64_t born;		/* when the program began, in ns; 0: before
				   anybody listened */
};
struct place spaces_find(struct spaces *spaces, struct space_view *view,
			 uint64_t address);

/*
 * The code that a view's process had mapped at its last moment: the range that
 * holds `address`, or the first behind it.  False: there is none.
 */
struct range;
bool spaces_next(const struct spaces *spaces, const struct space_view *view,
		 uint64_t address, struct range *range);

/*
 * When the view's program began, in ns; 0: before anybody listened.  False:
 * nothing is known of it.
 */
bool spaces_born(const struct spaces *spaces, const struct space_view *view,
		 uint64_t *born);

/* How it went, for messages. */
struct spaces_cost {
	uint64_t looks, lines;		/* at /proc */
	uint64_t too_many, forbidden;	/* looks that were not taken */
	size_t spaces, ranges;		/* in memory */
};
struct spaces_cost spaces_cost(const struct spaces *spaces);

/* Takes NULL. */
void spaces_free(struct spaces *spaces);

#endif
