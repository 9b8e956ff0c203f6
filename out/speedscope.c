/* SPDX-License-Identifier: MIT */
/*
 * speedscope: the JSON of the viewer at speedscope.app, which opens it also from
 * its own files, without a network.
 *
 *	{ "$schema": ..., "exporter": "prof 0.1", "name": "host, date",
 *	  "shared": { "frames": [ {"name": "sh"}, {"name": "main"}, ... ] },
 *	  "profiles": [ { "type": "sampled", "name": "prof -d 10",
 *	      "unit": "nanoseconds", "startValue": 0, "endValue": 2020202,
 *	      "samples": [ [0, 1], ... ], "weights": [ 2020202, ... ] } ] }
 *
 * A sample is the numbers of its frames, root first, of which the first is the
 * thread's name, as in folded stacks.  Samples are in the order in which they
 * were first met, so that the view by time tells a story.  Weights are times
 * where the samples are of a clock.
 *
 * In a comparison there are two profiles, of the newer and the older recording.
 *
 * Source: github.com/jlfwong/speedscope, src/lib/file-format-spec.ts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/memory.h"
#include "lib/text.h"
#include "out/speedscope.h"

struct writer {
	const struct profile *profile;
	const struct meta *meta;
	struct file_out *out;
	size_t *order;		/* of stacks */
	uint32_t *comms;	/* frames of the comms, by name; + 1 */
	struct text text;
};

__attribute__((format(printf, 2, 3)))
static void put(struct writer *writer, const char *format, ...)
{
	va_list args;

	writer->text.length = 0;
	va_start(args, format);
	text_vformat(&writer->text, format, args);
	va_end(args);
	file_out_write(writer->out, writer->text.data, writer->text.length);
}

/* A text between quotes.  What is here is valid UTF-8 without controls. */
static void put_text(struct writer *writer, const char *text)
{
	file_out_write(writer->out, "\"", 1);
	while (*text) {
		size_t plain = strcspn(text, "\"\\");

		file_out_write(writer->out, text, plain);
		text += plain;
		if (!*text)
			break;
		file_out_write(writer->out, "\\", 1);
		file_out_write(writer->out, text++, 1);
	}
	file_out_write(writer->out, "\"", 1);
}

/* --------------------------------------------------------------- frames */

static void put_frame(struct writer *writer, bool first, const char *name,
		      const char *file)
{
	put(writer, first ? "\n{\"name\":" : ",\n{\"name\":");
	put_text(writer, name);
	if (*file) {
		put(writer, ",\"file\":");
		put_text(writer, file);
	}
	put(writer, "}");
}

/* The profile's frames have their own numbers; comms come behind them. */
static void put_frames(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	uint32_t count = (uint32_t)profile->frame_count;

	put(writer, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		put_frame(writer, i == 0, profile->names.text[frame->name],
			  profile->names.text[
				profile->images[frame->image].path]);
	}
	writer->comms = memory_new(profile->names.count,
				   sizeof(*writer->comms));
	for (size_t i = 0; i < profile->task_count; i++) {
		uint32_t comm = profile->tasks[i].comm;

		if (writer->comms[comm])
			continue;
		put_frame(writer, count == 0, profile->names.text[comm], "");
		writer->comms[comm] = ++count;
	}
	put(writer, "\n]}");
}

/* -------------------------------------------------------------- profiles */

struct timed {
	uint64_t first;
	size_t stack;
};

