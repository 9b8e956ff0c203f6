/* SPDX-License-Identifier: MIT */
/*
 * pprof: a profile.proto read back, ours or anybody's.
 *
 *	Sample    1 location*, leaf first   2 value*, one of each sample type
 *	          3 label*
 *	Label     1 key  2 str  3 num
 *
 * One of the values is taken: the samples, if they are counted; else what the
 * file calls its default, or the last.  Labels say the task: comm, pid, tid and
 * what others call them.  A negative value with the label pprof::base is the
 * other recording's, in a file that compares two.
 *
 * What our own files say in comments (out/pprof) is understood again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "in/pprof.h"
#include "in/pprof_tables.h"
#include "lib/log.h"
#include "lib/memory.h"

/* Ten million stacks of a hundred frames. */
#define WORK_MOST (1u << 30)

struct reader {
	struct pprof pprof;
	size_t type;		/* which of the values */
	char *program;		/* comm, where no label has one */
	uint32_t *tasks;	/* by string: a task without numbers, + 1 */
	uint32_t *frames;	/* of the sample at hand, root first */
	size_t frame_capacity;
	struct sample_fields {
		uint64_t *locations;
		size_t count, capacity;
		size_t values;
		uint64_t value;
		uint64_t comm;			/* a string */
		uint64_t tgid, tid;
		enum profile_mode mode;		/* MODE_COUNT: not said */
		bool base;
	} sample;
	uint64_t number;
	uint64_t work;		/* frames of all samples */
};

/* --------------------------------------------------------------- one value */

static bool is_type(const struct pprof *pprof, size_t i, const char *type,
		    const char *unit)
{
	return pprof_is(pprof, pprof->types[i].type, type) &&
	       pprof_is(pprof, pprof->types[i].unit, unit);
}

/*
 * A default of nanoseconds is the samples' own time: the samples say the same,
 * and are small.
 */
static size_t choose_type(const struct pprof *pprof)
{
	size_t samples = SIZE_MAX, preferred = SIZE_MAX;

	for (size_t i = 0; i < pprof->type_count; i++) {
		if (is_type(pprof, i, "samples", "count"))
			samples = i;
		if (pprof->default_type &&
		    pprof->types[i].type == pprof->default_type)
			preferred = i;
	}
	if (preferred != SIZE_MAX &&
	    !pprof_is(pprof, pprof->types[preferred].unit, "nanoseconds"))
		return preferred;
	if (samples != SIZE_MAX)
		return samples;
	return preferred != SIZE_MAX ? preferred : pprof->type_count - 1;
}

/* ------------------------------------------------------------------ labels */

static enum profile_mode mode_named(const struct pprof *pprof, uint64_t text)
{
	static const char *const names[MODE_COUNT] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};

	for (size_t i = 0; i < MODE_COUNT; i++)
		if (pprof_is(pprof, text, names[i]))
			return (enum profile_mode)i;
	return MODE_COUNT;
}

static bool is_one_of(const struct pprof *pprof, uint64_t text,
		      const char *const *names)
{
	for (; *names; names++)
		if (pprof_is(pprof, text, *names))
			return true;
	return false;
}

static void take_label(struct reader *reader, uint64_t key, uint64_t text,
		       uint64_t number)
{
	static const char *const comms[] = {
		"comm", "thread_comm", "thread_name", "thread.name", NULL,
	};
	static const char *const pids[] = {
		"pid", "process_id", "process.pid", NULL,
	};
	static const char *const tids[] = {
		"tid", "thread_id", "thread.id", NULL,
	};
	const struct pprof *pprof = &reader->pprof;
	struct sample_fields *sample = &reader->sample;

	if (text && is_one_of(pprof, key, comms))
		sample->comm = text;
	else if (number <= UINT32_MAX && is_one_of(pprof, key, pids))
		sample->tgid = number;
	else if (number <= UINT32_MAX && is_one_of(pprof, key, tids))
		sample->tid = number;
	else if (pprof_is(pprof, key, "mode"))
		sample->mode = mode_named(pprof, text);
	else if (pprof_is(pprof, key, "pprof::base"))
		sample->base = true;
}

static int read_label(struct reader *reader, struct bytes message)
{
	uint64_t values[4] = { 0 };
	struct wire_field field;
	int got;

	while ((got = wire_next(&message, &field)) == 1)
		if (field.number < 4 && field.type == WIRE_VARINT)
			values[field.number] = field.value;
	if (!got)
		take_label(reader, values[1], values[2], values[3]);
	return got;
}

/* ----------------------------------------------------------------- samples */

static void take_location(void *context, uint64_t value)
{
	struct sample_fields *sample = context;

	sample->locations = memory_grow(sample->locations, &sample->capacity,
					sample->count + 1, sizeof(value));
	sample->locations[sample->count++] = value;
}

