/* SPDX-License-Identifier: MIT */
#ifndef PROFILE_BUILD_H
#define PROFILE_BUILD_H

#include <stdbool.h>

#include "profile.h"

/*
 * Makes a profile of what somebody else sampled and named:
 *
 *	profile_build_new ── tasks, images, frames, stacks ──>
 *	profile_build_end ──> a profile as profile_name() leaves it
 *
 * Each returns the number of what it adds, which is the old one if it is there
 * already.
 */
struct profile_build;

/*
 * `show`: SHOW_ flags.  With `alike`, what two recordings have in common gets
 * one number, whatever process and whichever build of a program it is of.
 */
struct profile_build *profile_build_new(unsigned int show, bool alike);

/* Names are made safe as those of our own samples are. */
uint32_t profile_build_task(struct profile_build *build, uint32_t tgid,
			    uint32_t tid, const char *comm);
uint32_t profile_build_image(struct profile_build *build, const char *path,
			     const char *build_id);
uint32_t profile_build_frame(struct profile_build *build, const char *name,
			     enum frame_kind kind, uint32_t image,
			     uint64_t address);

/*
 * Adds samples: `before` are those of the older recording of two.  `frames` are
 * root first.  `stack` says the task, the samples and, if it is known (else
 * MODE_COUNT), the mode.  False, with nothing added, if it is too much: all
 * samples have to fit 63 bits, all frames some GB.
 */
bool profile_build_stack(struct profile_build *build,
			 const struct profile_stack *stack,
			 const uint32_t *frames, size_t depth);

/* Frees all but the profile, which is the caller's then. */
struct profile *profile_build_end(struct profile_build *build);

#endif
