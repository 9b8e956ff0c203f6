/* SPDX-License-Identifier: MIT */
/*
 * samples: reads the maps that bpf_prog.c fills, while it fills them.
 *
 *	         live = 0                     live = 1
 *	tick ──> stacks0 counts0     tick ──> stacks1 counts1
 *	         stacks1 counts1 (empty)      stacks0 counts0 ──> drain
 *
 * A drain writes the other number to `live`.  A program that read the old
 * number may still be at work on another CPU, so the drain waits for it: an
 * update of a map of maps returns only when all programs that run now have
 * ended (synchronize_rcu in the kernel), and a private one is kept for just
 * that.  Then nobody writes to the old pair, and it is read and emptied.  No
 * sample is lost, and none is in one pair while its stack is in the other.
 *
 * The pair is read by BPF_MAP_LOOKUP_AND_DELETE_BATCH, one system call for
 * many elements, or where the kernel refuses that, as the textbook has it:
 * BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_ELEM, BPF_MAP_DELETE_ELEM.
 *
 * The kernel drops ticks that come while a map is changed by bpf(2) on the
 * same CPU.  Fewer and shorter drains drop less; what is dropped shows in the
 * balance as unaccounted, because no program ran that could have counted it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/random.h"
#include "samples.h"
#include "stackid.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/cpus.h"
#include "sys/explain.h"
#include "sys/system.h"

/* A map's elements are read this many at a time: 66 KB of stacks. */
enum { CHUNK = 64 };

struct stack_entry {
	uint64_t key;
	size_t from, depth;	/* in samples->ips */
};

struct samples {
	const struct loader *loader;
	enum engine engine;
	int live, tallies;	/* descriptors, the loader's */
	int stacks[2], counts[2];
	int barrier, inner;	/* descriptors, ours; barrier < 0: membarrier */
	uint32_t now;		/* what `live` holds; the other pair is quiet */
	uint64_t turned;	/* when: system_now() */
	bool batches;

	/* What a chunk is read into; grown when a bucket holds more. */
	struct chunk {
		void *keys, *values;
		uint32_t size;
		size_t key_size, value_size;
	} stack_chunk, count_chunk;

	/* The stacks of the pair that is being drained. */
	struct stack_entry *entries;
	size_t entry_count, entry_capacity;
	uint64_t *ips;
	size_t ip_count, ip_capacity;
	struct index index;

	samples_fn *add;	/* where its counts go */
	void *context;

	struct samples_cost cost;
};

/* ------------------------------------------------------------- the plan */

/*
 * A drain comes late when the CPUs are busy: the wait for running programs
 * took up to 150 ms there, and the profiler has to get a CPU first (run.c asks
 * for the highest priority).  Where memory is short, 0.3 s have to do.
 */
#define DRAIN_DELAY 2000000000ull

/* What one element costs in a preallocated hash map, its buckets included. */
enum {
	ELEMENT_OVERHEAD = 48 + 32,
	STACK_COST = ELEMENT_OVERHEAD + 8 + sizeof(struct stack),
	COUNT_COST = ELEMENT_OVERHEAD + sizeof(struct count_key) +
		     sizeof(struct count),
};

/* One tick adds at most one count and two stacks; there are two pairs. */
static uint64_t plan_bytes(uint64_t ticks)
{
	return 2 * ticks * (2 * STACK_COST + COUNT_COST);
}

struct samples_plan samples_plan(uint64_t hz, size_t cpus, uint64_t memory)
{
	static const struct {
		uint64_t interval, delay;
	} choices[] = {
		{ 1000000000, DRAIN_DELAY }, { 500000000, DRAIN_DELAY / 2 },
		{ 250000000, DRAIN_DELAY / 4 }, { 100000000, 300000000 },
	};
	struct samples_plan plan = { 0 };
	uint64_t ticks = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		plan.interval = choices[i].interval;
		plan.longest = plan.interval + choices[i].delay;
		/* Half as many again, as ticks do not come evenly. */
		ticks = hz * cpus * plan.longest / 1000000000 * 3 / 2 + 64;
		if (plan_bytes(ticks) <= memory)
			break;
	}
	if (plan_bytes(ticks) > memory) {
		ticks = memory / plan_bytes(1);
		if (ticks < 64)
			ticks = 64;
		plan.cut = true;
	}
	plan.counts = (uint32_t)ticks;
	plan.stacks = (uint32_t)ticks * 2;
	plan.bytes = plan_bytes(ticks);
	return plan;
}