static void take_value(void *context, uint64_t value)
{
	struct reader *reader = context;

	if (reader->sample.values++ == reader->type)
		reader->sample.value = value;
}

static int read_fields(struct reader *reader, struct bytes message)
{
	struct sample_fields *sample = &reader->sample;
	struct wire_field field;
	int got, error = 0;

	*sample = (struct sample_fields){
		.locations = sample->locations, .capacity = sample->capacity,
		.mode = MODE_COUNT,
	};
	while (!error && (got = wire_next(&message, &field)) != 0) {
		if (got < 0)
			return got;
		if (field.number == 1)
			error = pprof_numbers(&field, sample, take_location);
		else if (field.number == 2)
			error = pprof_numbers(&field, reader, take_value);
		else if (field.number == 3 && field.type == WIRE_BYTES)
			error = read_label(reader, field.bytes);
	}
	return error;
}

static int bad_sample(const struct reader *reader, const char *why)
{
	return pprof_bad(&reader->pprof, "sample %" PRIu64 ": %s",
			 reader->number, why);
}

/* The frames of the sample's locations, root first. */
static int make_stack(struct reader *reader, size_t *depth)
{
	const struct pprof *pprof = &reader->pprof;
	size_t count = 0;

	for (size_t i = reader->sample.count; i-- > 0;) {
		const struct pprof_location *location =
			pprof_find(&pprof->locations,
				   reader->sample.locations[i]);

		if (!location)
			return bad_sample(reader, "a location is not there");
		/* A location of many lines can stand many times. */
		reader->work += location->count;
		if (count > 1 << 20 || reader->work > WORK_MOST)
			return bad_sample(reader, "too many frames");
		reader->frames = memory_grow(reader->frames,
					     &reader->frame_capacity,
					     count + location->count,
					     sizeof(*reader->frames));
		for (size_t j = location->count; j-- > 0;)
			reader->frames[count++] =
				pprof->frames[location->from + j];
	}
	*depth = count;
	return 0;
}

static uint32_t make_task(struct reader *reader)
{
	const struct sample_fields *sample = &reader->sample;
	struct profile_build *build = reader->pprof.in->build;
	uint32_t *known = NULL, task;
	char *comm;

	if (!sample->tgid && !sample->tid &&
	    sample->comm < reader->pprof.string_count)
		known = &reader->tasks[sample->comm];
	if (known && *known)
		return *known - 1;
	comm = sample->comm ? pprof_string(&reader->pprof, sample->comm) :
	       NULL;
	task = profile_build_task(build, (uint32_t)sample->tgid,
				  (uint32_t)sample->tid,
				  comm ? comm : reader->program);
	free(comm);
	if (known)
		*known = task + 1;
	return task;
}

/* Two's complement: the upper half is negative. */
static int set_samples(const struct reader *reader,
		       struct profile_stack *stack)
{
	const struct sample_fields *sample = &reader->sample;

	if (sample->values != reader->pprof.type_count)
		return bad_sample(reader, "as many values as sample types are "
				  "wanted");
	if (sample->base && (!sample->value || sample->value >> 63))
		stack->before = 0 - sample->value;
	else if (!(sample->value >> 63))
		stack->samples = sample->value;
	else
		return bad_sample(reader, "a negative value");
	if (!reader->pprof.in->before)
		return 0;
	stack->before = stack->samples;
	stack->samples = 0;
	return 0;
}

static int read_sample(struct reader *reader, struct bytes message)
{
	struct pprof *pprof = &reader->pprof;
	struct profile_stack stack = { 0 };
	size_t depth = 0;

	reader->number++;
	if (read_fields(reader, message))
		return bad_sample(reader, "damaged or cut short");
	if (set_samples(reader, &stack) || make_stack(reader, &depth))
		return -EINVAL;
	stack.mode = reader->sample.mode;
	stack.task = make_task(reader);
	if (reader->sample.base && !pprof->in->meta->before)
		pprof->in->meta->before =
			memory_new(1, sizeof(*pprof->in->meta->before));
	if (pprof_check_copied(pprof))
		return -EINVAL;
	if (profile_build_stack(pprof->in->build, &stack, reader->frames,
				depth))
		return 0;
	bad_sample(reader, "too much: all samples have to fit 63 bits, and "
		   "all frames 1 GB");
	return -EFBIG;
}

static int read_samples(struct reader *reader)
{
	struct bytes rest = reader->pprof.all;
	struct wire_field field;
	int error = 0;

	reader->tasks = memory_new(reader->pprof.string_count + 1,
				   sizeof(*reader->tasks));
	while (!error && wire_next(&rest, &field) == 1)
		if (field.number == 2 && field.type == WIRE_BYTES)
			error = read_sample(reader, field.bytes);
	return error;
}

/* -------------------------------------------------------------------- meta */

