/* SPDX-License-Identifier: MIT */
/*
 * heat: what is hot, by looking at a profile that is not done.
 *
 *	stacks so far ── heat_look ──> leaves: an address of the kernel's, a frame
 *			 of user code, or a note; their samples
 *	new leaves, the hottest first ── names ──> functions
 *	leaves ────────────────────────────────> functions' samples, threads'
 *
 * `now` is what the last drain gave, and less and less of what was before.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/names.h"
#include "lib/text.h"
#include "sym/kernel.h"
#include "sys/system.h"
#include "tui/heat.h"

/* ns after which a sample counts half. */
static const double COOLING = 4e9;

/* Leaves and stacks that get names at one look. */
enum { NAMED_MOST = 512, STACKS_MOST = 64 };

/* Naming takes one part of so many of the time. */
enum { NAMING_SHARE = 20 };

struct leaf {
	struct leaf_key {
		uint64_t value;		/* an address, a frame, a note's name */
		enum leaf_kind {
			LEAF_KERNEL, LEAF_FRAME, LEAF_NOTE,
		} kind;
		uint32_t unused;	/* zero: keys are compared as bytes */
	} key;
	uint64_t samples, before;
	double now;
	uint32_t function;	/* INDEX_NONE: has no name yet */
};

struct heat_work {
	struct leaf *leaves;
	size_t leaf_count, leaf_capacity;
	struct index leaf_index, function_index;
	struct heat_function *all;	/* functions */
	size_t all_count, all_capacity;
	struct thread_sum {
		struct heat_thread thread;
		uint64_t samples, before;
	} *threads;		/* by names' numbers of comms */
	size_t thread_capacity, thread_used;
	struct names names;
	uint8_t *stacks;	/* by kernel stack: STACK_ below */
	size_t stack_capacity, stack_count;
	struct kernel_stack wanted[STACKS_MOST];
	uint32_t wanted_number[STACKS_MOST];
	size_t wanted_count;
	uint64_t next_naming;	/* not before */
};

/* Of the idle task's stacks: is it idle there? */
enum { IS_UNKNOWN, IS_IDLE, IS_INTERRUPT };

void heat_new(struct heat *heat, struct profile *profile)
{
	*heat = (struct heat){ .profile = profile };
	heat->work = memory_new(1, sizeof(*heat->work));
}

void heat_free(struct heat *heat)
{
	struct heat_work *work = heat->work;

	free(heat->functions);
	free(heat->threads);
	if (work) {
		free(work->leaves);
		index_free(&work->leaf_index);
		index_free(&work->function_index);
		free(work->all);
		free(work->threads);
		names_free(&work->names);
		free(work->stacks);
	}
	free(work);
	*heat = (struct heat){ 0 };
}

/* ------------------------------------------------------------------- leaves */

static bool leaf_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	return !memcmp(&((const struct leaf *)array)[position].key, wanted,
		       sizeof(struct leaf_key));
}

static struct leaf *find_leaf(struct heat_work *work,
			      const struct leaf_key *key)
{
	uint64_t hash = index_hash(key, sizeof(*key));
	uint32_t position = index_find(&work->leaf_index, hash, leaf_equal,
				       work->leaves, key);

	if (position != INDEX_NONE)
		return &work->leaves[position];
	work->leaves = memory_grow(work->leaves, &work->leaf_capacity,
				   work->leaf_count + 1,
				   sizeof(*work->leaves));
	work->leaves[work->leaf_count] = (struct leaf){
		.key = *key, .function = INDEX_NONE,
	};
	index_add(&work->leaf_index, hash, (uint32_t)work->leaf_count);
	return &work->leaves[work->leaf_count++];
}

/* Makes room for more than there was, zeroed. */
static void *grow_zeroed(void *data, size_t *capacity, size_t *count,
			 size_t need, size_t size)
{
	if (need <= *count)
		return data;
	data = memory_grow(data, capacity, need, size);
	memset((char *)data + *count * size, 0, (need - *count) * size);
	*count = need;
	return data;
}

