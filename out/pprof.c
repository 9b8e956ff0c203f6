/* SPDX-License-Identifier: MIT */
/*
 * pprof: the format of `go tool pprof` and of all that store profiles.
 *
 *	Profile   1 sample_type*  2 sample*  3 mapping*  4 location*
 *	          5 function*  6 string*  9 time  10 duration  11 period_type
 *	          12 period  13 comment*  14 default_sample_type
 *	Sample    1 location*, leaf first   2 value*   3 label*
 *	Label     1 key  2 str  3 num
 *	Mapping   1 id  2 start  3 limit  5 file  6 build_id  7 has_functions
 *	Location  1 id  2 mapping  3 address  4 line*
 *	Line      1 function                 Function  1 id  2 name
 *	ValueType 1 type  2 unit                       3 system_name  4 file
 *
 * Texts are numbers of strings, of which the first is empty.  What is worth
 * knowing beyond that:
 *
 * - The first mapping is for readers the program that was sampled.  A machine
 *   has none, so it is an empty one; notes ([truncated]) are of it.
 * - A mapping from 0 to the end says that addresses are as the file's program
 *   headers count.  So they can be symbolized later.
 * - The values of a sample are how often it was met, and the time (or events)
 *   that this stands for.
 * - Comments are for people; in/pprof reads ours again.
 * - In a comparison, the older recording's samples are negative and have the
 *   label pprof::base, from which readers take the total for shares.
 *
 * Source: github.com/google/pprof, proto/profile.proto and proto/README.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/pack.h"
#include "lib/wire.h"
#include "out/pprof.h"

struct writer {
	const struct profile *profile;
	const struct meta *meta;
	struct file_out *out;
	struct pack *pack;		/* NULL: as it is */
	struct names strings;
	uint32_t *string_of;		/* by profile->names, + 1; 0: not yet */
	struct text message, part, numbers;	/* at hand, outer to inner */
	/* Labels' texts, as strings. */
	uint32_t comm, pid, tid, mode, base, yes, modes[MODE_COUNT];
};

/* Starts of the ids: images are 0, 1, ..., and ids begin at 1. */
static uint64_t id_of(uint32_t number)
{
	return (uint64_t)number + 1;
}

static void put(struct writer *writer, unsigned int field,
		const struct text *message)
{
	struct text head = { 0 };

	wire_put_varint(&head, field << 3 | WIRE_BYTES);
	wire_put_varint(&head, message->length);
	if (writer->pack) {
		pack_write(writer->pack, head.data, head.length);
		pack_write(writer->pack, message->data, message->length);
	} else {
		file_out_write(writer->out, head.data, head.length);
		file_out_write(writer->out, message->data, message->length);
	}
	text_free(&head);
}

static uint64_t string(struct writer *writer, const char *text)
{
	return names_add(&writer->strings, text ? text : "");
}

/* One of the profile's own names: asked for again and again. */
static uint64_t name(struct writer *writer, uint32_t number)
{
	uint32_t *known = &writer->string_of[number];

	if (!*known)
		*known = names_add(&writer->strings,
				   writer->profile->names.text[number]) + 1;
	return *known - 1;
}

/* ------------------------------------------------------------ sample types */

static bool counts_samples(const struct meta *meta)
{
	return !meta->type || !strcmp(meta->type, "samples");
}

/* Whether it is known what a sample stands for. */
static bool has_second(const struct meta *meta)
{
	return counts_samples(meta) && meta->period && meta->event;
}

/* "cpu" in "nanoseconds" is what readers know of clocks. */
static const char *second_type(const struct meta *meta)
{
	return meta->clock ? "cpu" : meta->event;
}

static const char *second_unit(const struct meta *meta)
{
	return meta->clock ? "nanoseconds" : "count";
}

static void put_type(struct writer *writer, unsigned int field,
		     const char *type, const char *unit)
{
	writer->message.length = 0;
	wire_put_number(&writer->message, 1, string(writer, type));
	wire_put_number(&writer->message, 2, string(writer, unit));
	put(writer, field, &writer->message);
}

static void put_types(struct writer *writer)
{
	const struct meta *meta = writer->meta;

	put_type(writer, 1, counts_samples(meta) ? "samples" : meta->type,
		 counts_samples(meta) ? "count" : meta->unit);
	if (has_second(meta))
		put_type(writer, 1, second_type(meta), second_unit(meta));
}

/* ----------------------------------------------------------------- samples */

static void put_label(struct writer *writer, uint32_t key, uint64_t text,
		      uint64_t number)
{
	writer->part.length = 0;
	wire_put_number(&writer->part, 1, key);
	wire_put_number(&writer->part, 2, text);
	wire_put_number(&writer->part, 3, number);
	wire_put_text(&writer->message, 3, &writer->part);
}

