/* SPDX-License-Identifier: MIT */
/*
 * stress OBJECT SAMPLES PAUSE_US [keys] [entries=N] [depth=N] [exact]
 * [victim=FILE] [stackid] [some]: proves
 * that a drain loses nothing and mixes nothing up.
 *
 * OBJECT is bpf_prog.c compiled for a tracepoint, so that each call of
 * getppid(2) by the children is a sample.  The maps are drained all the time,
 * PAUSE_US apart.  At the end:
 *
 *	samples drained            = what the program says it counted
 *	counted + lost by cause    = how often the program ran
 *	programs run               >= calls that the children made
 *	stacks named but not there = 0
 *	each drained stack hashes to the key under which it came
 *
 * With `some` not every call has to run the program: newer kernels can preempt
 * a task in the midst of a tracepoint, and their guard against recursion drops
 * the next one's on that CPU.
 * `keys` drains key by key instead of in batches; `exact` wants no loss at all.
 * Prints one line of numbers; exit status 0 if all of the above holds.
 */
#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/lanes.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "loader.h"
#include "samples.h"
#include "sys/bpf.h"
#include "sys/perf.h"
#include "sys/system.h"

enum { CHILDREN = 2 };

struct seen {
	struct seeds seeds;
	uint64_t samples, elements, wrong_hash, distinct;
	struct index stacks;
	uint64_t *keys;
	size_t key_capacity;
};

static bool key_equal(const void *array, uint32_t position, const void *wanted)
{
	return ((const uint64_t *)array)[position] ==
	       *(const uint64_t *)wanted;
}

static void check_stack(struct seen *seen, const uint64_t *ip, size_t depth,
			uint64_t key, uint64_t kind)
{
	uint64_t words[STACK_WORDS] = { 0 };
	struct lanes lanes;

	memcpy(words, ip, depth * sizeof(*ip));
	lanes_start(&lanes, &seen->seeds, kind | depth);
	for (size_t i = 0; i < (depth + 7) / 8 * 8; i++)
		lanes_add(&lanes, &seen->seeds, words[i]);
	seen->wrong_hash += lanes_end(lanes.a) != key;
	if (index_find(&seen->stacks, key, key_equal, seen->keys, &key) !=
	    INDEX_NONE)
		return;
	seen->keys = memory_grow(seen->keys, &seen->key_capacity,
				 seen->distinct + 1, sizeof(*seen->keys));
	seen->keys[seen->distinct] = key;
	index_add(&seen->stacks, key, (uint32_t)seen->distinct++);
}

static void add(void *context, const struct sample *sample)
{
	struct seen *seen = context;

	seen->samples += sample->count.samples;
	seen->elements++;
	if (!seen->seeds.start)
		return;	/* stackid has no hashes of ours */
	if (sample->user)
		check_stack(seen, sample->user, sample->user_depth,
			    sample->key.user, 0x200);
	if (sample->kernel)
		check_stack(seen, sample->kernel, sample->kernel_depth,
			    sample->key.kernel, 0x100);
}

static int drain(struct samples *samples, struct seen *seen)
{
	return samples_turn(samples) || samples_read(samples, add, seen);
}

/* Attaches to the tracepoint; on one CPU is enough for it to fire on all. */
static int attach(int prog_fd)
{
	struct perf_event_attr attr;
	char text[32];
	uint64_t id;
	int fd, error;

	if (file_read_text("/sys/kernel/tracing/events/syscalls/"
			   "sys_enter_getppid/id", text, sizeof(text)) ||
	    !text_number(text, 10, 0, UINT32_MAX, &id))
		return -ENOENT;
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.sample_period = 1;
	fd = perf_event_open(&attr, -1, 0, -1, 0);
	if (fd < 0)
		return fd;
	error = perf_event_set_bpf(fd, prog_fd);
	if (!error)
		error = perf_event_enable(fd);
	return error ? error : fd;
}

static pid_t start_child(const char *victim, uint64_t calls, const char *depth)
{
	char count[32];
	pid_t pid;

	snprintf(count, sizeof(count), "%" PRIu64, calls);
	pid = fork();
	if (pid)
		return pid;
	execl(victim, "stacks", count, depth, (char *)NULL);
	_exit(127);
}

static const char *argument(char **argv, const char *name)
{
	for (size_t length = strlen(name); *argv; argv++)
		if (!strncmp(*argv, name, length))
			return *argv + length;
	return NULL;
}

