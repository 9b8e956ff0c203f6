/* SPDX-License-Identifier: MIT */
/*
 * profile_build: a profile of what somebody else sampled and named.
 *
 * Nothing here trusts its numbers: sums that do not fit are refused, stacks that
 * nobody could look at are cut at the root, as the kernel cuts them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "profile_build.h"
#include "profile_parts.h"
#include "sym/kernel.h"

enum {
	DEEPEST = 4096,			/* frames of a stack */
	FRAMES_MOST = 1 << 28,		/* of all stacks: 1 GB */
};

enum { IS_SOFTIRQ = 1, IS_INTERRUPT = 2 };

struct profile_build {
	struct profile *profile;
	unsigned int show;
	struct profile_parts parts;
	struct index stack_index;
	size_t stack_capacity, frame_id_capacity;
	uint8_t *kinds;			/* IS_ flags of frames */
	size_t kind_capacity;
	uint32_t *ids;			/* of the stack at hand */
	size_t id_capacity;
	uint32_t truncated;		/* the frame that says so */
	struct text text;
};

struct profile_build *profile_build_new(unsigned int show, bool alike)
{
	struct profile_build *build = memory_new(1, sizeof(*build));

	build->profile = memory_new(1, sizeof(*build->profile));
	/* Never NULL: stacks without frames begin there, too. */
	build->profile->frame_ids = memory_grow(NULL, &build->frame_id_capacity,
						1, sizeof(uint32_t));
	build->show = show;
	build->parts.alike = alike;
	profile_build_image(build, "", "");	/* IMAGE_NONE */
	build->truncated = profile_build_frame(build, "[truncated]",
					       FRAME_NOTE, IMAGE_NONE, 0);
	return build;
}

/* ----------------------------------------- tasks, images, frames, each once */

/* swapper/3; another may call itself so, but has a number. */
static bool is_idle(uint32_t tgid, uint32_t tid, const char *comm)
{
	return !tgid && !tid && !strncmp(comm, "swapper", 7) &&
	       (!comm[7] || comm[7] == '/');
}

uint32_t profile_build_task(struct profile_build *build, uint32_t tgid,
			    uint32_t tid, const char *comm)
{
	struct profile *profile = build->profile;
	struct profile_task task = { .idle = is_idle(tgid, tid, comm) };

	if (!build->parts.alike) {
		task.tgid = tgid;
		task.tid = tid;
	}
	build->text.length = 0;
	/* Others put there what they like, spaces included. */
	text_frame(&build->text, comm);
	if (*build->text.data == '#')
		*build->text.data = '_';
	task.comm = names_add(&profile->names, build->text.data);
	return profile_parts_task(&build->parts, profile, &task);
}

uint32_t profile_build_image(struct profile_build *build, const char *path,
			     const char *build_id)
{
	return profile_parts_image(&build->parts, build->profile, path,
				   build_id);
}

/* What the mode of a stack depends on. */
static uint8_t look_at(const char *name, enum frame_kind kind)
{
	struct kernel_frame frame = { .name = name };
	uint8_t is = 0;

	if (kind != FRAME_KERNEL)
		return 0;
	if (kernel_frames_softirq(&frame, 1))
		is |= IS_SOFTIRQ;
	if (kernel_frames_interrupt(&frame, 1))
		is |= IS_INTERRUPT;
	return is;
}

uint32_t profile_build_frame(struct profile_build *build, const char *name,
			     enum frame_kind kind, uint32_t image,
			     uint64_t address)
{
	struct profile *profile = build->profile;
	size_t before = profile->frame_count;
	struct profile_frame frame = {
		.kind = kind, .image = image,
		.address = build->show & SHOW_ADDRESSES &&
			   !build->parts.alike ? address : 0,
	};
	uint32_t position = profile_parts_frame(&build->parts, profile, name,
						frame);

	if (position < before)
		return position;
	build->kinds = memory_grow(build->kinds, &build->kind_capacity,
				   before + 1, 1);
	build->kinds[position] = look_at(
		profile->names.text[profile->frames[position].name], kind);
	return position;
}

/* ------------------------------------------------------------------ stacks */

struct wanted {
	const struct profile_stack *stack;
	const uint32_t *ids;
};

static bool stack_equal(const void *array, uint32_t position,
			const void *wanted)
{
	const struct profile *profile = array;
	const struct profile_stack *stack = &profile->stacks[position];
	const struct wanted *want = wanted;

	return stack->task == want->stack->task &&
	       stack->depth == want->stack->depth && (!stack->depth ||
	       !memcmp(profile->frame_ids + stack->frames, want->ids,
		       stack->depth * sizeof(*want->ids)));
}

static bool is_note(const struct profile *profile, uint32_t id,
		    const char *text)
{
	const struct profile_frame *frame = &profile->frames[id];

	return frame->kind == FRAME_NOTE &&
	       !strcmp(profile->names.text[frame->name], text);
}

