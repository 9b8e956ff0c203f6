/* SPDX-License-Identifier: MIT */
/*
 * profile: gathers drained samples and gives them names.
 *
 *	drained element            kept while sampling         in the end
 *	tgid tid comm ───────────> task ─────────────────────> task
 *	user stack, addresses ───> list of frames ───────────> frames
 *	kernel stack, addresses ─> list of addresses ─ named ─> frames
 *
 * User addresses become files and offsets at once, as their process may be gone
 * in the next second; the mappings are those that it had at the sample's time.
 * Every few drains those that are new get names, file by file, and stacks that
 * read alike become one.  Kernel addresses wait for the end, when all of
 * them are known and the kernel's symbols are read once for all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/lists.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "profile.h"
#include "profile_parts.h"
#include "sym/kernel.h"
#include "sym/user.h"
#include "sys/system.h"

/* A sample before it has kernel names. */
struct gathered {
	uint32_t task, user;	/* user: a list in work->users */
	uint32_t kernel;	/* a list in work->kernels, or KERNEL_ below */
	uint32_t unused;
	uint64_t samples, first, last;
};

/*
 * In place of a kernel stack: what the program noted instead of one.  Applied
 * twice it gives its argument.
 */
#define KERNEL_NOTE(word) (UINT32_MAX - (uint32_t)(word))

/* In a list of frames: a position in work->seen, and not a frame's number. */
#define SEEN (1ull << 32)

/* Frames of all distinct user stacks: 256 MB. */
enum { ITEMS_MOST = 32 * 1024 * 1024 };

struct profile_work {
	unsigned int show;
	size_t depth;
	struct user_names *user;
	struct kernel_names *kernel;
	struct profile_parts parts;
	struct index gathered_index;
	/* User frames seen, and the number that each has as a frame. */
	struct seen_frame {
		struct user_frame frame;
		uint32_t id;		/* INDEX_NONE: has no name yet */
		uint32_t unused;
	} *seen;
	size_t seen_count, seen_capacity, named;
	uint64_t naming;		/* ns of CPU that this took */
	struct index seen_index;
	struct lists users, kernels;
	/* What the last drains gave: stacks of frames without names. */
	bool watched;
	uint64_t settled;	/* when they got names last, in ns */
	struct gathered *fresh;
	size_t fresh_count, fresh_capacity;
	struct lists fresh_users;
	struct gathered *gathered;
	size_t gathered_count, gathered_capacity;
	size_t frame_id_capacity, stack_capacity;
	struct text text;	/* for the name at hand */
};

struct files *profile_files(struct profile *profile)
{
	return user_names_files(profile->work->user);
}

struct spaces *profile_spaces(struct profile *profile)
{
	return user_names_spaces(profile->work->user);
}

int profile_check(struct profile *profile)
{
	return kernel_names_check(profile->work->kernel);
}

/* ----------------------------------------- tasks, images, frames, each once */

static uint32_t add_task(struct profile *profile, const struct count_key *key)
{
	struct profile_work *work = profile->work;
	struct profile_task task = {
		.tgid = key->tgid, .tid = key->tid,
		/* 0 stands also for tasks whose number is not known. */
		.idle = !key->tid && !(key->flags & TASK_ELSEWHERE),
	};

	work->text.length = 0;
	text_comm(&work->text, key->comm);
	task.comm = names_add(&profile->names, work->text.data);
	return profile_parts_task(&work->parts, profile, &task);
}

static uint32_t add_image(struct profile *profile, const char *path,
			  const char *build_id)
{
	return profile_parts_image(&profile->work->parts, profile, path,
				   build_id);
}

static uint32_t add_frame(struct profile *profile, const char *name,
			  struct profile_frame frame)
{
	struct profile_work *work = profile->work;

	if (!(work->show & SHOW_ADDRESSES))
		frame.address = 0;
	return profile_parts_frame(&work->parts, profile, name, frame);
}

static uint32_t add_note(struct profile *profile, const char *name)
{
	return add_frame(profile, name,
			 (struct profile_frame){ .kind = FRAME_NOTE });
}

