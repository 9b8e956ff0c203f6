/* SPDX-License-Identifier: MIT */
/*
 * perf_script: the text that `perf script` prints, for what reads that:
 * stackcollapse-perf.pl, speedscope, the Firefox Profiler.
 *
 *	sh  1234/1235  5022.123456:          1 cpu-clock:
 *		ffffffff81000040 do_syscall_64 ([kernel.kallsyms])
 *		    7f0000001234 read (/usr/lib/libc.so.6)
 *		               0 [truncated] ([unknown])
 *
 * Leaf first, an empty line behind each.  Each sample is there, as readers give
 * each the same weight.  Of a stack that was met many times the first and the
 * last time are known; the others are put between them, evenly.  The number
 * before the event is how many it counts for: 1, but in recordings whose
 * samples are too many to be written one by one.
 *
 * Source: man 1 perf-script, and what the readers look for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/text.h"
#include "out/perf_script.h"

/* Samples that are written one by one. */
enum { EACH_MOST = 1 << 20 };

/* The next time that a stack was met. */
struct event {
	uint64_t time, first, last;	/* ns */
	uint64_t done;			/* samples before it */
	uint32_t stack;
};

struct writer {
	const struct profile *profile;
	const struct meta *meta;
	struct file_out *out;
	struct event *heap;	/* the earliest first */
	size_t count;
	bool each;		/* one sample an event */
	uint64_t invented;	/* time after all those that are */
	struct text text;
};

/* ---------------------------------------------------------- order of time */

static bool is_earlier(const struct event *a, const struct event *b)
{
	return a->time != b->time ? a->time < b->time : a->stack < b->stack;
}

/* The first may be later than those below it: it goes to its place. */
static void sink(struct writer *writer, size_t at)
{
	struct event *heap = writer->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct event event = heap[at];

		if (child >= writer->count)
			return;
		if (child + 1 < writer->count &&
		    is_earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!is_earlier(&heap[child], &event))
			return;
		heap[at] = heap[child];
		heap[child] = event;
		at = child;
	}
}

/* Of most recordings no times are known: one sample after the other. */
static void invent_times(struct writer *writer, struct event *event,
			 uint64_t samples)
{
	uint64_t step = writer->meta->clock && writer->meta->period ?
			writer->meta->period : 1000000;

	if (!writer->each)
		samples = 1;
	event->first = writer->invented;
	event->last = writer->invented + (samples - 1) * step;
	writer->invented += samples * step;
}

static void make_heap(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	writer->heap = memory_new(profile->stack_count,
				  sizeof(*writer->heap));
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct event *event = &writer->heap[writer->count];

		if (!stack->samples)
			continue;
		*event = (struct event){
			.first = stack->first, .last = stack->last,
			.stack = (uint32_t)i,
		};
		if (!stack->last)
			invent_times(writer, event, stack->samples);
		event->time = event->first;
		writer->count++;
	}
	for (size_t i = writer->count / 2; i-- > 0;)
		sink(writer, i);
}

/* The earliest stack's next time, or it is done with. */
static void advance(struct writer *writer)
{
	struct event *event = &writer->heap[0];
	const struct profile_stack *stack =
		&writer->profile->stacks[event->stack];
	double span = (double)(event->last - event->first);

	if (writer->each && ++event->done < stack->samples)
		event->time = event->first +
			      (uint64_t)(span * (double)event->done /
					 (double)(stack->samples - 1));
	else
		*event = writer->heap[--writer->count];
	sink(writer, 0);
}

/* ------------------------------------------------------------------- text */

/*
 * File names as perf has them; readers tell the kernel by [kernel...], code made
 * at run time by the map that its maker writes for perf.
 */
static void add_file(struct text *text, const struct profile *profile,
		     const struct profile_frame *frame, uint32_t tgid)
{
	const char *path =
		profile->names.text[profile->images[frame->image].path];
	bool module;

	if (frame->kind == FRAME_JIT && strncmp(path, "/tmp/perf-", 10)) {
		text_format(text, " (/tmp/perf-%" PRIu32 ".map)\n", tgid);
		return;
	}
	module = frame->kind == FRAME_KERNEL && *path && *path != '[' &&
		 !strchr(path, '/');
	if (frame->kind == FRAME_KERNEL &&
	    (!*path || !strcmp(path, "[kernel]")))
		path = "[kernel.kallsyms]";
	else if (!*path)
		path = "[unknown]";
	text_add(text, module ? " ([" : " (", module ? 3 : 2);
	text_add(text, path, strlen(path));
	text_add(text, module ? "])\n" : ")\n", module ? 3 : 2);
}

static void put_event(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	const struct event *event = &writer->heap[0];
	const struct profile_stack *stack = &profile->stacks[event->stack];
	const struct profile_task *task = &profile->tasks[stack->task];
	const uint32_t *frames = profile->frame_ids + stack->frames;
	struct text *text = &writer->text;

	text->length = 0;
	text_format(text, "%s %5" PRIu32 "/%-5" PRIu32 " %" PRIu64 ".%06u: "
		    "%10" PRIu64 " %s:\n", profile->names.text[task->comm],
		    task->tgid, task->tid, event->time / 1000000000,
		    (unsigned int)(event->time % 1000000000 / 1000),
		    writer->each ? 1 : stack->samples,
		    writer->meta->event ? writer->meta->event : "cpu-clock");
	for (size_t i = stack->depth; i-- > 0;) {
		const struct profile_frame *frame =
			&profile->frames[frames[i]];

		text_add(text, "\t", 1);
		text_digits(text, frame->address, 16, 16);
		text_add(text, " ", 1);
		text_add(text, profile->names.text[frame->name],
			 profile->names.length[frame->name]);
		add_file(text, profile, frame, task->tgid);
	}
	text_add(text, "\n", 1);
	file_out_write(writer->out, text->data, text->length);
}

void out_perf_script(const struct profile *profile, const struct meta *meta,
		     struct file_out *out)
{
	struct writer writer = {
		.profile = profile, .meta = meta, .out = out,
		.each = profile->total <= EACH_MOST,
	};

	for (make_heap(&writer); writer.count; advance(&writer))
		put_event(&writer);
	free(writer.heap);
	text_free(&writer.text);
}