/* Whether the idle task was idle there; as long as nobody knows, it was. */
static bool is_idle(struct heat_work *work, const struct profile_glance *glance)
{
	size_t number = glance->kernel;

	if (glance->kernel == INDEX_NONE)
		return true;
	work->stacks = grow_zeroed(work->stacks, &work->stack_capacity,
				   &work->stack_count, number + 1, 1);
	if (work->stacks[number] == IS_UNKNOWN &&
	    work->wanted_count < STACKS_MOST) {
		work->wanted[work->wanted_count] = (struct kernel_stack){
			glance->ip, glance->depth,
		};
		work->wanted_number[work->wanted_count++] = glance->kernel;
	}
	return work->stacks[number] != IS_INTERRUPT;
}

static void add_thread(struct heat *heat, uint32_t comm, uint64_t samples)
{
	struct heat_work *work = heat->work;

	work->threads = grow_zeroed(work->threads, &work->thread_capacity,
				    &work->thread_used, (size_t)comm + 1,
				    sizeof(*work->threads));
	work->threads[comm].thread.comm = comm;
	work->threads[comm].samples += samples;
}

/* A profile_glance_fn. */
static void add_glance(void *context, const struct profile_glance *glance)
{
	struct heat *heat = context;
	struct heat_work *work = heat->work;
	const struct profile_task *task = &heat->profile->tasks[glance->task];
	struct leaf_key key = { 0 };

	if (task->idle && is_idle(work, glance)) {
		heat->idle += glance->samples;
		return;
	}
	heat->busy += glance->samples;
	add_thread(heat, task->comm, glance->samples);
	if (glance->depth) {
		key.kind = LEAF_KERNEL;
		key.value = glance->ip[0];
	} else if (glance->frame != INDEX_NONE && !glance->note) {
		key.kind = LEAF_FRAME;
		key.value = glance->frame;
	} else {
		key.kind = LEAF_NOTE;
		key.value = names_add(&work->names, glance->note ?
				      glance->note : "[no name yet]");
	}
	find_leaf(work, &key)->samples += glance->samples;
}

/* --------------------------------------------------------------- functions */

static bool function_equal(const void *array, uint32_t position,
			   const void *wanted)
{
	const struct heat_function *a = array, *b = wanted;

	a += position;
	return a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(a->image, b->image);
}

/* The texts stay as long as the heat does, or the profile. */
static uint32_t add_function(struct heat_work *work, const char *name,
			     const char *image, enum tree_kind kind)
{
	struct heat_function function = {
		.name = name, .image = image, .kind = kind,
	};
	uint64_t hash = index_hash(name, strlen(name)) ^
			index_hash(image, strlen(image)) ^ kind;
	uint32_t position = index_find(&work->function_index, hash,
				       function_equal, work->all, &function);

	if (position != INDEX_NONE)
		return position;
	work->all = memory_grow(work->all, &work->all_capacity,
				work->all_count + 1, sizeof(*work->all));
	work->all[work->all_count] = function;
	index_add(&work->function_index, hash, (uint32_t)work->all_count);
	return (uint32_t)work->all_count++;
}

static const char *keep(struct heat_work *work, const char *text)
{
	uint32_t name = names_add(&work->names, text);

	return work->names.text[name];
}

/* User code without a name is its file's. */
static uint32_t function_of_frame(struct heat *heat, uint32_t id)
{
	const struct profile *profile = heat->profile;
	const struct profile_frame *frame = &profile->frames[id];
	const char *name = profile->names.text[frame->name];
	const char *image = profile->names.text[
		profile->images[frame->image].name];
	enum tree_kind kind = tree_kind_of(profile, frame);
	size_t length = kind == TREE_UNNAMED ? tree_file_length(name) : 0;

	if (length) {
		char *file = memory_text(name, length);
		struct text text = { 0 };

		/* What it would be called with any offset. */
		text_format(&text, "%s+0x", file);
		name = keep(heat->work, length == 3 ? "[0x" : text.data);
		text_free(&text);
		free(file);
	}
	return add_function(heat->work, name, image, kind);
}