struct profile *profile_new(unsigned int show, size_t depth,
			    const char *kallsyms, struct bytes object)
{
	struct profile *profile = memory_new(1, sizeof(*profile));

	profile->work = memory_new(1, sizeof(*profile->work));
	profile->work->settled = system_now();
	profile->work->show = show;
	profile->work->depth = depth < STACK_DEPTH ? depth : STACK_DEPTH;
	profile->work->user = user_names_new(show & SHOW_MANGLED);
	profile->work->kernel = kernel_names_new(kallsyms, object);
	add_image(profile, "", "");	/* IMAGE_NONE */
	/* Never NULL: stacks without frames begin there, too. */
	profile->frame_ids = memory_grow(NULL,
					 &profile->work->frame_id_capacity, 1,
					 sizeof(*profile->frame_ids));
	return profile;
}

/* What stands where a stack should, or NULL where none should. */
static const char *note_of(uint64_t word)
{
	switch (word) {
	case STACK_LOST:
		return "[lost]";
	case STACK_COLLIDED:
		return "[collision]";
	case STACK_FAILED:
		return "[stack error]";
	default:
		return NULL;
	}
}

/* ---------------------------------------------------------- while sampling */

void profile_round(struct profile *profile)
{
	user_names_round(profile->work->user);
}

static bool seen_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	const struct seen_frame *seen = array;

	return !memcmp(&seen[position].frame, wanted,
		       sizeof(struct user_frame));
}

/* A user frame as an item of a list. */
static uint64_t add_user_frame(struct profile *profile,
			       const struct user_frame *frame)
{
	struct profile_work *work = profile->work;
	struct seen_frame new = { .frame = *frame, .id = INDEX_NONE };
	uint64_t hash = index_hash(frame, sizeof(*frame));
	uint32_t position = index_find(&work->seen_index, hash, seen_equal,
				       work->seen, frame);

	if (position != INDEX_NONE)
		return SEEN | position;
	work->seen = memory_grow(work->seen, &work->seen_capacity,
				 work->seen_count + 1, sizeof(new));
	work->seen[work->seen_count] = new;
	index_add(&work->seen_index, hash, (uint32_t)work->seen_count);
	return SEEN | work->seen_count++;
}

/* Why a user stack does not reach its root, as bpf/unwind.h has it. */
static const char *cause_of(uint64_t ip)
{
	static const char *const texts[WALK_CAUSES] = {
		[WALK_NO_MAPPING] = "[truncated: no mapping]",
		[WALK_NO_ROW] = "[truncated: no row]",
		[WALK_UNREADABLE] = "[truncated: unreadable]",
		[WALK_TOO_DEEP] = "[truncated: too deep]",
	};

	return ip < WALK_CAUSES ? texts[ip] : NULL;
}

/* The frames of a user stack, root first, as a list. */
static uint32_t add_user_stack(struct profile *profile,
			       const struct sample *sample)
{
	struct profile_work *work = profile->work;
	struct user_frame known[STACK_DEPTH];
	uint64_t frames[STACK_DEPTH + 2];
	const char *note = note_of(sample->key.user), *cause = NULL;
	size_t count = 0, depth = sample->user_depth;

	/* Memory has an end; a program can make new stacks without one. */
	if (!note && sample->user && work->users.item_count > ITEMS_MOST) {
		profile->dropped += sample->count.samples;
		note = "[lost]";
	}
	if (note) {
		frames[count++] = add_note(profile, note);
		return lists_add(&work->fresh_users, frames, count);
	}
	if (depth)
		cause = cause_of(sample->user[depth - 1]);
	if (cause)
		profile->unfinished[sample->user[--depth]] +=
			sample->count.samples;
	else if (sample->user && depth >= work->depth)
		cause = "[truncated]";
	if (cause)
		frames[count++] = add_note(profile, cause);
	user_names_stack(work->user, &(struct space_moment){
				 .tgid = sample->key.tgid,
				 .tid = sample->key.tid,
				 .comm = sample->key.comm,
				 .first = sample->count.first,
				 .last = sample->count.last,
				 .in_kernel = sample->kernel,
			 }, sample->user, depth, known);
	for (size_t i = depth; i-- > 0;)
		frames[count++] = add_user_frame(profile, &known[i]);
	return lists_add(&work->fresh_users, frames, count);
}

static bool gathered_equal(const void *array, uint32_t position,
			   const void *wanted)
{
	const struct gathered *a = array, *b = wanted;

	return a[position].task == b->task && a[position].user == b->user &&
	       a[position].kernel == b->kernel;
}

