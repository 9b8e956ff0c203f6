/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf_prog.h"
#include "loader.h"

/* How large the maps are and how often they are emptied. */
struct samples_plan {
	uint32_t stacks, counts;	/* entries of each map */
	uint64_t interval;		/* ns between two drains, as wished */
	uint64_t longest;		/* ... and as the maps can hold */
	uint64_t bytes;			/* kernel memory of all, about */
	bool cut;			/* memory was too little: can overflow */
};

/*
 * Maps that `hz` ticks a second on `cpus` CPUs cannot overflow between two
 * drains, within `memory` bytes if that can be.
 */
struct samples_plan samples_plan(uint64_t hz, size_t cpus, uint64_t memory);

/* Applies the plan to a loaded object's maps, before loader_load(). */
int samples_resize(struct loader *loader, const struct samples_plan *plan);

/*
 * Samples that share task, time slot and stacks.  Stacks are leaf first, and
 * NULL where key.kernel or key.user is below STACK_FIRST.
 */
struct sample {
	struct count_key key;
	struct count count;
	const uint64_t *kernel, *user;
	size_t kernel_depth, user_depth;
};

typedef void samples_fn(void *context, const struct sample *sample);

struct samples;

/* Which program of the object takes the samples. */
enum engine { ENGINE_HASH, ENGINE_STACKID };

/* Tells (--explain) which maps an engine has, and what each is for. */
void samples_explain(enum engine engine, const struct samples_plan *plan);

/* Its name. */
const char *samples_program(enum engine engine);

/*
 * Prepares the maps of a loaded object: seeds, barrier, buffers.  The loader
 * stays the owner of the maps and has to outlive the result.  NULL after a
 * message.  `batches`: use the kernel's batch commands where it has them.
 * `cgroup_fd`: a directory of cgroup v2 that scope->cgroup is about, or -1.
 */
struct samples *samples_open(const struct loader *loader, enum engine engine,
			     bool batches, const struct scope *scope,
			     int cgroup_fd);

/*
 * A drain in two steps.  First the pairs are turned: the samples up to now are
 * in the quiet one.  Then that one is emptied, and each of its elements given
 * to `add`, during whose call it is valid.  0 or -errno after a message.
 *
 * With ENGINE_STACKID nothing happens but in samples_end().
 */
int samples_turn(struct samples *samples);
int samples_read(struct samples *samples, samples_fn *add, void *context);

/*
 * After the clocks have stopped: all that is left.  `between` is called after
 * each turn (NULL: nothing is).
 */
int samples_end(struct samples *samples, samples_fn *add,
		void (*between)(void *context), void *context);

/*
 * The program's own counts: summed over all CPUs, and ticks[i] of each CPU
 * i < count (NULL, 0: not wanted).  0 or -errno after a message.
 */
int samples_tally(const struct samples *samples, struct tally *sum,
		  uint64_t *ticks, size_t count);

/* What a count means, for people; NULL for those that are no loss. */
const char *samples_tally_text(enum engine engine, enum tally_index index);

/* How it went: for -v and the benchmarks. */
struct samples_cost {
	uint64_t drains, keys;		/* keys: stacks and counts together */
	uint64_t wait_ns, wait_most;	/* for running programs */
	uint64_t read_ns;		/* CPU time, with what add() did */
	uint64_t longest;		/* between two drains */
	uint64_t samples;		/* that came out of the maps */
	uint64_t dangling;		/* stacks that a count named in vain */
	bool batches;			/* were used to the end */
};
struct samples_cost samples_cost(const struct samples *samples);

/* Takes NULL. */
void samples_close(struct samples *samples);

#endif
