/* SPDX-License-Identifier: MIT */
#ifndef SYM_IMAGE_H
#define SYM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/notes.h"
#include "lib/bytes.h"

/* All names of one file that is mapped somewhere. */
struct image;

struct image_source {
	/*
	 * A regular file, proved to be what was mapped; the caller's, to be
	 * held until image_close().
	 */
	int fd;
	/*
	 * Where its task sees it, for the directory of .gnu_debuglink; NULL if
	 * nobody knows.  Copied.
	 */
	const char *path;
	/* The task's root directory, O_PATH, to be held, too; -1: ours. */
	int root;
};

/*
 * Never NULL: whatever is wrong with the file, there are only no names.  Nothing
 * is read before the first image_find().
 */
struct image *image_open(const struct image_source *source);

/* An ELF image in memory (the vDSO), which has to stay. */
struct image *image_open_memory(struct bytes bytes);

enum image_found {
	IMAGE_NAME,
	IMAGE_FUNCTION,		/* its bounds alone: [file+0xstart] */
	IMAGE_NOTHING,
};

struct image_name {
	/*
	 * Mangled as in the file, but without versions and the endings of
	 * clones; valid until image_close().  NULL without one.
	 */
	const char *name;
	/*
	 * The function (or that part of it): where it begins, as an offset in
	 * the file like what was asked for, and in bytes.
	 */
	uint64_t start, size;
	/*
	 * What was asked for, as the file's program headers count; IMAGE_NOTHING
	 * has it as well, but 0 for what no header covers.
	 */
	uint64_t address;
	bool plt;		/* a stub: `name` ends in @plt */
};

/*
 * The function at an offset of the file: that of a mapping is
 * address - map.start + map.offset.
 */
enum image_found image_find(struct image *image, uint64_t offset,
			    struct image_name *name);

/* The build-id of the file; false, and size 0, if it has none. */
bool image_build_id(struct image *image, struct elf_build_id *id);

/* image_source.root will be closed: from now on it is ours. */
void image_forget_root(struct image *image);

/*
 * Only these offsets will be asked for, so that of large tables no more than
 * that is read; to be called before the first image_find(), or not at all.
 */
void image_want(struct image *image, const uint64_t *offsets, size_t count);

/* Whether other offsets can be asked for all the same. */
bool image_is_whole(const struct image *image);

/* What it takes in memory by now: for whoever keeps many. */
size_t image_memory(const struct image *image);

/* In words, why there are no names at all; NULL if there may be some. */
const char *image_why(const struct image *image);

/* Takes NULL. */
void image_close(struct image *image);

#endif
