/* SPDX-License-Identifier: MIT */
/*
 * folded: one line per distinct stack, as flamegraph.pl and all others read it.
 *
 *	sha256sum;[sha256sum+0x51f2];vfs_read_[k];read_zero_[k] 42
 *	comm       user frames        kernel frames, _[k]       samples
 *
 * Where two recordings are compared, two numbers: the older one's, scaled to the
 * newer one's total, and the newer one's, as `difffolded.pl -n` writes them.
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

/* Samples of a list of texts: comm, then frames. */
struct sum {
	uint64_t samples, before;
};

struct line {
	const struct folded *all;
	const uint64_t *ids;	/* of all->texts */
	size_t count;
	struct sum sum;
};

struct folded {
	struct names texts;
	uint32_t *ranks;	/* of texts, as `text;` sorts */
	struct lists lists;	/* of texts */
	struct sum *sums;	/* by the number of the list */
};

/* Texts as they sort where `s_end` and `t_end` follow. */
static int cmp_text(const char *s, int s_end, const char *t, int t_end)
{
	while (*s && *s == *t)
		s++, t++;
	return (*s ? (unsigned char)*s : s_end) -
	       (*t ? (unsigned char)*t : t_end);
}

/*
 * By samples, then as the lines would sort as text.  Equal ids are skipped;
 * the first different pair decides, unless one text begins with the other.
 */
static int cmp_line(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const struct folded *all = x->all;
	bool x_last, y_last;
	size_t i = 0;

	if (x->sum.samples != y->sum.samples)
		return x->sum.samples > y->sum.samples ? -1 : 1;
	if (x->sum.before != y->sum.before)
		return x->sum.before > y->sum.before ? -1 : 1;
	while (i < x->count && i < y->count && x->ids[i] == y->ids[i])
		i++;
	if (i == x->count || i == y->count)
		return (x->count > y->count) - (x->count < y->count);
	x_last = i + 1 == x->count;
	y_last = i + 1 == y->count;
	if (!x_last && !y_last)
		return all->ranks[x->ids[i]] > all->ranks[y->ids[i]] ? 1 : -1;
	/* A text that ends here goes on with ';', or its line ends. */
	return cmp_text(all->texts.text[x->ids[i]], x_last ? 0 : ';',
			all->texts.text[y->ids[i]], y_last ? 0 : ';');
}

struct ranked {
	const char *text;
	uint32_t id;
};

static int cmp_ranked(const void *a, const void *b)
{
	return cmp_text(((const struct ranked *)a)->text, ';',
			((const struct ranked *)b)->text, ';');
}

/* Texts are compared once for all, not again for each pair of lines. */
static void rank(struct folded *all)
{
	struct ranked *ranked = memory_new(all->texts.count, sizeof(*ranked));

	for (size_t i = 0; i < all->texts.count; i++)
		ranked[i] = (struct ranked){ all->texts.text[i], (uint32_t)i };
	qsort(ranked, all->texts.count, sizeof(*ranked), cmp_ranked);
	all->ranks = memory_new(all->texts.count, sizeof(*all->ranks));
	for (size_t i = 0; i < all->texts.count; i++)
		all->ranks[ranked[i].id] = (uint32_t)i;
	free(ranked);
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
			    frame->kind == FRAME_KERNEL ? "_[k]" : "");
		text_of[i] = names_add(texts, text.data);
	}
	text_free(&text);
	return text_of;
}

/* All stacks as lists of texts. */
static void merge(const struct profile *profile, struct folded *all)
{
	uint32_t *text_of = frame_texts(profile, &all->texts);
	size_t capacity = 0, id_capacity = 0;
	uint64_t *ids = NULL;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		const struct profile_task *task = &profile->tasks[stack->task];
		const uint32_t *frames = profile->frame_ids + stack->frames;
		size_t count = 0, known = all->lists.count;
		uint32_t list;

		ids = memory_grow(ids, &id_capacity, stack->depth + 1,
				  sizeof(*ids));
		ids[count++] = names_add(&all->texts,
					 profile->names.text[task->comm]);
		for (size_t j = 0; j < stack->depth; j++)
			ids[count++] = text_of[frames[j]];
		list = lists_add(&all->lists, ids, count);
		all->sums = memory_grow(all->sums, &capacity, all->lists.count,
					sizeof(*all->sums));
		if (all->lists.count > known)
			all->sums[list] = (struct sum){ 0 };
		all->sums[list].samples += stack->samples;
		all->sums[list].before += stack->before;
	}
	free(ids);
	free(text_of);
}

static void write_line(struct file_out *out, const struct line *line,
		       bool compared)
{
	const struct names *texts = &line->all->texts;
	char count[64];
	int length;

	for (size_t i = 0; i < line->count; i++) {
		if (i)
			file_out_write(out, ";", 1);
		file_out_write(out, texts->text[line->ids[i]],
			       texts->length[line->ids[i]]);
	}
	if (compared)
		length = snprintf(count, sizeof(count),
				  " %" PRIu64 " %" PRIu64 "\n",
				  line->sum.before, line->sum.samples);
	else
		length = snprintf(count, sizeof(count), " %" PRIu64 "\n",
				  line->sum.samples);
	file_out_write(out, count, (size_t)length);
}

void out_folded(const struct profile *profile, const struct meta *meta,
		struct file_out *out)
{
	struct folded all = { 0 };
	struct line *lines;

	merge(profile, &all);
	rank(&all);
	lines = memory_new(all.lists.count, sizeof(*lines));
	for (size_t i = 0; i < all.lists.count; i++) {
		lines[i].all = &all;
		lines[i].ids = lists_get(&all.lists, (uint32_t)i,
					 &lines[i].count);
		lines[i].sum.samples = all.sums[i].samples;
		lines[i].sum.before = profile_scaled(profile,
						     all.sums[i].before);
	}
	qsort(lines, all.lists.count, sizeof(*lines), cmp_line);
	for (size_t i = 0; i < all.lists.count; i++)
		write_line(out, &lines[i], meta->before);
	free(lines);
	free(all.sums);
	free(all.ranks);
	lists_free(&all.lists);
	names_free(&all.texts);
}