static void put_labels(struct writer *writer,
		       const struct profile_stack *stack, bool base)
{
	const struct profile_task *task =
		&writer->profile->tasks[stack->task];

	put_label(writer, writer->comm, name(writer, task->comm), 0);
	if (task->tgid)
		put_label(writer, writer->pid, 0, task->tgid);
	if (task->tid)
		put_label(writer, writer->tid, 0, task->tid);
	put_label(writer, writer->mode, writer->modes[stack->mode], 0);
	if (base)
		put_label(writer, writer->base, writer->yes, 0);
}

/* Values are 63 bits and a sign. */
static uint64_t times(uint64_t samples, uint64_t period)
{
	return samples && period > INT64_MAX / samples ? INT64_MAX :
	       samples * period;
}

static void put_sample(struct writer *writer,
		       const struct profile_stack *stack, uint64_t samples,
		       bool base)
{
	const uint32_t *frames = writer->profile->frame_ids + stack->frames;
	uint64_t sign = base ? UINT64_MAX : 1;

	writer->message.length = 0;
	writer->numbers.length = 0;
	for (size_t i = stack->depth; i-- > 0;)
		wire_put_varint(&writer->numbers, id_of(frames[i]));
	wire_put_text(&writer->message, 1, &writer->numbers);
	writer->numbers.length = 0;
	wire_put_varint(&writer->numbers, samples * sign);
	if (has_second(writer->meta))
		wire_put_varint(&writer->numbers, times(samples,
				writer->meta->period) * sign);
	wire_put_text(&writer->message, 2, &writer->numbers);
	put_labels(writer, stack, base);
	put(writer, 2, &writer->message);
}

static void put_samples(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		uint64_t before = profile_scaled(profile, stack->before);

		if (stack->samples)
			put_sample(writer, stack, stack->samples, false);
		if (before)
			put_sample(writer, stack, before, true);
	}
}

/* -------------------------------------------- mappings, locations, functions */

/* What frames say of the image that they are of. */
struct image_facts {
	uint64_t lowest;	/* address; UINT64_MAX: none is known */
	bool kernel, jit;
	bool unnamed;		/* some code of it has no name */
};

static bool has_name(const struct profile *profile,
		     const struct profile_frame *frame)
{
	const char *text = profile->names.text[frame->name];

	return *text != '[' || frame->kind == FRAME_NOTE;
}

static struct image_facts *look_at_images(const struct profile *profile)
{
	struct image_facts *facts = memory_new(profile->image_count,
					       sizeof(*facts));

	for (size_t i = 0; i < profile->image_count; i++)
		facts[i].lowest = UINT64_MAX;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		struct image_facts *fact = &facts[frame->image];

		fact->kernel |= frame->kind == FRAME_KERNEL;
		fact->jit |= frame->kind == FRAME_JIT;
		fact->unnamed |= !has_name(profile, frame);
		if (frame->address && frame->address < fact->lowest)
			fact->lowest = frame->address;
	}
	return facts;
}

/* [kernel.kallsyms] for the kernel, [ext4] for a module. */
static uint64_t mapping_file(struct writer *writer, uint32_t image,
			     const struct image_facts *fact)
{
	const struct profile *profile = writer->profile;
	const char *path =
		profile->names.text[profile->images[image].path];
	struct text text = { 0 };
	uint64_t file;

	if (!fact->kernel || image == IMAGE_NONE)
		return string(writer, path);
	if (!strcmp(path, "[kernel]"))
		text_format(&text, "[kernel.kallsyms]");
	else
		text_format(&text, strchr(path, '/') ? "%s" : "[%s]", path);
	file = string(writer, text.data);
	text_free(&text);
	return file;
}

static void put_mappings(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	struct image_facts *facts = look_at_images(profile);

	for (uint32_t i = 0; i < profile->image_count; i++) {
		struct text *message = &writer->message;

		message->length = 0;
		wire_put_number(message, 1, id_of(i));
		if (i != IMAGE_NONE) {
			if (facts[i].kernel && facts[i].lowest != UINT64_MAX)
				wire_put_number(message, 2, facts[i].lowest &
						~(uint64_t)4095);
			wire_put_number(message, 3, UINT64_MAX);
		}
		wire_put_number(message, 5,
				mapping_file(writer, i, &facts[i]));
		wire_put_number(message, 6,
				name(writer, profile->images[i].build_id));
		wire_put_number(message, 7, i == IMAGE_NONE ||
				!facts[i].unnamed);
		put(writer, 3, message);
	}
	free(facts);
}

/* A frame is a location; what it is called, a function. */
static void put_locations(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		struct text *message = &writer->message;

		message->length = writer->part.length = 0;
		wire_put_number(message, 1, id_of(i));
		wire_put_number(message, 2, id_of(frame->image));
		wire_put_number(message, 3, frame->address);
		wire_put_number(&writer->part, 1, id_of(i));
		wire_put_text(message, 4, &writer->part);
		put(writer, 4, message);
	}
}

static void put_functions(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		struct text *message = &writer->message;
		uint64_t text = name(writer, frame->name);

		message->length = 0;
		wire_put_number(message, 1, id_of(i));
		wire_put_number(message, 2, text);
		wire_put_number(message, 3, text);
		if (frame->kind == FRAME_JIT)
			wire_put_number(message, 4, string(writer, "[jit]"));
		put(writer, 5, message);
	}
}