static int cmp_timed(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static void make_order(struct writer *writer)
{
	size_t count = writer->profile->stack_count;
	struct timed *timed = memory_new(count, sizeof(*timed));

	for (size_t i = 0; i < count; i++)
		timed[i] = (struct timed){
			writer->profile->stacks[i].first, i,
		};
	qsort(timed, count, sizeof(*timed), cmp_timed);
	writer->order = memory_new(count, sizeof(*writer->order));
	for (size_t i = 0; i < count; i++)
		writer->order[i] = timed[i].stack;
	free(timed);
}

/* What one of profile_stack.samples weighs, and in which unit. */
static uint64_t weight_of(const struct meta *meta, const char **unit)
{
	static const char *const units[] = {
		"nanoseconds", "microseconds", "milliseconds", "seconds",
		"bytes",
	};
	bool samples = !meta->type || !strcmp(meta->type, "samples");

	*unit = "none";
	for (size_t i = 0; !samples && i < sizeof(units) / sizeof(*units); i++)
		if (meta->unit && !strcmp(meta->unit, units[i]))
			*unit = units[i];
	if (!samples || !meta->clock || !meta->period)
		return 1;
	*unit = "nanoseconds";
	return meta->period;
}

static uint64_t samples_of(const struct writer *writer, size_t i, bool before)
{
	const struct profile_stack *stack =
		&writer->profile->stacks[writer->order[i]];

	return before ? stack->before : stack->samples;
}

static void put_samples(struct writer *writer, bool before)
{
	const struct profile *profile = writer->profile;
	struct text *text = &writer->text;
	bool first = true;

	put(writer, "\"samples\":[");
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack =
			&profile->stacks[writer->order[i]];
		const uint32_t *frames = profile->frame_ids + stack->frames;
		uint32_t comm = profile->tasks[stack->task].comm;

		if (!samples_of(writer, i, before))
			continue;
		text->length = 0;
		text_add(text, first ? "\n[" : ",\n[", first ? 2 : 3);
		text_digits(text, writer->comms[comm] - 1, 10, 0);
		for (size_t j = 0; j < stack->depth; j++) {
			text_add(text, ",", 1);
			text_digits(text, frames[j], 10, 0);
		}
		text_add(text, "]", 1);
		file_out_write(writer->out, text->data, text->length);
		first = false;
	}
	put(writer, "\n]");
}

static void put_weights(struct writer *writer, bool before, double weight)
{
	bool first = true;

	put(writer, ",\"weights\":[");
	for (size_t i = 0; i < writer->profile->stack_count; i++) {
		uint64_t samples = samples_of(writer, i, before);

		if (!samples)
			continue;
		put(writer, first ? "\n%.0f" : ",\n%.0f",
		    (double)samples * weight);
		first = false;
	}
	put(writer, "\n]");
}

static void put_profile(struct writer *writer, bool before)
{
	const struct meta *meta = before ? writer->meta->before : writer->meta;
	uint64_t total = before ? writer->profile->total_before :
			 writer->profile->total;
	const char *unit;
	double weight = (double)weight_of(meta, &unit);

	put(writer, "{\"type\":\"sampled\",\"name\":");
	put_text(writer, meta->command ? meta->command :
		 meta->source ? meta->source : "prof");
	put(writer, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%.0f,",
	    unit, (double)total * weight);
	put_samples(writer, before);
	put_weights(writer, before, weight);
	put(writer, "}");
}

/* "vm1, 2026-11-29 20:15:29 UTC", as far as it is known. */
static void put_name(struct writer *writer)
{
	const struct meta *meta = writer->meta;
	time_t seconds = (time_t)(meta->time / 1000000000);
	struct text name = { 0 };
	struct tm tm;

	text_format(&name, "%s", meta->host ? meta->host : meta->source ?
		    meta->source : "prof");
	if (meta->time && gmtime_r(&seconds, &tm))
		text_format(&name, ", %d-%02d-%02d %02d:%02d:%02d UTC",
			    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			    tm.tm_hour, tm.tm_min, tm.tm_sec);
	put(writer, "\"name\":");
	put_text(writer, name.data);
	put(writer, ",\"exporter\":");
	put_text(writer, meta->program ? meta->program : "prof");
	text_free(&name);
}

void out_speedscope(const struct profile *profile, const struct meta *meta,
		    struct file_out *out)
{
	struct writer writer = {
		.profile = profile, .meta = meta, .out = out,
	};

	put(&writer, "{\"$schema\":\"https://www.speedscope.app/"
	    "file-format-schema.json\",");
	put_name(&writer);
	put(&writer, ",\"activeProfileIndex\":0,\n");
	put_frames(&writer);
	make_order(&writer);
	put(&writer, ",\n\"profiles\":[");
	put_profile(&writer, false);
	if (meta->before) {
		put(&writer, ",\n");
		put_profile(&writer, true);
	}
	put(&writer, "]}\n");
	free(writer.order);
	free(writer.comms);
	text_free(&writer.text);
}