/* ------------------------------------------------------------------- naming */

static int cmp_leaf(const void *a, const void *b)
{
	const struct leaf *const *x = a, *const *y = b;

	if ((*x)->now != (*y)->now)
		return (*x)->now > (*y)->now ? -1 : 1;
	return ((*x)->key.value > (*y)->key.value) -
	       ((*x)->key.value < (*y)->key.value);
}

/* Kernel leaves without names, the hottest first; to be freed. */
static struct leaf **find_nameless(struct heat_work *work, size_t *count)
{
	struct leaf **nameless = memory_new(work->leaf_count,
					    sizeof(*nameless));

	*count = 0;
	for (size_t i = 0; i < work->leaf_count; i++)
		if (work->leaves[i].function == INDEX_NONE &&
		    work->leaves[i].key.kind == LEAF_KERNEL)
			nameless[(*count)++] = &work->leaves[i];
	if (*count)
		qsort(nameless, *count, sizeof(*nameless), cmp_leaf);
	if (*count > NAMED_MOST)
		*count = NAMED_MOST;
	return nameless;
}

static void name_leaf(struct heat *heat, struct leaf *leaf)
{
	struct kernel_stack stack = { &leaf->key.value, 1 };
	struct kernel_frame frame;
	const char *module, *name;
	struct text safe = { 0 };

	kernel_names_stack(profile_kernel_names(heat->profile), &stack,
			   &frame);
	text_frame(&safe, frame.name ? frame.name : "[kernel]");
	name = keep(heat->work, safe.data);
	safe.length = 0;
	text_frame(&safe, frame.module ? frame.module : "[kernel]");
	module = keep(heat->work, safe.data);
	text_free(&safe);
	leaf->function = add_function(heat->work, name, module, frame.module ?
				      TREE_MODULE : TREE_KERNEL);
}

/* The idle task's stacks that were not known are judged by their functions. */
static void judge_stacks(struct heat *heat)
{
	struct heat_work *work = heat->work;
	const struct kernel_names *names = profile_kernel_names(heat->profile);

	for (size_t i = 0; i < work->wanted_count; i++) {
		size_t depth = work->wanted[i].depth;
		struct kernel_frame *frames = memory_new(depth,
							 sizeof(*frames));

		kernel_names_stack(names, &work->wanted[i], frames);
		work->stacks[work->wanted_number[i]] =
			kernel_frames_softirq(frames, depth) ||
			kernel_frames_interrupt(frames, depth) ?
			IS_INTERRUPT : IS_IDLE;
		free(frames);
	}
}

static void name_kernel(struct heat *heat)
{
	struct heat_work *work = heat->work;
	uint64_t begin = system_now();
	struct kernel_stack *stacks;
	struct leaf **nameless;
	size_t count;

	if (begin < work->next_naming)
		return;
	nameless = find_nameless(work, &count);
	stacks = memory_new(count + work->wanted_count, sizeof(*stacks));
	for (size_t i = 0; i < count; i++)
		stacks[i] = (struct kernel_stack){ &nameless[i]->key.value, 1 };
	for (size_t i = 0; i < work->wanted_count; i++)
		stacks[count + i] = work->wanted[i];
	if (count + work->wanted_count)
		kernel_names_resolve(profile_kernel_names(heat->profile),
				     stacks, count + work->wanted_count);
	for (size_t i = 0; i < count; i++)
		name_leaf(heat, nameless[i]);
	judge_stacks(heat);
	free(stacks);
	free(nameless);
	work->next_naming = begin + (system_now() - begin) * NAMING_SHARE;
}

static void name_leaves(struct heat *heat)
{
	struct heat_work *work = heat->work;

	name_kernel(heat);
	for (size_t i = 0; i < work->leaf_count; i++) {
		struct leaf *leaf = &work->leaves[i];

		if (leaf->function != INDEX_NONE ||
		    leaf->key.kind == LEAF_KERNEL)
			continue;
		leaf->function = leaf->key.kind == LEAF_FRAME ?
			function_of_frame(heat, (uint32_t)leaf->key.value) :
			add_function(work, work->names.text[leaf->key.value],
				     "", TREE_NOTE);
	}
}

