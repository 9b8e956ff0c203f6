/* SPDX-License-Identifier: MIT */
#ifndef OUT_OUT_H
#define OUT_OUT_H

#include "lib/file.h"
#include "lib/text.h"
#include "meta.h"
#include "profile.h"

/* One row per format: profile in, bytes out. */
struct out_format {
	const char *name;		/* for -f */
	const char *endings;		/* of file names, "|" between them */
	unsigned int show;		/* SHOW_ADDRESSES, if it wants those */
	void (*write)(const struct profile *profile, const struct meta *meta,
		      struct file_out *out);
};

/* All names, with a space between them, for messages. */
extern const char out_names[];

/* The format of this name, or NULL. */
const struct out_format *out_named(const char *name);

/*
 * The format that a file's ending asks for: folded for a name without one,
 * NULL for one that no format has.
 */
const struct out_format *out_for_file(const char *path);

/* Appends all endings that are known, for messages. */
void out_endings(struct text *text);

/*
 * Writes the profile to `path` (NULL: stdout), whole or not at all.  0 or
 * -errno after a message.
 */
int out_write(const struct profile *profile, const struct meta *meta,
	      const struct out_format *format, const char *path);

#endif
