/* SPDX-License-Identifier: MIT */
/*
 * unwind: keeps the walker in the kernel supplied.
 *
 *	tick in a process that the walker does not know
 *	   └─> copy of the stack ──> ring ──> walked here, is a sample
 *	                                └──> its mappings and tables to the kernel
 *	next tick there: walked in the kernel
 *
 * So only processes that get samples cost anything, and the first sample of each
 * is as good as the others.  A process is written to the kernel after its second
 * copy, or after its first if it has lived for some time: most that are met when
 * they are young are met only once.
 *
 * A process's mappings are written as one run of the map `mappings`, and then
 * `spaces` says where that is, in one update: the walker sees the old run or
 * the new one.  Runs are given out one after the other.  When there is no room
 * for one, all are forgotten, and come back as they are needed.
 *
 * When something is mapped, the run is written anew.  Until then the walker
 * finds no mapping for that code, and sends a copy.  When a process begins
 * another program, it is taken off the map: what is left of the old one would
 * only be wrong.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "proc/ranges.h"
#include "sys/bpf.h"
#include "sys/ringbuf.h"
#include "sys/system.h"
#include "unwind/unwind.h"
#include "unwind/walk.h"

enum {
	PAGE = 4096,
	RING_LEAST = 256 * 1024,
	RING_MOST = 8 * 1024 * 1024,
	CHUNKS_LEAST = 512,	/* 4 MB */
	LIVES_ON = 5000000,	/* ns: so old, a process has more samples soon */
};

/* A process that the kernel knows. */
struct known {
	uint32_t tgid;
	bool there;		/* in `spaces` */
	bool wanted;		/* to be written (anew) */
	bool failing;		/* its copies do not reach the root, either */
	uint32_t copies;	/* of its stacks, so far */
	uint64_t empty;		/* when nothing was known of it, in ns; or 0 */
	uint64_t foreign;	/* when it was found that nobody asks for it, in
				   ns; 0: somebody does */
	char comm[COMM_SIZE];	/* of a sample of it */
	uint32_t tid;
};

struct unwind {
	struct unwind_world world;
	struct tables *tables;
	struct ringbuf ring;
	struct known *known;
	size_t count, capacity;
	struct index index;
	uint32_t used;		/* of the map `mappings` */
	bool doubtful;		/* events were lost */
	uint64_t keep, keep_until;	/* tables, in ns: how long, until when */
	const char *begin;	/* the name of the first walker */
	struct unwind_cost cost;

	samples_fn *add;
	void *context;
};

/* ---------------------------------------------------------------- opening */

static int set_walker(struct unwind *unwind, uint32_t slot, const char *program)
{
	int fd = loader_prog_fd(unwind->world.loader, program);

	return bpf_map_update_elem(loader_map_fd(unwind->world.loader,
						 "walkers"),
				   &slot, &fd, BPF_ANY);
}

/* The walker of the tables anew, with the larger map; for tables_new(). */
static int grow(void *context)
{
	struct unwind *unwind = context;
	struct loader *loader = unwind->world.loader;
	int error;

	loader_unload(loader, "walk_steps");
	error = loader_choose(loader, "walk_steps");
	if (!error)
		error = loader_load(loader);
	return error ? error : set_walker(unwind, WALKER_STEPS, "walk_steps");
}

static int load(struct unwind *unwind, const char *begin)
{
	static const char *const programs[] = {
		"walk_steps", "walk_copy", "walk_end",
	};
	struct loader *loader = unwind->world.loader;
	int error = loader_choose(loader, begin);

	for (size_t i = 0; !error && i < 3; i++)
		error = loader_choose(loader, programs[i]);
	if (!error)
		error = loader_load(loader);
	if (error)
		loader_unload(loader, begin);
	else
		unwind->begin = begin;
	return error;
}

/* Registers of tasks in the kernel can be had since 5.15, not everywhere. */
static int load_best(struct unwind *unwind)
{
	struct loader *loader = unwind->world.loader;
	int error;

	loader_silence(loader, true);
	error = load(unwind, "walk_begin");
	loader_silence(loader, !unwind->world.must);
	unwind->cost.kernel_mode = !error;
	if (error)
		error = load(unwind, "walk_begin_user");
	loader_silence(loader, false);
	return error;
}