void samples_explain(enum engine engine, const struct samples_plan *plan)
{
	if (engine == ENGINE_STACKID) {
		explain("engine stackid: one map holds stacks, each in the "
			"bucket of its hash; one counts");
		explain("    stackid_stacks  addresses; another stack with the "
			"same bucket is lost");
		explain("    stackid_counts  {process, thread, name, two "
			"stacks} -> how often");
	} else {
		explain("engine hash: two pairs of maps; one is filled while "
			"the other is emptied");
		explain("    stacks0/1  {64 bits of a hash} -> addresses; room "
			"for %u", plan->stacks);
		explain("    counts0/1  {task, name, time slot, two stacks} -> "
			"how often; room for %u", plan->counts);
		explain("    live       which pair is filled now");
		explain("    seeds      secret numbers of this run's hashes");
		explain("    walkers    programs that walk user stacks, once "
			"they are there");
		explain("    scratches  a tick's stacks, key and count: "
			"programs own but 512 bytes");
	}
	explain("    tallies    ticks and losses, counted on each CPU");
	explain("    scope      whose tasks are meant; cgroups: of which "
		"cgroup");
}

int samples_resize(struct loader *loader, const struct samples_plan *plan)
{
	if (loader_resize(loader, "stacks0", plan->stacks, 0) ||
	    loader_resize(loader, "stacks1", plan->stacks, 0) ||
	    loader_resize(loader, "counts0", plan->counts, 0) ||
	    loader_resize(loader, "counts1", plan->counts, 0))
		return -ENOENT;
	return 0;
}

/* -------------------------------------------------------------- opening */

static int say(const char *object, const char *what, int error)
{
	log_error("%s: %s: %s", object, what, system_strerror(error));
	return error;
}

/*
 * The private map of maps, and the map that is its one element.  Where it
 * cannot be had, membarrier(2) waits for the same.
 */
static int open_barrier(struct samples *samples)
{
	struct bpf_map_attr inner = {
		.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4,
		.max_entries = 1, .name = "inner",
	};
	struct bpf_map_attr outer = {
		.type = BPF_MAP_TYPE_ARRAY_OF_MAPS, .key_size = 4,
		.value_size = 4, .max_entries = 1, .name = "barrier",
	};
	int error;

	explain("two more maps, of which no program knows: to wait for "
		"programs that run");
	samples->inner = bpf_map_create(&inner);
	if (samples->inner >= 0) {
		outer.inner_map_fd = samples->inner;
		samples->barrier = bpf_map_create(&outer);
	}
	if (samples->barrier >= 0)
		return 0;
	error = system_membarrier();
	if (error)
		say("barrier", "neither a map of maps nor membarrier(2)",
		    error);
	return error;
}

/* What the program has to know of us. */
static int write_scope(const struct loader *loader, const struct scope *scope,
		       int cgroup_fd)
{
	uint32_t zero = 0;
	int error;

	explain("whose tasks are meant: %s; numbers are those of %s PID "
		"namespace", scope->cgroup ? "also one cgroup's" :
		"no cgroup's", scope->namespace_inode ? "our own" :
		"the first");
	error = bpf_map_update_elem(loader_map_fd(loader, "scope"), &zero,
				    scope, BPF_ANY);
	if (error)
		return say("scope", "bpf(BPF_MAP_UPDATE_ELEM)", error);
	if (cgroup_fd >= 0)
		error = bpf_map_update_elem(loader_map_fd(loader, "cgroups"),
					    &zero, &cgroup_fd, BPF_ANY);
	if (error) {
		say("--cgroup", "bpf(BPF_MAP_UPDATE_ELEM)", error);
		log_advice("it has to be a directory of cgroup v2 (cgroup2 in "
			   "/proc/mounts)");
	}
	return error;
}

static int write_seeds(const struct loader *loader)
{
	struct seeds seeds;
	uint32_t zero = 0;
	int error;

	random_fill(&seeds, sizeof(seeds));
	for (size_t i = 0; i < 3; i++)
		seeds.multiply[i] |= 1;
	error = bpf_map_update_elem(loader_map_fd(loader, "seeds"), &zero,
				    &seeds, BPF_ANY);
	return error ? say("seeds", "bpf(BPF_MAP_UPDATE_ELEM)", error) : 0;
}

static void chunk_resize(struct chunk *chunk, uint32_t size)
{
	free(chunk->keys);
	free(chunk->values);
	chunk->size = size;
	chunk->keys = memory_new(size, chunk->key_size);
	chunk->values = memory_new(size, chunk->value_size);
}