/* Adds to what has the same task and stacks; true if it is new in the array. */
static bool gather(struct index *index, struct gathered *array, size_t count,
		   const struct gathered *new)
{
	uint64_t hash = index_hash(new, 12);
	uint32_t position = index_find(index, hash, gathered_equal, array, new);
	struct gathered *there = &array[position];

	if (position == INDEX_NONE) {
		index_add(index, hash, (uint32_t)count);
		return true;
	}
	there->samples += new->samples;
	if (new->first < there->first)
		there->first = new->first;
	if (new->last > there->last)
		there->last = new->last;
	return false;
}

void profile_add(void *context, const struct sample *sample)
{
	struct profile *profile = context;
	struct profile_work *work = profile->work;
	struct gathered new = {
		.task = add_task(profile, &sample->key),
		.user = add_user_stack(profile, sample),
		.kernel = sample->kernel ?
			  lists_add(&work->kernels, sample->kernel,
				    sample->kernel_depth) :
			  KERNEL_NOTE(sample->key.kernel),
		.samples = sample->count.samples,
		.first = sample->count.first, .last = sample->count.last,
	};

	work->fresh = memory_grow(work->fresh, &work->fresh_capacity,
				  work->fresh_count + 1, sizeof(new));
	work->fresh[work->fresh_count++] = new;
}

static int cmp_user_frame(const void *a, const void *b)
{
	const struct user_frame *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return cmp_u64(&x->value, &y->value);
}

static void name_frame(struct profile *profile, const struct user_frame *frame)
{
	static const enum frame_kind kinds[] = {
		[USER_CODE] = FRAME_USER, [USER_JIT] = FRAME_JIT,
		[USER_NOTE] = FRAME_NOTE,
	};
	struct profile_work *work = profile->work;
	struct user_origin origin;
	uint32_t image = IMAGE_NONE;
	uint32_t position = index_find(&work->seen_index,
				       index_hash(frame, sizeof(*frame)),
				       seen_equal, work->seen, frame);

	work->text.length = 0;
	origin = user_names_text(work->user, frame, &work->text);
	if (origin.path)
		image = add_image(profile, origin.path, origin.build_id);
	work->seen[position].id =
		add_frame(profile, work->text.data, (struct profile_frame){
				  .kind = kinds[origin.kind], .image = image,
				  .address = origin.address,
			  });
}

/*
 * Those that are new, file by file; of code that may get its name later, only if
 * it is `late`.
 */
static void name_frames(struct profile *profile, bool late)
{
	struct profile_work *work = profile->work;
	size_t first = late ? 0 : work->named, count = 0;
	struct user_frame *unnamed = memory_new(work->seen_count - first,
						sizeof(*unnamed));
	uint64_t begin = system_cpu_time();

	for (size_t i = first; i < work->seen_count; i++)
		if (work->seen[i].id == INDEX_NONE &&
		    (late || !user_names_is_late(&work->seen[i].frame)))
			unnamed[count++] = work->seen[i].frame;
	if (count)
		qsort(unnamed, count, sizeof(*unnamed), cmp_user_frame);
	user_names_batch(work->user, unnamed, count);
	for (size_t i = 0; i < count; i++)
		name_frame(profile, &unnamed[i]);
	user_names_batch(work->user, NULL, 0);
	free(unnamed);
	work->naming += system_cpu_time() - begin;
	work->named = work->seen_count;
}

/* An item of a list, with the number of the frame where it has one. */
static uint64_t named_item(const struct profile_work *work, uint64_t item)
{
	uint32_t id;

	if (!(item & SEEN))
		return item;
	id = work->seen[item & ~SEEN].id;
	return id == INDEX_NONE ? item : id;
}

/* Names for what the last drains gave. */
static void settle(struct profile *profile)
{
	struct profile_work *work = profile->work;
	uint64_t frames[STACK_DEPTH + 2];

	name_frames(profile, false);
	user_names_settle(work->user);
	work->settled = system_now();
	for (size_t i = 0; i < work->fresh_count; i++) {
		struct gathered new = work->fresh[i];
		size_t depth;
		const uint64_t *items = lists_get(&work->fresh_users, new.user,
						  &depth);

		for (size_t j = 0; j < depth; j++)
			frames[j] = named_item(work, items[j]);
		new.user = lists_add(&work->users, frames, depth);
		if (!gather(&work->gathered_index, work->gathered,
			    work->gathered_count, &new))
			continue;
		work->gathered = memory_grow(work->gathered,
					     &work->gathered_capacity,
					     work->gathered_count + 1,
					     sizeof(new));
		work->gathered[work->gathered_count++] = new;
	}
	work->fresh_count = 0;
	lists_free(&work->fresh_users);
}

