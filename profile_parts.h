/* SPDX-License-Identifier: MIT */
#ifndef PROFILE_PARTS_H
#define PROFILE_PARTS_H

#include <stdbool.h>

#include "lib/index.h"
#include "lib/text.h"
#include "profile.h"

/*
 * The tasks, images and frames of a profile that is being made, each once.
 * Starts zeroed.  Each function returns the number of what it adds, which is the
 * old one if it is there already.
 */
struct profile_parts {
	bool alike;	/* frames of one name and kind are one frame, whatever
			   image they are of; that of the first stays */
	struct index tasks, images, frames;
	size_t task_capacity, image_capacity, frame_capacity;
	struct text text;	/* for the name at hand */
};

uint32_t profile_parts_task(struct profile_parts *parts,
			    struct profile *profile,
			    const struct profile_task *task);

/* Texts are made safe as names of frames are; "" stays. */
uint32_t profile_parts_image(struct profile_parts *parts,
			     struct profile *profile, const char *path,
			     const char *build_id);

/* `frame` without its name: that is `name`, made safe. */
uint32_t profile_parts_frame(struct profile_parts *parts,
			     struct profile *profile, const char *name,
			     struct profile_frame frame);

/* What is in the profile stays. */
void profile_parts_free(struct profile_parts *parts);

#endif