static struct bytes read_object(const char *path)
{
	struct bytes bytes = { 0 };
	FILE *file = fopen(path, "rb");
	uint8_t *data = memory_new(1 << 20, 1);

	if (file) {
		bytes.size = fread(data, 1, 1 << 20, file);
		fclose(file);
	}
	bytes.data = data;
	return bytes;
}

int main(int argc, char **argv)
{
	uint64_t calls, pause, lost, begin;
	const char *depth = "12", *victim = "build/test/stacks";
	struct samples_plan plan = { .counts = 262144, .stacks = 32768 };
	struct seen seen = { 0 };
	struct samples_cost cost;
	struct loader *loader;
	struct samples *samples;
	struct tally tally;
	uint32_t zero = 0;
	int event, children = 0, failed = 0;
	enum engine engine = argument(argv, "stackid") ? ENGINE_STACKID :
			     ENGINE_HASH;

	if (argc < 4 || !text_number(argv[2], 10, 1, UINT32_MAX, &calls) ||
	    !text_number(argv[3], 10, 0, 10000000, &pause))
		return 2;
	if (argument(argv, "depth="))
		depth = argument(argv, "depth=");
	if (argument(argv, "victim="))
		victim = argument(argv, "victim=");
	if (argument(argv, "entries="))
		plan.counts = plan.stacks = (uint32_t)
			strtoul(argument(argv, "entries="), NULL, 10);
	system_lift_memlock();
	loader = loader_open(read_object(argv[1]), argv[1]);
	if (!loader || samples_resize(loader, &plan) ||
	    loader_choose(loader, samples_program(engine)) || loader_load(loader))
		return 1;
	samples = samples_open(loader, engine, !argument(argv, "keys"),
			       &(struct scope){ 0 }, -1);
	event = samples ? attach(loader_prog_fd(loader, samples_program(engine))) : -1;
	if (event < 0) {
		log_error("tracepoint: attach: %s", system_strerror(event));
		return 1;
	}
	bpf_map_lookup_elem(loader_map_fd(loader, "seeds"), &zero,
			    &seen.seeds);
	begin = system_now();
	for (int i = 0; i < CHILDREN; i++)
		children += start_child(victim, calls / CHILDREN, depth) > 0;
	while (children) {
		if (pause)
			usleep((useconds_t)pause);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			children--;
		failed |= drain(samples, &seen);
	}
	/* Disabled it would go on: it is attached to the tracepoint of all CPUs. */
	close(event);
	failed |= samples_end(samples, add, NULL, &seen);
	failed |= samples_tally(samples, &tally, NULL, 0);
	cost = samples_cost(samples);
	lost = tally.n[TALLY_COUNT_FULL] + tally.n[TALLY_COUNT_BUSY] +
	       tally.n[TALLY_COUNT_FAILED];
	printf("calls %" PRIu64 " ran %" PRIu64 " counted %" PRIu64
	       " drained %" PRIu64 " lost %" PRIu64 " stack_full %" PRIu64
	       " collided %" PRIu64 " races %" PRIu64 " dangling %" PRIu64
	       " wrong_hash %" PRIu64 " distinct %" PRIu64 " drains %" PRIu64
	       " %s %.1f s\n", calls, (uint64_t)tally.n[TALLY_TICKS],
	       (uint64_t)tally.n[TALLY_COUNTED], seen.samples, lost,
	       (uint64_t)tally.n[TALLY_STACK_FULL],
	       (uint64_t)tally.n[TALLY_STACK_COLLIDED],
	       (uint64_t)tally.n[TALLY_RACES], cost.dangling, seen.wrong_hash,
	       seen.distinct, cost.drains, cost.batches ? "batches" : "keys",
	       (double)(system_now() - begin) / 1e9);
	if (seen.samples != tally.n[TALLY_COUNTED] ||
	    tally.n[TALLY_COUNTED] + lost != tally.n[TALLY_TICKS] ||
	    (!argument(argv, "some") &&
	     tally.n[TALLY_TICKS] < calls / CHILDREN * CHILDREN) ||
	    cost.dangling ||
	    (seen.wrong_hash && !tally.n[TALLY_STACK_COLLIDED]))
		failed = 1;
	if (argument(argv, "exact") &&
	    (lost || tally.n[TALLY_STACK_FULL] || tally.n[TALLY_STACK_COLLIDED]))
		failed = 1;
	samples_close(samples);
	loader_close(loader);
	index_free(&seen.stacks);
	free(seen.keys);
	return failed;
}
