/* SPDX-License-Identifier: MIT */
/*
 * folded: one line per distinct stack, as flamegraph.pl and all others read it.
 *
 *	sha256sum;[sha256sum+0x51f2];vfs_read_[k];read_zero_[k] 42
 *	comm       user frames        kernel frames, _[k]       samples
 *
 * Root first.  Lines that read alike are one line; the order is by samples,
 * most first, then by bytes, so that equal samples give equal files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/lists.h"
#include "lib/memory.h"
#include "lib/names.h"
#include "lib/text.h"
#include "out/folded.h"

struct line {
	const struct names *texts;
	const uint64_t *ids;	/* of texts: comm, then frames */
	size_t count;
	uint64_t samples;
};

/*
 * By samples, then as the lines would sort as text.  Equal ids are skipped;
 * the first different pair decides, unless one text begins with the other.
 */
static int cmp_line(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	size_t i = 0;
	const char *s, *t;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	while (i < x->count && i < y->count && x->ids[i] == y->ids[i])
		i++;
	if (i == x->count || i == y->count)
		return (x->count > y->count) - (x->count < y->count);
	s = x->texts->text[x->ids[i]];
	t = y->texts->text[y->ids[i]];
	while (*s && *s == *t)
		s++, t++;
	/* A text that ends here goes on with ';', or its line ends. */
	return (*s ? (unsigned char)*s : i + 1 < x->count ? ';' : 0) -
	       (*t ? (unsigned char)*t : i + 1 < y->count ? ';' : 0);
}

/* The texts of all frames, by the frame's number. */
static uint32_t *frame_texts(const struct profile *profile,
			     struct names *texts)
{
	uint32_t *text_of = memory_new(profile->frame_count, sizeof(*text_of));
	struct text text = { 0 };

	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		text.length = 0;
		text_format(&text, "%s%s", profile->names.text[frame->name],
			    frame->kind == FRAME_KERNEL ? "_[k]" :
			    frame->kind == FRAME_JIT ? "_[j]" : "");
		text_of[i] = names_add(texts, text.data);
	}
	text_free(&text);
	return text_of;
}

/* All stacks as lists of texts; samples[] is by the number of the list. */
static void merge(const struct profile *profile, struct names *texts,
		  struct lists *lists, uint64_t **samples)
{
	uint64_t ids[2 * STACK_DEPTH + 8];
	uint32_t *text_of = frame_texts(profile, texts);
	size_t capacity = 0;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		const struct profile_task *task = &profile->tasks[stack->task];
		size_t count = 0, known = lists->count;
		uint32_t list;

		ids[count++] = names_add(texts,
					 profile->names.text[task->comm]);
		for (size_t j = 0; j < stack->depth; j++)
			ids[count++] = text_of[
				profile->frame_ids[stack->frames + j]];
		list = lists_add(lists, ids, count);
		*samples = memory_grow(*samples, &capacity, lists->count,
				       sizeof(**samples));
		if (lists->count > known)
			(*samples)[list] = 0;
		(*samples)[list] += stack->samples;
	}
	free(text_of);
}

static void write_line(struct file_out *out, const struct line *line)
{
	char count[32];
	int length;

	for (size_t i = 0; i < line->count; i++) {
		const char *text = line->texts->text[line->ids[i]];

		if (i)
			file_out_write(out, ";", 1);
		file_out_write(out, text, strlen(text));
	}
	length = snprintf(count, sizeof(count), " %" PRIu64 "\n",
			  line->samples);
	file_out_write(out, count, (size_t)length);
}

void out_folded(const struct profile *profile, const struct meta *meta,
		struct file_out *out)
{
	struct names texts = { 0 };
	struct lists lists = { 0 };
	uint64_t *samples = NULL;
	struct line *lines;

	(void)meta;
	merge(profile, &texts, &lists, &samples);
	lines = memory_new(lists.count, sizeof(*lines));
	for (size_t i = 0; i < lists.count; i++) {
		lines[i].texts = &texts;
		lines[i].ids = lists_get(&lists, (uint32_t)i, &lines[i].count);
		lines[i].samples = samples[i];
	}
	qsort(lines, lists.count, sizeof(*lines), cmp_line);
	for (size_t i = 0; i < lists.count; i++)
		write_line(out, &lines[i]);
	free(lines);
	free(samples);
	lists_free(&lists);
	names_free(&texts);
}