/* ---------------------------------------------------------------- comments */

static void add_comment(struct writer *writer, const char *key,
			const char *value)
{
	struct text text = { 0 };

	if (!value)
		return;
	text_format(&text, "%s%s", key, value);
	wire_put_varint(&writer->numbers, string(writer, text.data));
	text_free(&text);
}

static void add_balance(struct writer *writer)
{
	const struct meta *meta = writer->meta;
	struct text text = { 0 };

	if (!meta->balanced)
		return;
	text_format(&text, "sampled %" PRIu64 " filtered %" PRIu64
		    " lost %" PRIu64, meta->sampled,
		    writer->profile->filtered, meta->lost);
	if (meta->foreseen)
		text_format(&text, " expected %" PRIu64, meta->expected);
	add_comment(writer, "balance: ", text.data);
	text_free(&text);
}

static void put_comments(struct writer *writer)
{
	static const char *const keys[] = {
		[META_NOTE] = "note: ", [META_WARNING] = "warning: ",
		[META_ADVICE] = "advice: ",
	};
	const struct meta *meta = writer->meta;
	char cpus[32];

	writer->numbers.length = 0;
	add_comment(writer, "", meta->program);
	add_comment(writer, "command: ", meta->command);
	add_comment(writer, "host: ", meta->host);
	add_comment(writer, "kernel: ", meta->kernel);
	add_comment(writer, "event: ", meta->event);
	snprintf(cpus, sizeof(cpus), "%zu", meta->cpus);
	add_comment(writer, "cpus: ", meta->cpus ? cpus : NULL);
	add_balance(writer);
	for (size_t i = 0; i < meta->line_count; i++)
		add_comment(writer, keys[meta->lines[i].kind],
			    meta->lines[i].text);
	if (meta->before && meta->before->source)
		add_comment(writer, "note: compared with ",
			    meta->before->source);
	if (writer->numbers.length)
		put(writer, 13, &writer->numbers);
}

/* ------------------------------------------------------------------- whole */

static void put_strings(struct writer *writer)
{
	for (size_t i = 0; i < writer->strings.count; i++) {
		struct text text = {
			.data = writer->strings.text[i],
			.length = writer->strings.length[i],
		};

		put(writer, 6, &text);
	}
}

/* Numbers stand in the profile itself, not in a message. */
static void put_numbers(struct writer *writer)
{
	const struct meta *meta = writer->meta;
	struct text *text = &writer->message;

	text->length = 0;
	wire_put_number(text, 9, meta->time);
	wire_put_number(text, 10, meta->duration);
	wire_put_number(text, 12, meta->period);
	if (has_second(meta))
		wire_put_number(text, 14, string(writer, second_type(meta)));
	if (!text->length)
		return;
	if (writer->pack)
		pack_write(writer->pack, text->data, text->length);
	else
		file_out_write(writer->out, text->data, text->length);
}

static void start(struct writer *writer)
{
	static const char *const modes[MODE_COUNT] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};

	string(writer, "");
	writer->string_of = memory_new(writer->profile->names.count,
				       sizeof(*writer->string_of));
	writer->comm = (uint32_t)string(writer, "comm");
	writer->pid = (uint32_t)string(writer, "pid");
	writer->tid = (uint32_t)string(writer, "tid");
	writer->mode = (uint32_t)string(writer, "mode");
	for (size_t i = 0; i < MODE_COUNT; i++)
		writer->modes[i] = (uint32_t)string(writer, modes[i]);
	if (!writer->meta->before)
		return;
	writer->base = (uint32_t)string(writer, "pprof::base");
	writer->yes = (uint32_t)string(writer, "true");
}

static void write_all(struct writer *writer)
{
	const struct meta *meta = writer->meta;

	start(writer);
	put_types(writer);
	put_samples(writer);
	put_mappings(writer);
	put_locations(writer);
	put_functions(writer);
	put_comments(writer);
	if (meta->event && meta->period)
		put_type(writer, 11, second_type(meta), meta->clock ||
			 counts_samples(meta) ? second_unit(meta) :
			 meta->unit);
	put_numbers(writer);
	put_strings(writer);
	names_free(&writer->strings);
	free(writer->string_of);
	text_free(&writer->message);
	text_free(&writer->part);
	text_free(&writer->numbers);
}

void out_pprof(const struct profile *profile, const struct meta *meta,
	       struct file_out *out)
{
	struct writer writer = {
		.profile = profile, .meta = meta, .out = out,
		.pack = pack_open(out),
	};

	write_all(&writer);
	pack_close(writer.pack);
}

void out_pprof_raw(const struct profile *profile, const struct meta *meta,
		   struct file_out *out)
{
	struct writer writer = {
		.profile = profile, .meta = meta, .out = out,
	};

	write_all(&writer);
}