/* Stacks without names take memory, and what leads to their names is held. */
enum { FRESH_MOST = 4096 };
#define SETTLE_EVERY 20000000000ull

void profile_watch(struct profile *profile)
{
	profile->work->watched = true;
}

void profile_drained(struct profile *profile)
{
	struct profile_work *work = profile->work;

	if (work->watched || work->fresh_count >= FRESH_MOST ||
	    files_pressed(profile_files(profile)) ||
	    system_now() - work->settled >= SETTLE_EVERY)
		settle(profile);
}

void profile_skip(struct profile *profile, const struct sample *sample)
{
	profile->filtered += sample->count.samples;
	if (sample->key.flags & TASK_ELSEWHERE)
		profile->elsewhere += sample->count.samples;
}

/* False if nothing of the stack is wanted. */
static bool glance_at(const struct profile *profile,
		      const struct gathered *gathered,
		      struct profile_glance *glance)
{
	const struct profile_work *work = profile->work;
	bool stacked = gathered->kernel < work->kernels.count;
	size_t depth;
	const uint64_t *user = lists_get(&work->users, gathered->user, &depth);

	*glance = (struct profile_glance){
		.task = gathered->task, .kernel = INDEX_NONE,
		.frame = INDEX_NONE, .samples = gathered->samples,
	};
	if (work->show & SHOW_KERNEL && stacked) {
		glance->kernel = gathered->kernel;
		glance->ip = lists_get(&work->kernels, gathered->kernel,
				       &glance->depth);
	} else if (work->show & SHOW_KERNEL) {
		glance->note = note_of(KERNEL_NOTE(gathered->kernel));
	}
	if (work->show & SHOW_USER && depth &&
	    user[depth - 1] < profile->frame_count)
		glance->frame = (uint32_t)user[depth - 1];
	return glance->depth || glance->note ||
	       (work->show & SHOW_USER && depth);
}

void profile_glance(const struct profile *profile, profile_glance_fn *each,
		    void *context)
{
	const struct profile_work *work = profile->work;

	for (size_t i = 0; i < work->gathered_count; i++) {
		struct profile_glance glance;

		if (glance_at(profile, &work->gathered[i], &glance))
			each(context, &glance);
	}
}

struct kernel_names *profile_kernel_names(struct profile *profile)
{
	return profile->work->kernel;
}

/* -------------------------------------------------------------- in the end */

static enum profile_mode mode_of(const struct profile *profile,
				 const struct gathered *gathered,
				 const struct kernel_frame *frames,
				 size_t depth)
{
	bool idle_task = profile->tasks[gathered->task].idle;

	if (gathered->kernel == KERNEL_NOTE(STACK_NONE)) {
		size_t user;

		lists_get(&profile->work->users, gathered->user, &user);
		return user ? MODE_USER : MODE_UNKNOWN;
	}
	if (kernel_frames_softirq(frames, depth))
		return MODE_SOFTIRQ;
	if (!idle_task)
		return MODE_KERNEL;
	/* The idle task does nothing of its own: others' interrupts. */
	return kernel_frames_interrupt(frames, depth) ? MODE_SOFTIRQ :
	       MODE_IDLE;
}

static void add_frame_id(struct profile *profile, uint32_t id)
{
	profile->frame_ids = memory_grow(profile->frame_ids,
					 &profile->work->frame_id_capacity,
					 profile->frame_id_count + 1,
					 sizeof(*profile->frame_ids));
	profile->frame_ids[profile->frame_id_count++] = id;
}

static void add_kernel_frame(struct profile *profile,
			     const struct kernel_frame *frame)
{
	uint32_t image = add_image(profile, frame->module ? frame->module :
				   "[kernel]", "");
	struct text text = { 0 };

	if (!frame->name)
		text_format(&text, "[0x%" PRIx64 "]",
			    frame->address);
	add_frame_id(profile, add_frame(profile, frame->name ? frame->name :
					text.data, (struct profile_frame){
						.kind = FRAME_KERNEL,
						.image = image,
						.address = frame->address,
					}));
	text_free(&text);
}