const char *samples_program(enum engine engine)
{
	return engine == ENGINE_HASH ? "profile_hash" : "profile_stackid";
}

struct samples *samples_open(const struct loader *loader, enum engine engine,
			     bool batches, const struct scope *scope,
			     int cgroup_fd)
{
	struct samples *samples = memory_new(1, sizeof(*samples));

	samples->loader = loader;
	samples->engine = engine;
	samples->barrier = samples->inner = -1;
	samples->batches = batches && engine == ENGINE_HASH;
	samples->live = loader_map_fd(loader, "live");
	samples->tallies = loader_map_fd(loader, "tallies");
	samples->stacks[0] = loader_map_fd(loader, "stacks0");
	samples->stacks[1] = loader_map_fd(loader, "stacks1");
	samples->counts[0] = loader_map_fd(loader, "counts0");
	samples->counts[1] = loader_map_fd(loader, "counts1");
	samples->stack_chunk.key_size = sizeof(uint64_t);
	samples->stack_chunk.value_size = sizeof(struct stack);
	samples->count_chunk.key_size = sizeof(struct count_key);
	samples->count_chunk.value_size = sizeof(struct count);
	/* Both sides were compiled from bpf_prog.h; was it the same one? */
	if (loader_value_size(loader, "stacks0") != sizeof(struct stack) ||
	    loader_key_size(loader, "counts0") != sizeof(struct count_key) ||
	    loader_value_size(loader, "counts0") != sizeof(struct count) ||
	    loader_value_size(loader, "tallies") != sizeof(struct tally)) {
		log_error("bpf_prog.o: maps: not of this version");
		goto fail;
	}
	if (write_scope(loader, scope, cgroup_fd))
		goto fail;
	if (engine == ENGINE_STACKID)
		return samples;
	if (write_seeds(loader) || open_barrier(samples))
		goto fail;
	chunk_resize(&samples->stack_chunk, CHUNK);
	chunk_resize(&samples->count_chunk, CHUNK);
	return samples;
fail:
	samples_close(samples);
	return NULL;
}

/* ------------------------------------------------------- reading one map */

typedef void element_fn(struct samples *samples, const void *key,
			const void *value);

static void each_of_chunk(struct samples *samples, const struct chunk *chunk,
			  uint32_t count, element_fn *each)
{
	for (uint32_t i = 0; i < count; i++)
		each(samples, (char *)chunk->keys + i * chunk->key_size,
		     (char *)chunk->values + i * chunk->value_size);
	samples->cost.keys += count;
}

/* All of a quiet map; -errno if the kernel has no batches for it. */
static int empty_by_batches(struct samples *samples, int fd,
			    struct chunk *chunk, element_fn *each)
{
	struct bpf_batch_token token = { 0 };
	bool first = true;

	for (;;) {
		uint32_t count = chunk->size;
		int error = bpf_map_lookup_and_delete_batch(
			fd, &token, first, chunk->keys, chunk->values, &count);

		each_of_chunk(samples, chunk, count, each);
		if (error == -ENOENT)
			return 0;
		if (error == -ENOSPC && count == 0) {
			/* One bucket holds more than a chunk.  What was
			 * read is gone from the map: begin again. */
			chunk_resize(chunk, chunk->size * 2);
			first = true;
			continue;
		}
		if (error && error != -ENOSPC)
			return error;
		first = false;
	}
}

/* The same, key by key. */
static int empty_by_keys(struct samples *samples, int fd, struct chunk *chunk,
			 element_fn *each)
{
	char *key = chunk->keys, *next = key + chunk->key_size;
	int error = bpf_map_get_next_key(fd, NULL, key);

	while (!error) {
		/* The next key first: the kernel finds it by this one. */
		int more = bpf_map_get_next_key(fd, key, next);

		error = bpf_map_lookup_elem(fd, key, chunk->values);
		if (!error)
			error = bpf_map_delete_elem(fd, key);
		if (error)
			break;
		each_of_chunk(samples, chunk, 1, each);
		memcpy(key, next, chunk->key_size);
		error = more;
	}
	return error == -ENOENT ? 0 : error;
}