/* --------------------------------------------------------------------- sums */

/* What is less than this of a sample is cold. */
static const double COLD = 0.05;

/* What came since the last look; a count can go down when names come late. */
static double warm(double now, double kept, uint64_t samples, uint64_t before)
{
	now = now * kept + (double)samples - (double)before;
	return now > 0 ? now : 0;
}

static void cool(struct heat *heat, double kept)
{
	struct heat_work *work = heat->work;

	for (size_t i = 0; i < work->leaf_count; i++) {
		struct leaf *leaf = &work->leaves[i];

		leaf->now = warm(leaf->now, kept, leaf->samples, leaf->before);
		leaf->before = leaf->samples;
	}
	for (size_t i = 0; i < work->thread_used; i++) {
		struct thread_sum *sum = &work->threads[i];

		sum->thread.now = warm(sum->thread.now, kept, sum->samples,
				       sum->before);
		sum->before = sum->samples;
	}
}

static void add_functions(struct heat *heat)
{
	struct heat_work *work = heat->work;

	for (size_t i = 0; i < work->all_count; i++) {
		work->all[i].samples = 0;
		work->all[i].now = 0;
	}
	for (size_t i = 0; i < work->leaf_count; i++) {
		const struct leaf *leaf = &work->leaves[i];

		if (leaf->function == INDEX_NONE)
			continue;
		work->all[leaf->function].samples += leaf->samples;
		work->all[leaf->function].now += leaf->now;
	}
}

static int cmp_function(const void *a, const void *b)
{
	const struct heat_function *const *x = a, *const *y = b;

	if ((*x)->now != (*y)->now)
		return (*x)->now > (*y)->now ? -1 : 1;
	if ((*x)->samples != (*y)->samples)
		return (*x)->samples > (*y)->samples ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

static int cmp_thread(const void *a, const void *b)
{
	const struct heat_thread *const *x = a, *const *y = b;

	if ((*x)->now != (*y)->now)
		return (*x)->now > (*y)->now ? -1 : 1;
	return ((*x)->comm > (*y)->comm) - ((*x)->comm < (*y)->comm);
}

static void sort(struct heat *heat)
{
	struct heat_work *work = heat->work;

	free(heat->functions);
	free(heat->threads);
	heat->functions = memory_new(work->all_count,
				     sizeof(*heat->functions));
	heat->threads = memory_new(work->thread_used, sizeof(*heat->threads));
	heat->function_count = heat->thread_count = 0;
	for (size_t i = 0; i < work->all_count; i++)
		if (work->all[i].now >= COLD)
			heat->functions[heat->function_count++] = &work->all[i];
	for (size_t i = 0; i < work->thread_used; i++)
		if (work->threads[i].thread.now >= COLD)
			heat->threads[heat->thread_count++] =
				&work->threads[i].thread;
	if (heat->function_count)
		qsort(heat->functions, heat->function_count,
		      sizeof(*heat->functions), cmp_function);
	if (heat->thread_count)
		qsort(heat->threads, heat->thread_count,
		      sizeof(*heat->threads), cmp_thread);
}

void heat_look(struct heat *heat, uint64_t time)
{
	struct heat_work *work = heat->work;
	double kept = COOLING / (COOLING + (double)time);
	uint64_t busy = heat->busy;

	for (size_t i = 0; i < work->leaf_count; i++)
		work->leaves[i].samples = 0;
	for (size_t i = 0; i < work->thread_used; i++)
		work->threads[i].samples = 0;
	heat->busy = heat->idle = 0;
	work->wanted_count = 0;
	profile_glance(heat->profile, add_glance, heat);
	cool(heat, kept);
	heat->busy_now = warm(heat->busy_now, kept, heat->busy, busy);
	heat->time_now = heat->time_now * kept + (double)time;
	name_leaves(heat);
	add_functions(heat);
	sort(heat);
}