/* Whether the sample is shown at all, given which stacks are wanted. */
static bool is_shown(const struct profile_work *work, enum profile_mode mode,
		     bool has_kernel, bool has_user)
{
	if (mode == MODE_IDLE && !(work->show & SHOW_IDLE))
		return false;
	if (mode == MODE_UNKNOWN)
		return true;
	return (has_kernel && work->show & SHOW_KERNEL) ||
	       (has_user && work->show & SHOW_USER);
}

static void finish_one(struct profile *profile, const struct gathered *gathered)
{
	struct profile_work *work = profile->work;
	struct kernel_frame frames[STACK_DEPTH];
	struct kernel_stack kernel = { 0 };
	const char *note = NULL;
	const uint64_t *user;
	size_t user_depth;
	struct profile_stack stack = {
		.task = gathered->task, .frames = profile->frame_id_count,
		.samples = gathered->samples,
		.first = gathered->first, .last = gathered->last,
	};

	if (gathered->kernel < work->kernels.count)
		kernel.ip = lists_get(&work->kernels, gathered->kernel,
				      &kernel.depth);
	else
		note = note_of(KERNEL_NOTE(gathered->kernel));
	user = lists_get(&work->users, gathered->user, &user_depth);
	kernel_names_stack(work->kernel, &kernel, frames);
	stack.mode = mode_of(profile, gathered, frames, kernel.depth);
	if (!is_shown(work, stack.mode, kernel.depth || note, user_depth)) {
		profile->filtered += stack.samples;
		return;
	}
	profile->by_mode[stack.mode] += stack.samples;
	profile->total += stack.samples;
	if (work->show & SHOW_USER)
		for (size_t i = 0; i < user_depth; i++)
			add_frame_id(profile,
				     (uint32_t)named_item(work, user[i]));
	if (work->show & SHOW_KERNEL) {
		if (note)
			add_frame_id(profile, add_note(profile, note));
		if (kernel.depth && kernel.depth >= work->depth)
			add_frame_id(profile, add_note(profile, "[truncated]"));
		for (size_t i = kernel.depth; i-- > 0;)
			add_kernel_frame(profile, &frames[i]);
	}
	if (stack.mode == MODE_UNKNOWN)
		add_frame_id(profile, add_note(profile, "[no stack]"));
	stack.depth = (uint32_t)(profile->frame_id_count - stack.frames);
	profile->stacks = memory_grow(profile->stacks, &work->stack_capacity,
				      profile->stack_count + 1, sizeof(stack));
	profile->stacks[profile->stack_count++] = stack;
}

void profile_name(struct profile *profile)
{
	struct profile_work *work = profile->work;
	struct kernel_stack *stacks = memory_new(work->kernels.count,
						 sizeof(*stacks));

	settle(profile);
	user_names_round(work->user);
	name_frames(profile, true);
	for (size_t i = 0; i < work->kernels.count; i++)
		stacks[i].ip = lists_get(&work->kernels, (uint32_t)i,
					 &stacks[i].depth);
	kernel_names_resolve(work->kernel, stacks, work->kernels.count);
	free(stacks);
	log_detail("names: %zu user frames in %.2f ms", work->seen_count,
		   (double)work->naming / 1e6);
	user_names_report(work->user);
	for (size_t i = 0; i < work->gathered_count; i++)
		finish_one(profile, &work->gathered[i]);
}

static void work_free(struct profile_work *work)
{
	if (!work)
		return;
	user_names_free(work->user);
	kernel_names_free(work->kernel);
	profile_parts_free(&work->parts);
	index_free(&work->gathered_index);
	index_free(&work->seen_index);
	free(work->seen);
	lists_free(&work->users);
	lists_free(&work->fresh_users);
	free(work->fresh);
	lists_free(&work->kernels);
	free(work->gathered);
	text_free(&work->text);
	free(work);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	work_free(profile->work);
	names_free(&profile->names);
	free(profile->tasks);
	free(profile->images);
	free(profile->frames);
	free(profile->frame_ids);
	free(profile->stacks);
	free(profile);
}
