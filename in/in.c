/* SPDX-License-Identifier: MIT */
/*
 * in: recordings read back.  What a file is, its first bytes tell, not its name.
 *
 *	1f 8b		gzip: unpacked, and looked at again
 *	a field of	pprof (in/pprof): its first bytes are tags and sizes, of
 *	a message	which some are control characters
 *	else		folded stacks (in/folded), as they come, line by line
 *
 * Files can be anybody's: what is read grows with what is there, up to limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "in/folded.h"
#include "in/in.h"
#include "in/pprof.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/unpack.h"
#include "sys/system.h"

/* What is held in memory, packed or unpacked. */
enum { IN_MOST = 512 << 20 };

static int cannot(const struct in *in, const char *what, int error)
{
	log_error("%s: %s: %s", in->path, what,
		  error == -EFBIG ? "more than 512 MB" :
		  error == -ENODEV ? "a device has no end" :
		  error == -ENOTSUP ? "this prof was built without zlib" :
		  error == -EINVAL ? "damaged or cut short" :
		  system_strerror(error));
	if (error == -ENOENT || error == -EISDIR || error == -ENODEV)
		log_advice("give a file of folded stacks or pprof, or - for "
			   "standard input");
	else if (error == -ENOTSUP)
		log_advice("gzip -dc FILE | prof --read -");
	return error;
}

/*
 * Folded stacks are text.  A message of pprof begins with the tag of one of its
 * fields, and has tags and sizes below 9 soon.
 */
static bool looks_like_pprof(struct bytes head)
{
	static const char tags[] = "\x0a\x12\x1a\x22\x2a\x32\x38\x40\x48\x50"
				   "\x5a\x60\x6a\x70\x72\x7a";

	if (!head.size || !memchr(tags, head.data[0], sizeof(tags) - 1))
		return false;
	for (size_t i = 1; i < head.size && i < 512; i++)
		if (head.data[i] < 9)
			return true;
	return false;
}

static int read_pprof(struct in *in, struct lines *lines)
{
	uint8_t *data;
	size_t size;
	int error = lines_rest(lines, IN_MOST, &data, &size);

	if (error)
		return cannot(in, "read", error);
	error = in_pprof(in, (struct bytes){ data, size });
	free(data);
	return error;
}

static int unpack(struct in *in, struct lines *lines)
{
	uint8_t *packed, *data;
	size_t packed_size, size;
	int error = lines_rest(lines, IN_MOST, &packed, &packed_size);

	if (error)
		return cannot(in, "read", error);
	error = unpack_gzip((struct bytes){ packed, packed_size }, IN_MOST,
			    &data, &size);
	free(packed);
	if (error)
		return cannot(in, "unpack", error);
	lines_close(lines);
	lines_open_bytes(lines, data, size);
	return 0;
}

static bool is_gzip(struct bytes head)
{
	return head.size > 1 && head.data[0] == 0x1f && head.data[1] == 0x8b;
}

static int read_opened(struct in *in, struct lines *lines)
{
	if (is_gzip(lines_peek(lines))) {
		int error = unpack(in, lines);

		if (error)
			return error;
	}
	if (lines->error)
		return cannot(in, "read", lines->error);
	if (looks_like_pprof(lines_peek(lines)))
		return read_pprof(in, lines);
	return in_folded(in, lines);
}

static int read_one(struct in *in)
{
	struct lines lines;
	int error;

	meta_set(&in->meta->source, in->path);
	error = lines_open_named(&lines, in->path);
	if (error)
		return cannot(in, "open", error);
	error = read_opened(in, &lines);
	lines_close(&lines);
	return error;
}

struct profile *in_read(const char *path, unsigned int show, struct meta *meta)
{
	struct in in = {
		.path = path, .meta = meta,
		.build = profile_build_new(show, false),
	};
	int error = read_one(&in);
	struct profile *profile = profile_build_end(in.build);

	profile->filtered += in.filtered;
	if (!error)
		return profile;
	profile_free(profile);
	return NULL;
}

/* Both have to count the same things, and neither be a comparison itself. */
static int check_pair(const struct meta *new, const struct meta *old)
{
	const struct meta *both[] = { new, old };

	for (size_t i = 0; i < 2; i++) {
		if (!both[i]->before)
			continue;
		log_error("%s: --diff: is a comparison of two recordings",
			  both[i]->source);
		return -EINVAL;
	}
	if (!strcmp(new->type, old->type) && !strcmp(new->unit, old->unit))
		return 0;
	log_error("%s: --diff: counts %s in %s, %s counts %s in %s",
		  old->source, old->type, old->unit, new->source, new->type,
		  new->unit);
	return -EINVAL;
}

struct profile *in_compare(const char *old, const char *new, unsigned int show,
			   struct meta *meta)
{
	struct in in = {
		.path = new, .meta = meta,
		.build = profile_build_new(show, true),
	};
	struct meta *before = memory_new(1, sizeof(*before));
	struct profile *profile;
	int error = read_one(&in);

	in.path = old;
	in.meta = before;
	in.before = true;
	if (!error)
		error = read_one(&in);
	if (!error)
		error = check_pair(meta, before);
	profile = profile_build_end(in.build);
	/* A comparison has one already: in the error's case. */
	if (meta->before)
		meta_free(before), free(before);
	else
		meta->before = before;
	if (!error)
		return profile;
	profile_free(profile);
	return NULL;
}
