/* SPDX-License-Identifier: MIT */
/*
 * folded: stacks, a line each, read back.
 *
 *	sha256sum;[sha256sum+0x51f2];vfs_read_[k];read_zero_[k] 42
 *	comm       frames, root first             _[k] kernel   samples
 *
 * or, in a comparison, two numbers: samples before and after.  The last run of
 * white space separates the number, which others write with a fraction.  Lines
 * that begin with # and have no number are comments.
 *
 * A name stands in many lines, so what it means is worked out once.  And most
 * lines begin as the one before: that part is not taken apart again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "in/folded.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/names.h"
#include "lib/text.h"

enum { BAD_TOLD = 3 };		/* lines that are told of one by one */

struct reader {
	struct in *in;
	struct names names;		/* as they stand in the file */
	/* What names are as frames and as tasks, + 1; 0: not yet known. */
	struct meaning {
		uint32_t frame, task;
	} *meanings;
	size_t meaning_capacity;
	/* The line at hand, or the one before: its frames, and where each ends. */
	struct text last;
	uint32_t *frames;
	size_t *ends;
	size_t depth, frame_capacity, end_capacity;
	uint64_t number, read, bad, rounded;	/* lines */
	bool compared;			/* lines have two numbers */
};

/* ------------------------------------------------------------------- names */

static struct meaning *find_meaning(struct reader *reader, const char *name,
				    size_t length)
{
	size_t known = reader->names.count;
	uint32_t number = names_add_part(&reader->names, name, length);

	reader->meanings = memory_grow(reader->meanings,
				       &reader->meaning_capacity, number + 1,
				       sizeof(*reader->meanings));
	if (reader->names.count > known)
		reader->meanings[number] = (struct meaning){ 0 };
	return &reader->meanings[number];
}

/* Whether `name` ends with `end`; a name that is nothing else does not. */
static bool has_end(const char *name, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !memcmp(name + length - size, end, size);
}

/* [libc.so.6+0x1234] is of libc.so.6; what is not so has no image. */
static uint32_t image_of(struct reader *reader, const char *name,
			 size_t length)
{
	const char *plus = NULL;
	uint32_t image;
	char *file;

	for (const char *p = name; (p = strstr(p, "+0x")); p++)
		plus = p;
	if (*name != '[' || name[length - 1] != ']' || !plus)
		return IMAGE_NONE;
	file = memory_text(name + 1, (size_t)(plus - name) - 1);
	image = profile_build_image(reader->in->build, file, "");
	free(file);
	return image;
}

/* [truncated] is a note; [libc.so.6+0x1234] and [0x1234] are addresses. */
static bool is_note(const char *name, size_t length)
{
	return *name == '[' && name[length - 1] == ']' &&
	       !strstr(name, "+0x") && strncmp(name, "[0x", 3);
}

static uint32_t make_frame(struct reader *reader, const char *name,
			   size_t length)
{
	struct profile_build *build = reader->in->build;
	uint32_t image = IMAGE_NONE, frame;
	enum frame_kind kind = FRAME_USER;
	char *plain;

	if (has_end(name, length, "_[k]")) {
		kind = FRAME_KERNEL;
		image = profile_build_image(build, "[kernel]", "");
		length -= 4;
	} else if (has_end(name, length, "_[j]")) {
		/* Others' mark, which we do not write: it stays in the name. */
		kind = FRAME_JIT;
	} else if (length && is_note(name, length)) {
		kind = FRAME_NOTE;
	} else if (length) {
		image = image_of(reader, name, length);
	}
	plain = memory_text(name, length);
	frame = profile_build_frame(build, plain, kind, image, 0);
	free(plain);
	return frame;
}

/* A zero byte follows the name. */
static uint32_t frame_of(struct reader *reader, const char *name,
			 size_t length)
{
	struct meaning *meaning = find_meaning(reader, name, length);

	if (!meaning->frame)
		meaning->frame = make_frame(reader, name, length) + 1;
	return meaning->frame - 1;
}

static uint32_t task_of(struct reader *reader, const char *comm)
{
	struct meaning *meaning = find_meaning(reader, comm, strlen(comm));

	if (!meaning->task)
		meaning->task = profile_build_task(reader->in->build, 0, 0,
						   comm) + 1;
	return meaning->task - 1;
}

/* ------------------------------------------------------------------- lines */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/*
 * Cuts white space and a number off the end of `line`, of which *length bytes
 * are left.  False, and nothing is changed, if there is none with a stack before
 * it.
 */