static int empty_map(struct samples *samples, int fd, struct chunk *chunk,
		     element_fn *each)
{
	int error;

	if (samples->batches) {
		error = empty_by_batches(samples, fd, chunk, each);
		if (!error)
			return 0;
		/* Whatever is left in the map the other way will find. */
		samples->batches = false;
		log_detail("drain: no batches: %s", system_strerror(error));
	}
	error = empty_by_keys(samples, fd, chunk, each);
	return error ? say("drain", "bpf(2), key by key", error) : 0;
}

/* ---------------------------------------------------------------- drain */

static bool entry_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return ((const struct stack_entry *)array)[position].key ==
	       *(const __u64 *)wanted;
}

static void keep_stack(struct samples *samples, const void *key,
		       const void *value)
{
	const struct stack *stack = value;
	struct stack_entry entry = { .from = samples->ip_count };

	memcpy(&entry.key, key, sizeof(entry.key));
	entry.depth = stack->depth < STACK_DEPTH ? stack->depth : STACK_DEPTH;
	samples->ips = memory_grow(samples->ips, &samples->ip_capacity,
				   samples->ip_count + entry.depth,
				   sizeof(*samples->ips));
	memcpy(samples->ips + samples->ip_count, stack->ip,
	       entry.depth * sizeof(*samples->ips));
	samples->ip_count += entry.depth;
	samples->entries = memory_grow(samples->entries,
				       &samples->entry_capacity,
				       samples->entry_count + 1,
				       sizeof(entry));
	samples->entries[samples->entry_count] = entry;
	/* The key is a good hash already. */
	index_add(&samples->index, entry.key, (uint32_t)samples->entry_count);
	samples->entry_count++;
}

static const uint64_t *find_stack(struct samples *samples, __u64 *key,
				  size_t *depth)
{
	uint32_t position;

	*depth = 0;
	if (*key < STACK_FIRST)
		return NULL;
	position = index_find(&samples->index, *key, entry_equal,
			      samples->entries, key);
	if (position == INDEX_NONE) {
		/* Cannot be: stack and count are in the same pair. */
		samples->cost.dangling++;
		*key = STACK_LOST;
		return NULL;
	}
	*depth = samples->entries[position].depth;
	return samples->ips + samples->entries[position].from;
}

static void give_count(struct samples *samples, const void *key,
		       const void *value)
{
	struct sample sample;

	memcpy(&sample.key, key, sizeof(sample.key));
	memcpy(&sample.count, value, sizeof(sample.count));
	/* The kernel ends it; a name of full length from elsewhere might not. */
	sample.key.comm[COMM_SIZE - 1] = '\0';
	sample.kernel = find_stack(samples, &sample.key.kernel,
				   &sample.kernel_depth);
	sample.user = find_stack(samples, &sample.key.user,
				 &sample.user_depth);
	samples->cost.samples += sample.count.samples;
	samples->add(samples->context, &sample);
}

/* After this no program uses the pair `samples->now ^ 1`. */
int samples_turn(struct samples *samples)
{
	uint32_t zero = 0, next = samples->now ^ 1;
	uint64_t begin = system_now(), waited;
	int error;

	if (samples->engine == ENGINE_STACKID)
		return 0;
	explain("drain %" PRIu64 ": from now on programs fill pair %u",
		samples->cost.drains + 1, next);
	error = bpf_map_update_elem(samples->live, &zero, &next, BPF_ANY);
	if (error)
		return say("live", "bpf(BPF_MAP_UPDATE_ELEM)", error);
	samples->now = next;
	if (samples->turned && begin - samples->turned > samples->cost.longest)
		samples->cost.longest = begin - samples->turned;
	samples->turned = begin;
	if (samples->barrier >= 0)
		error = bpf_map_update_elem(samples->barrier, &zero,
					    &samples->inner, BPF_ANY);
	else
		error = system_membarrier();
	if (error)
		return say("barrier", "waiting for running programs", error);
	waited = system_now() - begin;
	samples->cost.wait_ns += waited;
	if (waited > samples->cost.wait_most)
		samples->cost.wait_most = waited;
	explain("waited %.3f ms: no program uses pair %u any more",
		(double)waited / 1e6, next ^ 1);
	return 0;
}

