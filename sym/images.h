/* SPDX-License-Identifier: MIT */
#ifndef SYM_IMAGES_H
#define SYM_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "proc/files.h"
#include "sym/image.h"

/* The images of mapped files: a few that were asked for last. */
struct images;

/* `files` has to outlive it. */
struct images *images_new(const struct files *files);

/* Which offsets of a file will be asked for until images_trim(); none: any. */
struct images_batch {
	const uint64_t *offsets;
	size_t count;
};

/*
 * The image of a file that is open (files_open()), or was when it was asked
 * for last; NULL else.  Valid until the next call.  `root`: the directory, -1
 * for ours, in which its path is, and the files with its symbols; stays the
 * caller's, and open until images_forget_roots().
 */
struct image *images_get(struct images *images, uint32_t file, int root,
			 const struct images_batch *batch);

/* The same, if it is at hand. */
struct image *images_have(struct images *images, uint32_t file);

/* Its build-id, hexadecimal; "" if it has none or was never asked for. */
const char *images_build_id(const struct images *images, uint32_t file);

/* Lets roots go: debug files that are looked for later are looked for in ours. */
void images_forget_roots(struct images *images);

/* A batch is over: what is dear to keep goes. */
void images_trim(struct images *images);

/* Takes NULL. */
void images_free(struct images *images);

#endif