static bool cut_number(char *line, size_t *length, uint64_t *value,
		       bool *fraction)
{
	size_t end = *length, from = end, dot = 0, stack;
	uint64_t sum = 0;

	while (from && ((line[from - 1] >= '0' && line[from - 1] <= '9') ||
			(line[from - 1] == '.' && !dot))) {
		from--;
		if (line[from] == '.')
			dot = from;
	}
	for (stack = from; stack && is_blank(line[stack - 1]); stack--)
		;
	if (!stack || stack == from || from == end || line[from] == '.')
		return false;
	for (size_t i = from; i < (dot ? dot : end); i++) {
		uint64_t digit = (uint64_t)(line[i] - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	if (dot && dot + 1 < end && line[dot + 1] >= '5')
		sum += sum < UINT64_MAX;
	*fraction |= dot && dot + 1 < end;
	*value = sum;
	line[stack] = '\0';
	*length = stack;
	return true;
}

/* How many bytes both begin with. */
static size_t common(const char *a, const char *b, size_t most)
{
	uint64_t x, y;
	size_t i = 0;

	for (; most - i >= 8; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
	}
	while (i < most && a[i] == b[i])
		i++;
	return i;
}

/* Keeps the frames that also stand here, with a `;` behind; where that ends. */
static size_t keep_frames(struct reader *reader, const char *frames,
			 size_t length)
{
	const struct text *last = &reader->last;
	size_t same = common(last->data, frames, length < last->length ?
			     length : last->length);

	while (reader->depth && reader->ends[reader->depth - 1] >= same)
		reader->depth--;
	return reader->depth ? reader->ends[reader->depth - 1] + 1 : 0;
}

static void add_frame(struct reader *reader, size_t end, uint32_t frame)
{
	reader->ends = memory_grow(reader->ends, &reader->end_capacity,
				   reader->depth + 1, sizeof(*reader->ends));
	reader->frames = memory_grow(reader->frames, &reader->frame_capacity,
				     reader->depth + 1,
				     sizeof(*reader->frames));
	reader->ends[reader->depth] = end;
	reader->frames[reader->depth++] = frame;
}

/* The frames between `;`, `length` bytes in all, to reader->frames. */
static void split(struct reader *reader, char *frames, size_t length)
{
	size_t from = keep_frames(reader, frames, length);

	reader->last.length = from;
	text_add(&reader->last, frames + from, length - from);
	for (;;) {
		char *next = memchr(frames + from, ';', length - from);
		size_t end = next ? (size_t)(next - frames) : length;

		frames[end] = '\0';
		add_frame(reader, end, frame_of(reader, frames + from,
						end - from));
		if (!next)
			return;
		from = end + 1;
	}
}

static void tell_bad(struct reader *reader, const char *why)
{
	if (++reader->bad <= BAD_TOLD)
		log_warning("%s: line %" PRIu64 ": %s: left out",
			    reader->in->path, reader->number, why);
}

/* The first line of stacks says how many numbers there are. */
static bool take_numbers(struct reader *reader, char *line, size_t *length,
			 struct profile_stack *stack)
{
	bool fraction = false;
	size_t whole;

	if (!cut_number(line, length, &stack->samples, &fraction))
		return false;
	whole = *length;
	if ((!reader->read || reader->compared) &&
	    cut_number(line, &whole, &stack->before, &fraction)) {
		*length = whole;
		reader->compared = true;
	} else if (reader->compared) {
		return false;
	}
	reader->rounded += fraction;
	return true;
}

static int read_line(struct reader *reader, char *line)
{
	struct profile_stack stack = { .mode = MODE_COUNT };
	size_t length = strlen(line);
	char *frames;

	while (length && is_blank(line[length - 1]))
		line[--length] = '\0';
	if (!length)
		return 0;
	if (!take_numbers(reader, line, &length, &stack)) {
		if (*line != '#')
			tell_bad(reader, reader->compared ?
				 "no two numbers at its end" :
				 "no number of samples at its end");
		return 0;
	}
	reader->read++;
	if (reader->in->before) {
		stack.before = stack.samples;
		stack.samples = 0;
	}
	frames = strchr(line, ';');
	if (frames)
		*frames++ = '\0';
	stack.task = task_of(reader, line);
	if (frames)
		split(reader, frames, (size_t)(line + length - frames));
	if (profile_build_stack(reader->in->build, &stack, reader->frames,
				frames ? reader->depth : 0))
		return 0;
	log_error("%s: line %" PRIu64 ": too much: all samples have to fit "
		  "63 bits, and all frames 1 GB", reader->in->path,
		  reader->number);
	return -EFBIG;
}

/* What became of the lines: 0, or -EINVAL if they are no recording. */
static int conclude(const struct reader *reader)
{
	const char *path = reader->in->path;
	struct meta *meta = reader->in->meta;

	if (reader->bad > BAD_TOLD)
		log_warning("%s: %" PRIu64 " more lines: left out", path,
			    reader->bad - BAD_TOLD);
	if (reader->bad > reader->read) {
		log_error("%s: read: neither folded stacks nor pprof", path);
		return -EINVAL;
	}
	if (reader->bad)
		meta_warning(meta, "%s: %" PRIu64 " lines were not understood",
			     path, reader->bad);
	if (reader->rounded)
		meta_warning(meta, "%s: %" PRIu64 " numbers had a fraction and "
			     "were rounded", path, reader->rounded);
	meta_set(&meta->type, "samples");
	meta_set(&meta->unit, "count");
	if (reader->compared) {
		meta->before = memory_new(1, sizeof(*meta->before));
		meta_set(&meta->before->type, "samples");
		meta_set(&meta->before->unit, "count");
	}
	return 0;
}

int in_folded(struct in *in, struct lines *lines)
{
	struct reader reader = { .in = in };
	int error = 0;
	char *line;

	while (!error && (line = lines_next(lines))) {
		reader.number++;
		error = read_line(&reader, line);
	}
	if (!error && lines->error) {
		error = lines->error;
		log_error("%s: line %" PRIu64 ": %s", in->path,
			  reader.number + 1, error == -EMSGSIZE ?
			  "longer than 1 MB" : "cannot be read");
	}
	if (!error)
		error = conclude(&reader);
	names_free(&reader.names);
	free(reader.meanings);
	free(reader.frames);
	free(reader.ends);
	text_free(&reader.last);
	return error;
}
