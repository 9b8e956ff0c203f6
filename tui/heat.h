/* SPDX-License-Identifier: MIT */
#ifndef TUI_HEAT_H
#define TUI_HEAT_H

#include "out/tree.h"
#include "profile.h"

/* What is hot now, and since the start, while a profile is being filled. */
struct heat {
	struct profile *profile;
	struct heat_function {
		const char *name, *image;	/* as in struct tree_label */
		enum tree_kind kind;
		uint64_t samples;	/* busy ones that end in it */
		double now;		/* the same, old ones counting less */
	} **functions;		/* those that are not cold, hottest first */
	size_t function_count;
	struct heat_thread {
		uint32_t comm;		/* in profile->names */
		double now;
	} **threads;		/* by name, the same way */
	size_t thread_count;
	uint64_t busy, idle;	/* samples */
	double busy_now, time_now;	/* time: ns */

	struct heat_work *work;
};

/* heat_free() is owed. */
void heat_new(struct heat *heat, struct profile *profile);

/*
 * Looks at the profile again, `time` ns after the last look.  Of kernel code only
 * the hottest gets names, as much of it as takes a twentieth of the time.
 */
void heat_look(struct heat *heat, uint64_t time);
void heat_free(struct heat *heat);

#endif