/* The last one first: none may lead to an empty slot. */
static int set_walkers(struct unwind *unwind)
{
	int error = set_walker(unwind, WALKER_END, "walk_end");

	if (!error)
		error = set_walker(unwind, WALKER_COPY, "walk_copy");
	if (!error)
		error = set_walker(unwind, WALKER_STEPS, "walk_steps");
	return error ? error : set_walker(unwind, WALKER_BEGIN, unwind->begin);
}

/*
 * Room for the copies of half a second, of deep stacks an eighth, in which the
 * largest tables are made also on a busy machine; as a power of two.
 */
static uint32_t ring_bytes(uint64_t hz)
{
	uint64_t want = hz * COPY_USUAL / 2;
	uint32_t bytes = RING_LEAST;

	while (bytes < want && bytes < RING_MOST)
		bytes *= 2;
	return bytes;
}

struct unwind *unwind_open(const struct unwind_world *world, const char **why)
{
	uint64_t begin = system_cpu_time(), fixed;
	uint32_t ring = ring_bytes(world->hz), chunks;
	struct unwind *unwind;
	int error;

	fixed = sizeof(struct unwind_mappings) + sizeof(struct unwind_parts) +
		ring;
	chunks = world->memory < fixed ? 0 :
		 (uint32_t)((world->memory - fixed) /
			    sizeof(struct unwind_chunk));
	*why = "--memory is too small for its tables";
	if (chunks < CHUNKS_LEAST)
		return NULL;
	unwind = memory_new(1, sizeof(*unwind));
	unwind->world = *world;
	loader_resize(world->loader, "copies", ring, 0);
	error = load_best(unwind);
	*why = error ? system_strerror(error) : NULL;
	if (!error)
		error = ringbuf_open(&unwind->ring, unwind_fd(unwind), ring);
	if (!error)
		error = set_walkers(unwind);
	if (error) {
		*why = system_strerror(error);
		unwind_close(unwind);
		return NULL;
	}
	unwind->tables = tables_new(world->loader, world->files, chunks, grow,
				    unwind);
	unwind->cost.ns = system_cpu_time() - begin;
	return unwind;
}

/* ------------------------------------------------------------- processes */

static bool known_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return ((const struct known *)array)[position].tgid ==
	       *(const uint32_t *)wanted;
}

static struct known *find(struct unwind *unwind, uint32_t tgid)
{
	uint32_t position = index_find(&unwind->index,
				       index_hash(&tgid, sizeof(tgid)),
				       known_equal, unwind->known, &tgid);

	return position == INDEX_NONE ? NULL : &unwind->known[position];
}

static struct known *get(struct unwind *unwind, uint32_t tgid)
{
	struct known *known = find(unwind, tgid);

	if (known)
		return known;
	unwind->known = memory_grow(unwind->known, &unwind->capacity,
				    unwind->count + 1, sizeof(*known));
	known = &unwind->known[unwind->count];
	*known = (struct known){ .tgid = tgid };
	index_add(&unwind->index, index_hash(&tgid, sizeof(tgid)),
		  (uint32_t)unwind->count);
	unwind->count++;
	return known;
}

static void take_off(struct unwind *unwind, struct known *known)
{
	if (known->there)
		bpf_map_delete_elem(loader_map_fd(unwind->world.loader,
						  "spaces"), &known->tgid);
	known->there = known->wanted = known->failing = false;
	known->foreign = known->empty = 0;
	known->copies = 0;
}

/*
 * All processes.  A walker that is in the midst of a run may still read it, so
 * it is waited for before others are written there.
 */
static void forget_all(struct unwind *unwind)
{
	for (size_t i = 0; i < unwind->count; i++)
		take_off(unwind, &unwind->known[i]);
	unwind->count = 0;
	index_clear(&unwind->index);
	unwind->used = 0;
	unwind->doubtful = false;
	unwind->cost.resets++;
	system_membarrier();
}

void unwind_event(struct unwind *unwind, const struct side_event *event)
{
	struct known *known = find(unwind, event->pid);

	/* Whatever the kernel knows may be of a program that is gone. */
	if (event->kind == SIDE_LOST)
		unwind->doubtful = true;
	if (!known)
		return;
	if (event->kind == SIDE_EXEC ||
	    (event->kind == SIDE_EXIT && event->tid == event->pid))
		take_off(unwind, known);
	else if (event->kind == SIDE_MAP && known->there)
		known->wanted = true;
}

