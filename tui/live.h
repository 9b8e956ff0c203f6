/* SPDX-License-Identifier: MIT */
#ifndef TUI_LIVE_H
#define TUI_LIVE_H

#include <stdbool.h>

#include "profile.h"

/* What is told in the line above the functions. */
struct live_state {
	uint64_t time;		/* ns since the start */
	uint64_t samples, lost;
	const char *event;	/* what is sampled; NULL: the clock */
	uint64_t hz;
	uint64_t period;	/* ns that a sample stands for; 0: it tells no
				   time */
	size_t cpus;
};

struct live;

/*
 * The ten hottest functions, drawn anew at each drain where the last ones were,
 * while the profile is being filled.  NULL where that cannot be: stdout or stderr
 * is no terminal, or one without a cursor, or we are in its background.
 *
 * A terminal that is slow, or stopped, is not waited for.
 */
struct live *live_open(struct profile *profile);
void live_draw(struct live *live, const struct live_state *state);

/* Erases what was drawn: something better follows.  Takes NULL. */
void live_close(struct live *live);

#endif
