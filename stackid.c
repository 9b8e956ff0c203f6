/* SPDX-License-Identifier: MIT */
/*
 * stackid: the textbook engine's maps, read as the textbook has it.
 *
 *	stackid_counts[{tgid, tid, comm, 17, 4711}] = 12
 *	                                │   └──> stackid_stacks[4711]: user stack
 *	                                └──────> stackid_stacks[17]: kernel stack
 *
 * GET_NEXT_KEY walks the counts, LOOKUP fetches each, and each stack by its
 * number.  The number of a stack is its bucket: where two stacks have the same
 * bucket, the second got -EEXIST instead of a number, and is lost.  That is why
 * this engine is not the default.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/log.h"
#include "stackid.h"
#include "sys/bpf.h"
#include "sys/explain.h"
#include "sys/system.h"

/* What a number means in the words of the other engine. */
static uint64_t word_of(int64_t number)
{
	if (number >= 0)
		return STACK_FIRST;
	if (number == -EFAULT)
		return STACK_NONE;
	return number == -EEXIST ? STACK_COLLIDED : STACK_FAILED;
}

/* The stack of this number to ip[]; its depth, or 0 where there is none. */
static size_t read_stack(int map, int64_t number, uint64_t ip[STACK_DEPTH])
{
	uint32_t key = (uint32_t)number;
	size_t depth = 0;

	memset(ip, 0, STACK_DEPTH * sizeof(*ip));
	if (number < 0 || bpf_map_lookup_elem(map, &key, ip))
		return 0;
	while (depth < STACK_DEPTH && ip[depth])
		depth++;
	return depth;
}

/* A stack that has a number, but is not there, is lost. */
static void check_stack(const uint64_t **ip, size_t depth, __u64 *word,
			struct samples_cost *cost)
{
	if (depth)
		return;
	*ip = NULL;
	if (*word < STACK_FIRST)
		return;
	*word = STACK_LOST;
	cost->dangling++;
}

int stackid_read(const struct loader *loader, samples_fn *add, void *context,
		 struct samples_cost *cost)
{
	int counts = loader_map_fd(loader, "stackid_counts");
	int stacks = loader_map_fd(loader, "stackid_stacks");
	uint64_t kernel[STACK_DEPTH], user[STACK_DEPTH];
	uint64_t now = system_now(), begin = system_cpu_time(), spent;
	struct stackid_key key, next;
	int error = bpf_map_get_next_key(counts, NULL, &next);

	while (!error) {
		struct sample sample = { .kernel = kernel, .user = user };

		key = next;
		error = bpf_map_lookup_elem(counts, &key,
					    &sample.count.samples);
		if (error)
			break;
		/* There is no time in these keys. */
		sample.key.tgid = key.tgid;
		sample.key.tid = key.tid;
		sample.key.flags = key.flags;
		sample.count.first = sample.count.last = now;
		memcpy(sample.key.comm, key.comm, COMM_SIZE - 1);
		sample.key.kernel = word_of(key.kernel);
		sample.key.user = word_of(key.user);
		sample.kernel_depth = read_stack(stacks, key.kernel, kernel);
		sample.user_depth = read_stack(stacks, key.user, user);
		check_stack(&sample.kernel, sample.kernel_depth,
			    &sample.key.kernel, cost);
		check_stack(&sample.user, sample.user_depth, &sample.key.user,
			    cost);
		cost->samples += sample.count.samples;
		cost->keys++;
		add(context, &sample);
		error = bpf_map_get_next_key(counts, &key, &next);
	}
	spent = system_cpu_time() - begin;
	cost->read_ns += spent;
	cost->drains++;
	explain("drain %" PRIu64 ": %" PRIu64 " keys (all counts) in %.3f ms "
		"of CPU time", cost->drains, cost->keys, (double)spent / 1e6);
	if (error == -ENOENT)
		return 0;
	log_error("stackid_counts: bpf(2): reading: %s",
		  system_strerror(error));
	return error;
}