/* The number behind " key " in `text`. */
static bool number_of(const char *text, const char *key, uint64_t *value)
{
	const char *at = strstr(text, key);
	char digits[24];
	size_t length;

	if (!at)
		return false;
	at += strlen(key);
	length = strcspn(at, " ");
	if (length >= sizeof(digits))
		return false;
	memcpy(digits, at, length);
	digits[length] = '\0';
	return text_number(digits, 10, 0, INT64_MAX, value);
}

/* " sampled 990 filtered 3 lost 0", and " expected 990" if it is known. */
static void take_balance(struct in *in, const char *text)
{
	struct meta *meta = in->meta;

	if (!number_of(text, " sampled ", &meta->sampled) ||
	    !number_of(text, " filtered ", &in->filtered) ||
	    !number_of(text, " lost ", &meta->lost))
		return;
	meta->balanced = true;
	if (!number_of(text, " expected ", &meta->expected))
		return;
	meta->foreseen = true;
	meta->unaccounted = (int64_t)(meta->expected - meta->sampled);
}

static void take_comment(struct in *in, const char *text)
{
	static const char *const keys[] = {
		"command: ", "host: ", "kernel: ", "event: ", "cpus: ",
		"balance:", "note: ", "warning: ", "advice: ",
	};
	struct meta *meta = in->meta;
	uint64_t cpus;
	size_t key = 0;

	while (key < sizeof(keys) / sizeof(*keys) &&
	       strncmp(text, keys[key], strlen(keys[key])))
		key++;
	if (key < sizeof(keys) / sizeof(*keys))
		text += strlen(keys[key]);
	switch (key) {
	case 0:
		meta_set(&meta->command, text);
		break;
	case 1:
		meta_set(&meta->host, text);
		break;
	case 2:
		meta_set(&meta->kernel, text);
		break;
	case 3:
		meta_set(&meta->event, text);
		break;
	case 4:
		if (text_number(text, 10, 1, 1 << 20, &cpus))
			meta->cpus = (size_t)cpus;
		break;
	case 5:
		take_balance(in, text);
		break;
	case 6:
		meta_note(meta, "%s", text);
		break;
	case 7:
		meta_warning(meta, "%s", text);
		break;
	case 8:
		meta_advice(meta, "%s", text);
		break;
	default:
		if (!strncmp(text, "prof ", 5) && !meta->program)
			meta_set(&meta->program, text);
		else
			meta_note(meta, "%s", text);
	}
}

static void set_string(struct pprof *pprof, char **to, uint64_t number)
{
	char *text = pprof_string(pprof, number);

	meta_set(to, text);
	free(text);
}

static void make_meta(struct reader *reader)
{
	struct pprof *pprof = &reader->pprof;
	struct meta *meta = pprof->in->meta;
	bool clock = pprof_is(pprof, pprof->period_type.unit, "nanoseconds");

	for (size_t i = 0; i < pprof->comment_count; i++) {
		char *text = pprof_string(pprof, pprof->comments[i]);

		take_comment(pprof->in, text);
		free(text);
	}
	meta_set(&meta->type, "samples");
	meta_set(&meta->unit, "count");
	if (pprof->type_count) {
		const struct pprof_type *type = &pprof->types[reader->type];

		set_string(pprof, &meta->type, type->type);
		set_string(pprof, &meta->unit, type->unit);
	}
	if (!meta->event && pprof->period_type.type)
		set_string(pprof, &meta->event, pprof->period_type.type);
	if (pprof->period >> 63 == 0)
		meta->period = pprof->period;
	meta->clock = clock;
	if (clock && meta->period)
		meta->hz = (1000000000 + meta->period / 2) / meta->period;
	if (pprof->time >> 63 == 0)
		meta->time = pprof->time;
	if (pprof->duration >> 63 == 0)
		meta->duration = pprof->duration;
}

/* Go's profiles, for one, are of one program, the first mapping. */
static void find_program(struct reader *reader)
{
	struct pprof *pprof = &reader->pprof;
	const struct pprof_mapping *first = pprof->mappings.items;
	char *path = pprof_string(pprof, pprof->mappings.count ? first->file :
				  0);
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;

	reader->program = memory_text(name, strlen(name));
	free(path);
}

int in_pprof(struct in *in, struct bytes bytes)
{
	struct reader reader = { .pprof = { .in = in, .all = bytes } };
	int error = pprof_read_tables(&reader.pprof);

	if (!error)
		error = pprof_make_frames(&reader.pprof);
	if (!error) {
		reader.type = reader.pprof.type_count ?
			      choose_type(&reader.pprof) : 0;
		find_program(&reader);
		make_meta(&reader);
		error = read_samples(&reader);
	}
	if (!error && in->meta->before) {
		meta_set(&in->meta->before->type, in->meta->type);
		meta_set(&in->meta->before->unit, in->meta->unit);
	}
	pprof_free_tables(&reader.pprof);
	free(reader.program);
	free(reader.tasks);
	free(reader.frames);
	free(reader.sample.locations);
	return error;
}
