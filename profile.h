/* SPDX-License-Identifier: MIT */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/names.h"
#include "proc/spaces.h"
#include "samples.h"

/*
 * What was sampled, with names: the only thing that outputs see.
 *
 *	profile_new ── profile_add, once per drained element ──>
 *	profile_name ──> tasks, stacks, frames, modes ──> out/
 */

/* What the CPU did when the tick came. */
enum profile_mode {
	MODE_USER,
	MODE_KERNEL,
	MODE_IDLE,	/* the idle task waited */
	MODE_SOFTIRQ,	/* soft interrupts' work on any task, and any other
			   interrupt's on the idle task */
	MODE_UNKNOWN,	/* the kernel gave no stack at all */
	MODE_COUNT,
};

/* What is to be shown; samples of which nothing is left are filtered. */
enum profile_show {
	SHOW_KERNEL = 1,	/* kernel frames */
	SHOW_USER = 2,		/* user frames */
	SHOW_IDLE = 4,		/* samples of MODE_IDLE */
	SHOW_ADDRESSES = 8,	/* frames of one function, but at different
				   addresses, are different frames */
	SHOW_MANGLED = 16,	/* names as linkers see them */
};

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,	/* made at run time, named by its maker */
	FRAME_NOTE,	/* not a function: why there is none, "[truncated]" */
};

/* What code comes from: a program, a library, the kernel, a module. */
struct profile_image {
	uint32_t name;		/* in profile->names: "libc.so.6", "[kernel]" */
	uint32_t path;		/* the same for the whole path */
	uint32_t build_id;	/* the same, hexadecimal; "" if not known */
};

enum { IMAGE_NONE = 0 };	/* image 0: nobody knows; its texts are "" */

struct profile_frame {
	uint32_t name;		/* in profile->names; safe for every output */
	enum frame_kind kind;
	uint32_t image;		/* in profile->images */
	uint32_t unused;	/* zero: frames are compared as bytes */
	uint64_t address;	/* SHOW_ADDRESSES: as the image's program
				   headers count, or the kernel's; else 0 */
};

struct profile_task {
	uint32_t tgid, tid;
	uint32_t comm;		/* in profile->names, made safe as well */
	uint32_t idle;		/* 1: the idle task */
};

/* Samples with the same task and frames. */
struct profile_stack {
	uint32_t task;
	uint32_t depth;
	size_t frames;		/* root first, from profile->frame_ids[frames] */
	uint64_t samples;
	uint64_t before;	/* the same in the recording that this one is
				   compared with; samples is 0 for a stack that
				   is only there */
	uint64_t first, last;	/* ns, CLOCK_MONOTONIC */
	enum profile_mode mode;
};

struct profile {
	struct names names;
	struct profile_task *tasks;
	struct profile_image *images;	/* each once */
	struct profile_frame *frames;	/* each once */
	uint32_t *frame_ids;
	struct profile_stack *stacks;
	size_t task_count, image_count, frame_count, frame_id_count,
	       stack_count;

	uint64_t total, total_before;	/* sums over the stacks.  Before two
					   recordings are compared, one is
					   scaled: see profile_scaled() */
	uint64_t by_mode[MODE_COUNT];	/* the total's parts */
	uint64_t filtered;		/* ... and that are not */
	uint64_t elsewhere;		/* of these: in other PID namespaces */
	uint64_t unfinished[WALK_CAUSES];	/* samples whose user stack ends
					   before its root, by cause */
	uint64_t dropped;		/* user stacks for which memory was
					   too dear; the samples are there */

	struct profile_work *work;	/* NULL if it was read back */
};

/*
 * `show`: SHOW_ flags.  `depth`: stacks of this many frames may have had more
 * (perf_event_max_stack).  `kallsyms`, `object`: as in kernel_names_new().
 */
struct profile *profile_new(unsigned int show, size_t depth,
			    const char *kallsyms, struct bytes object);

/* Who has to be told what happens to processes; the profile's own. */
struct spaces *profile_spaces(struct profile *profile);
struct files *profile_files(struct profile *profile);

/* Whether `kallsyms` can be believed, before it is too late: 0 or -errno. */
int profile_check(struct profile *profile);

/*
 * A drain begins, gives its elements to profile_add() (a samples_fn), and is
 * over.  What is new gets names every few drains, as long as its files are held:
 * a large file is read once for many of its addresses.  After profile_watch(),
 * when somebody looks on, after each.
 */
void profile_round(struct profile *profile);
void profile_add(void *profile, const struct sample *sample);
void profile_drained(struct profile *profile);
void profile_watch(struct profile *profile);

/* Counts a sample as filtered, for one that is of no target. */
void profile_skip(struct profile *profile, const struct sample *sample);

/*
 * Where the stacks gathered so far end, while there is more to come.  Kernel
 * addresses have no names yet: who wants some asks profile_kernel_names().
 */
struct profile_glance {
	uint32_t task;		/* in profile->tasks */
	uint32_t kernel;	/* which stack `ip` is; INDEX_NONE: there is none */
	const uint64_t *ip;	/* kernel addresses, leaf first */
	size_t depth;
	uint32_t frame;		/* of user code, in profile->frames, if it is
				   known; else INDEX_NONE */
	const char *note;	/* why there is no kernel stack, or NULL */
	uint64_t samples;
};
typedef void profile_glance_fn(void *context,
			       const struct profile_glance *glance);
void profile_glance(const struct profile *profile, profile_glance_fn *each,
		    void *context);

struct kernel_names;
struct kernel_names *profile_kernel_names(struct profile *profile);

/*
 * Names the kernel's frames and makes the lists above.  Once, at the end.
 */
void profile_name(struct profile *profile);

/* What `before` is of a total as large as the new one: rounded. */
uint64_t profile_scaled(const struct profile *profile, uint64_t before);

/* Takes NULL. */
void profile_free(struct profile *profile);

#endif