/* One mapping of a run; without a table it is walked by frame pointers. */
static struct unwind_mapping mapping_of(struct unwind *unwind,
					const struct known *known,
					const struct range *range)
{
	struct file_user user = {
		.tgid = known->tgid, .tid = known->tid,
		.start = range->start, .end = range->end,
	};
	struct unwind_mapping mapping = {
		.start = range->start, .end = range->end,
	};
	const struct table *table = tables_get(unwind->tables, range->file,
					       &user);
	uint64_t bias;

	if (table && table->parts &&
	    table_bias(table, range->start, range->offset, &bias)) {
		mapping.bias = bias;
		mapping.part = table->part;
		mapping.parts = table->parts;
	}
	return mapping;
}

/* The mappings of a process, sorted; NULL if they are too many. */
static struct unwind_mapping *
collect(struct unwind *unwind, const struct known *known, size_t *count)
{
	uint64_t now = system_now();
	struct space_view view = spaces_view(
		unwind->world.spaces, &(struct space_moment){
			.tgid = known->tgid, .tid = known->tid,
			.comm = known->comm, .first = now, .last = now,
		});
	struct unwind_mapping *run = NULL;
	struct range range = { 0 };
	size_t capacity = 0;

	*count = 0;
	while (spaces_next(unwind->world.spaces, &view, range.end, &range)) {
		/* [vsyscall] is the kernel's: the walker's search counts on
		 * addresses below. */
		if (range.start >> 63)
			break;
		if (*count == MAPPINGS_OF_SPACE) {
			free(run);
			*count = 0;
			return NULL;
		}
		run = memory_grow(run, &capacity, *count + 1, sizeof(*run));
		run[(*count)++] = mapping_of(unwind, known, &range);
	}
	return run;
}

static int write_run(struct unwind *unwind, const struct unwind_mapping *run,
		     size_t count)
{
	size_t from = unwind->used * sizeof(*run);
	size_t first = from / PAGE * PAGE;
	size_t bytes = (from + count * sizeof(*run) - first + PAGE - 1) /
		       PAGE * PAGE;
	char *data = array_map(loader_map_fd(unwind->world.loader, "mappings"),
			       first, bytes);

	if (!data || !run)
		return -ENOMEM;
	memcpy(data + (from - first), run, count * sizeof(*run));
	array_unmap(data, bytes);
	return 0;
}

/* False if there is no room for it. */
static bool write_space(struct unwind *unwind, struct known *known)
{
	struct unwind_space space = { .first = unwind->used };
	struct unwind_mapping *run;
	size_t count = 0;
	int error = 0;

	known->wanted = false;
	run = known->foreign ? NULL : collect(unwind, known, &count);
	if (unwind->used + count > MAPPINGS_MOST) {
		free(run);
		return false;
	}
	/* None are known: by frame pointers, without copies. */
	if (count)
		error = write_run(unwind, run, count);
	free(run);
	space.count = error ? 0 : (uint32_t)count;
	space.flags = known->failing ? SPACE_NO_COPY : 0;
	if (bpf_map_update_elem(loader_map_fd(unwind->world.loader, "spaces"),
				&known->tgid, &space, BPF_ANY))
		return false;
	unwind->used += space.count;
	known->there = true;
	known->empty = space.count || known->foreign ? 0 : system_now();
	unwind->cost.spaces++;
	return true;
}

/* A process that was nobody's may have become a target's, or gone. */
#define FOREIGN_FOR 5000000000ull
/* Tables are kept for so long at least when there is no room for others. */
#define KEEP_FOR 1000000000ull
#define KEEP_MOST (64 * KEEP_FOR)
/* One of which nothing was known may be known by now. */
#define EMPTY_FOR 1000000000ull

static void write_wanted(struct unwind *unwind)
{
	uint64_t now = system_now();

	for (size_t i = 0; i < unwind->count; i++) {
		struct known *known = &unwind->known[i];

		if ((known->foreign && now - known->foreign > FOREIGN_FOR) ||
		    (known->empty && now - known->empty > EMPTY_FOR))
			take_off(unwind, known);
		if (known->wanted && !write_space(unwind, known)) {
			forget_all(unwind);
			return;
		}
	}
}

/* --------------------------------------------------------------- copies */

/*
 * Walks the copy of the sample: `user` has room for the frames.  Whether its
 * process will probably have more.
 */