int samples_read(struct samples *samples, samples_fn *add, void *context)
{
	uint32_t quiet = samples->now ^ 1;
	uint64_t begin = system_cpu_time(), keys = samples->cost.keys, spent;
	int error;

	if (samples->engine == ENGINE_STACKID)
		return 0;
	explain("pair %u: first its stacks, then the counts that name them",
		quiet);
	samples->add = add;
	samples->context = context;
	samples->entry_count = samples->ip_count = 0;
	index_clear(&samples->index);
	/* Stacks first: the counts name them. */
	error = empty_map(samples, samples->stacks[quiet],
			  &samples->stack_chunk, keep_stack);
	if (!error)
		error = empty_map(samples, samples->counts[quiet],
				  &samples->count_chunk, give_count);
	spent = system_cpu_time() - begin;
	samples->cost.read_ns += spent;
	samples->cost.drains++;
	keys = samples->cost.keys - keys;
	explain("drain %" PRIu64 ": %" PRIu64 " keys (%zu stacks, %" PRIu64
		" counts) in %.3f ms of CPU time", samples->cost.drains, keys,
		samples->entry_count, keys - samples->entry_count,
		(double)spent / 1e6);
	return error;
}

int samples_end(struct samples *samples, samples_fn *add,
		void (*between)(void *context), void *context)
{
	int error = 0;

	if (samples->engine == ENGINE_STACKID) {
		if (between)
			between(context);
		return stackid_read(samples->loader, add, context,
				    &samples->cost);
	}
	/*
	 * All that is left is in the live pair.  The other one was emptied when
	 * it became quiet, so the second drain finds nothing, unless a caller
	 * ends after a drain that failed midway (run.c does not).  It is read
	 * all the same: three calls, and nobody has to prove that.
	 */
	for (int pair = 0; !error && pair < 2; pair++) {
		error = samples_turn(samples);
		if (!error && between)
			between(context);
		if (!error)
			error = samples_read(samples, add, context);
	}
	return error;
}

/* --------------------------------------------------------------- tally */

int samples_tally(const struct samples *samples, struct tally *sum,
		  uint64_t *ticks, size_t count)
{
	/*
	 * The kernel writes a value for each CPU that could ever be there.  How
	 * many that are is written in /sys, if that is mounted; so there is
	 * room for all that Linux can have, of which few pages are touched.
	 */
	struct tally *each = memory_new(CPUS_MOST, sizeof(*each));
	uint32_t zero = 0;
	int error = bpf_map_lookup_elem(samples->tallies, &zero, each);

	memset(sum, 0, sizeof(*sum));
	for (size_t cpu = 0; !error && cpu < CPUS_MOST; cpu++) {
		/*
		 * The i-th value is of the i-th CPU that is possible.  These
		 * have no gaps on any machine met so far, so it is CPU i.
		 */
		for (size_t i = 0; i < TALLY_SIZE; i++)
			sum->n[i] += each[cpu].n[i];
		if (cpu < count)
			ticks[cpu] = each[cpu].n[TALLY_TICKS];
	}
	free(each);
	return error ? say("tallies", "bpf(BPF_MAP_LOOKUP_ELEM)", error) : 0;
}

const char *samples_tally_text(enum engine engine, enum tally_index index)
{
	static const char *const texts[TALLY_SIZE] = {
		[TALLY_COUNT_FULL] = "samples: the map of counts was full",
		[TALLY_COUNT_BUSY] = "samples: the map of counts was locked",
		[TALLY_COUNT_FAILED] = "samples: the map of counts refused",
		[TALLY_STACK_FULL] = "stacks: the map of stacks was full",
		[TALLY_STACK_BUSY] = "stacks: the map of stacks was locked",
		[TALLY_STACK_FAILED] = "stacks: the map of stacks refused",
		[TALLY_STACK_COLLIDED] = "stacks: another has the same hash",
		[TALLY_KERNEL_ERROR] = "kernel stacks: bpf_get_stack failed",
		[TALLY_USER_ERROR] = "user stacks: bpf_get_stack failed",
		[TALLY_NO_STACK] = "samples with neither stack",
		[TALLY_RING_FULL] = "user stacks: no room for a copy",
	};

	if (engine == ENGINE_STACKID && index == TALLY_STACK_COLLIDED)
		return "stacks: another has the same bucket";
	return texts[index];
}

struct samples_cost samples_cost(const struct samples *samples)
{
	struct samples_cost cost = samples->cost;

	cost.batches = samples->batches;
	return cost;
}

void samples_close(struct samples *samples)
{
	if (!samples)
		return;
	if (samples->barrier >= 0)
		close(samples->barrier);
	if (samples->inner >= 0)
		close(samples->inner);
	free(samples->stack_chunk.keys);
	free(samples->stack_chunk.values);
	free(samples->count_chunk.keys);
	free(samples->count_chunk.values);
	free(samples->entries);
	free(samples->ips);
	index_free(&samples->index);
	free(samples);
}