/* As profile_name() has it, but of names alone. */
static enum profile_mode mode_of(const struct profile_build *build,
				 uint32_t task, const uint32_t *frames,
				 size_t depth)
{
	const struct profile *profile = build->profile;
	bool idle = profile->tasks[task].idle, kernel = false;
	uint8_t is = 0;

	for (size_t i = 0; i < depth; i++) {
		kernel |= profile->frames[frames[i]].kind == FRAME_KERNEL;
		is |= build->kinds[frames[i]];
	}
	if (is & IS_SOFTIRQ)
		return MODE_SOFTIRQ;
	if (idle)
		return is & IS_INTERRUPT ? MODE_SOFTIRQ : MODE_IDLE;
	if (kernel)
		return MODE_KERNEL;
	return !depth || is_note(profile, frames[depth - 1], "[no stack]") ?
	       MODE_UNKNOWN : MODE_USER;
}

/*
 * Copies to build->ids what is to be shown.  Notes belong to the frames before
 * them, or to the user's.  Returns whether anything is left to show.
 */
static bool select_frames(struct profile_build *build,
			  struct profile_stack *stack, const uint32_t *frames,
			  size_t depth)
{
	const struct profile *profile = build->profile;
	bool has_kernel = false, has_user = false;
	size_t count = 0;

	build->ids = memory_grow(build->ids, &build->id_capacity, depth + 1,
				 sizeof(*build->ids));
	for (size_t i = 0; i < depth; i++) {
		has_kernel |= profile->frames[frames[i]].kind == FRAME_KERNEL;
		has_user |= !has_kernel;
		if (build->show & (has_kernel ? SHOW_KERNEL : SHOW_USER))
			build->ids[count++] = frames[i];
	}
	if (count > DEEPEST) {
		memmove(build->ids + 1, build->ids + count - DEEPEST,
			DEEPEST * sizeof(*build->ids));
		build->ids[0] = build->truncated;
		count = DEEPEST + 1;
	}
	stack->depth = (uint32_t)count;
	if (stack->mode == MODE_IDLE && !(build->show & SHOW_IDLE))
		return false;
	return count || !(has_kernel || has_user);
}

static struct profile_stack *find_stack(struct profile_build *build,
					const struct profile_stack *stack)
{
	struct profile *profile = build->profile;
	size_t size = stack->depth * sizeof(*build->ids);
	struct wanted wanted = { stack, build->ids };
	uint64_t hash = index_hash(build->ids, size) ^
			index_hash(&stack->task, sizeof(stack->task));
	uint32_t position = index_find(&build->stack_index, hash, stack_equal,
				       profile, &wanted);
	struct profile_stack *there;

	if (position != INDEX_NONE)
		return &profile->stacks[position];
	profile->stacks = memory_grow(profile->stacks, &build->stack_capacity,
				      profile->stack_count + 1, sizeof(*stack));
	profile->frame_ids = memory_grow(profile->frame_ids,
					 &build->frame_id_capacity,
					 profile->frame_id_count +
					 stack->depth, sizeof(*build->ids));
	if (size)
		memcpy(profile->frame_ids + profile->frame_id_count, build->ids,
		       size);
	index_add(&build->stack_index, hash, (uint32_t)profile->stack_count);
	there = &profile->stacks[profile->stack_count++];
	*there = *stack;
	there->samples = there->before = 0;
	there->frames = profile->frame_id_count;
	profile->frame_id_count += stack->depth;
	return there;
}

static bool fits(uint64_t sum, uint64_t more)
{
	return sum <= INT64_MAX && more <= INT64_MAX - sum;
}

bool profile_build_stack(struct profile_build *build,
			 const struct profile_stack *given,
			 const uint32_t *frames, size_t depth)
{
	struct profile *profile = build->profile;
	struct profile_stack stack = *given, *there;

	if (!fits(profile->total + profile->filtered, stack.samples) ||
	    !fits(profile->total_before, stack.before) ||
	    profile->frame_id_count + depth > FRAMES_MOST)
		return false;
	if (!stack.samples && !stack.before)
		return true;
	if (stack.mode == MODE_COUNT)
		stack.mode = mode_of(build, stack.task, frames, depth);
	if (!select_frames(build, &stack, frames, depth)) {
		profile->filtered += stack.samples;
		return true;
	}
	there = find_stack(build, &stack);
	there->samples += stack.samples;
	there->before += stack.before;
	if (stack.first && (!there->first || stack.first < there->first))
		there->first = stack.first;
	if (stack.last > there->last)
		there->last = stack.last;
	profile->by_mode[there->mode] += stack.samples;
	profile->total += stack.samples;
	profile->total_before += stack.before;
	return true;
}

struct profile *profile_build_end(struct profile_build *build)
{
	struct profile *profile = build->profile;

	profile_parts_free(&build->parts);
	index_free(&build->stack_index);
	free(build->kinds);
	free(build->ids);
	text_free(&build->text);
	free(build);
	return profile;
}

uint64_t profile_scaled(const struct profile *profile, uint64_t before)
{
	if (profile->total == profile->total_before || !profile->total_before)
		return before;
	return (uint64_t)((double)before * (double)profile->total /
			  (double)profile->total_before + 0.5);
}