static bool walk(struct unwind *unwind, const struct copied *copy,
		 struct sample *sample, uint64_t user[STACK_DEPTH])
{
	struct walk_world world = { unwind->world.spaces, unwind->tables };
	struct space_view view = spaces_view(
		unwind->world.spaces, &(struct space_moment){
			.tgid = sample->key.tgid, .tid = sample->key.tid,
			.comm = sample->key.comm,
			.first = sample->count.first,
			.last = sample->count.last,
			.in_kernel = sample->key.kernel != STACK_NONE,
		});
	uint64_t born;

	sample->user_depth = walk_copy(&world, &view, copy, user);
	sample->user = user;
	sample->key.user = STACK_FIRST;
	return spaces_born(unwind->world.spaces, &view, &born) &&
	       sample->count.last > born + LIVES_ON;
}

/* What a copy tells of its process. */
static void learn(struct unwind *unwind, const struct sample *sample,
		  bool lives, bool foreign)
{
	struct known *known = get(unwind, sample->key.tgid);
	uint64_t last = foreign ? 0 : sample->user[sample->user_depth - 1];
	bool failed = last == WALK_NO_MAPPING || last == WALK_NO_ROW;

	/* Written already, and still it fails: more copies are no help. */
	if (failed && known->there)
		known->failing = true;
	if (!failed)
		known->failing = false;
	known->foreign = foreign ? system_now() : 0;
	known->tid = sample->key.tid;
	memcpy(known->comm, sample->key.comm, sizeof(known->comm));
	known->copies++;
	/* The many that live for one tick only are not worth it. */
	if ((known->copies > 1 || lives) && (!known->there || failed))
		known->wanted = true;
}

/* A ringbuf_fn. */
static void take_copy(void *context, const void *data, size_t size)
{
	struct unwind *unwind = context;
	const struct copied *copy = data;
	struct sample sample = { .key = copy->key, .count = copy->count };
	uint64_t user[STACK_DEPTH];
	bool foreign, lives;

	/* The kernel's, so it is right: its last byte is in the record. */
	if (size < offsetof(struct copied, stack) ||
	    (copy->start.sp & (COPY_PAGE - 1)) + copy->bytes >
	    size - offsetof(struct copied, stack))
		return;
	unwind->cost.copies++;
	sample.key.comm[COMM_SIZE - 1] = '\0';
	if (sample.key.kernel >= STACK_FIRST) {
		sample.kernel = (const uint64_t *)copy->kernel;
		sample.kernel_depth = copy->kernel_depth < STACK_DEPTH ?
				      copy->kernel_depth : STACK_DEPTH;
	}
	sample.key.user = STACK_NONE;
	foreign = unwind->world.wanted &&
		  !unwind->world.wanted(unwind->world.context, &sample);
	lives = !foreign && walk(unwind, copy, &sample, user);
	learn(unwind, &sample, lives, foreign);
	unwind->add(unwind->context, &sample);
}

int unwind_fd(const struct unwind *unwind)
{
	return loader_map_fd(unwind->world.loader, "copies");
}

/* What is in the way of new tables may be of programs that ended long ago. */
static void make_room(struct unwind *unwind)
{
	uint64_t now = system_now();

	if (!tables_tight(unwind->tables) || now < unwind->keep_until)
		return;
	forget_all(unwind);
	tables_forget(unwind->tables);
	/* If that does not help it is not done again and again. */
	if (!unwind->keep || now - unwind->keep_until > KEEP_MOST)
		unwind->keep = KEEP_FOR;
	else if (unwind->keep < KEEP_MOST)
		unwind->keep *= 2;
	unwind->keep_until = now + unwind->keep;
}

void unwind_read(struct unwind *unwind, samples_fn *add, void *context)
{
	uint64_t begin = system_cpu_time();

	unwind->add = add;
	unwind->context = context;
	if (unwind->doubtful)
		forget_all(unwind);
	make_room(unwind);
	ringbuf_read(&unwind->ring, take_copy, unwind);
	write_wanted(unwind);
	tables_release(unwind->tables);
	unwind->cost.ns += system_cpu_time() - begin;
}

struct unwind_cost unwind_cost(const struct unwind *unwind)
{
	struct unwind_cost cost = unwind->cost;

	cost.tables = tables_cost(unwind->tables);
	cost.full = tables_full(unwind->tables);
	return cost;
}

void unwind_close(struct unwind *unwind)
{
	if (!unwind)
		return;
	ringbuf_close(&unwind->ring);
	tables_free(unwind->tables);
	free(unwind->known);
	index_free(&unwind->index);
	free(unwind);
}
