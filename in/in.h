/* SPDX-License-Identifier: MIT */
#ifndef IN_IN_H
#define IN_IN_H

#include "lib/bytes.h"
#include "lib/file.h"
#include "meta.h"
#include "profile.h"
#include "profile_build.h"

/* What a reader of a format is given. */
struct in {
	const char *path;		/* for messages */
	struct profile_build *build;
	bool before;			/* it is the older recording of two */
	uint64_t filtered;		/* out: samples that are not there */
	struct meta *meta;		/* to be filled */
};

/*
 * Reads the recording at `path` ("-": stdin), folded stacks or pprof, packed by
 * gzip or not.  `show`: SHOW_ flags.  *meta is zeroed.  NULL after a message.
 */
struct profile *in_read(const char *path, unsigned int show,
			struct meta *meta);

/*
 * Reads two and compares them: profile_stack.before is what `old` has, samples
 * what `new` has.  *meta tells of `new`, meta->before of `old`.
 */
struct profile *in_compare(const char *old, const char *new, unsigned int show,
			   struct meta *meta);

#endif
