/* SPDX-License-Identifier: MIT */
/* The drain, with maps that are only arrays: each sample once, none lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "samples.h"
#include "stackid.h"
#include "test/unit/fake_bpf.h"
#include "test/unit/unit.h"

static const struct scope scope = {
	.namespace_device = 4, .namespace_inode = 4026532000,
};

static struct loader *load(void)
{
	struct samples_plan plan = { .stacks = 4000, .counts = 2000 };
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!samples_resize(loader, &plan));
	CHECK(!loader_choose(loader, "profile_hash"));
	CHECK(!loader_load(loader));
	CHECK_U64(fake_map("stacks0")->attr.max_entries, 4000);
	CHECK_U64(fake_map("stacks1")->attr.max_entries, 4000);
	CHECK_U64(fake_map("counts0")->attr.max_entries, 2000);
	CHECK_U64(fake_map("counts1")->attr.max_entries, 2000);
	return loader;
}

static struct samples *open_samples(const struct loader *loader, bool batches)
{
	struct samples *samples = samples_open(loader, ENGINE_HASH, batches,
					       &scope, -1);

	CHECK(samples);
	return samples;
}

static unsigned int live(void)
{
	uint32_t zero = 0;

	return *(uint32_t *)fake_get(fake_map("live"), &zero);
}

/* What the BPF program does at a tick: into the pair that is live. */
static void put_stack(uint64_t key, uint64_t first_ip, uint64_t depth)
{
	struct stack stack = { .depth = depth };

	for (size_t i = 0; i < depth && i < STACK_WORDS; i++)
		stack.ip[i] = first_ip + i;
	fake_put(fake_map(live() & 1 ? "stacks1" : "stacks0"), &key, &stack);
}

static void put_count(uint32_t tid, uint64_t kernel, uint64_t user,
		      uint64_t samples)
{
	struct count_key key = {
		.tgid = tid, .tid = tid, .comm = "comm", .slot = tid,
		.kernel = kernel, .user = user,
	};
	struct count count = { samples, 10, 20 };

	fake_put(fake_map(live() & 1 ? "counts1" : "counts0"), &key, &count);
}

static struct {
	size_t calls;
	uint64_t samples;
	struct sample last;
	uint64_t kernel[STACK_WORDS], user[STACK_WORDS];
} seen;

static void take(void *context, const struct sample *sample)
{
	CHECK(context == &seen);
	CHECK(!sample->kernel == (sample->key.kernel < STACK_FIRST));
	CHECK(!sample->user == (sample->key.user < STACK_FIRST));
	CHECK(sample->kernel_depth <= STACK_DEPTH);
	CHECK(sample->user_depth <= STACK_DEPTH);
	CHECK(sample->kernel || !sample->kernel_depth);
	CHECK(sample->user || !sample->user_depth);
	seen.calls++;
	seen.samples += sample->count.samples;
	seen.last = *sample;
	if (sample->kernel)
		memcpy(seen.kernel, sample->kernel,
		       sample->kernel_depth * sizeof(*seen.kernel));
	if (sample->user)
		memcpy(seen.user, sample->user,
		       sample->user_depth * sizeof(*seen.user));
}

static void drain(struct samples *samples)
{
	memset(&seen, 0, sizeof(seen));
	CHECK(!samples_turn(samples));
	CHECK(!samples_read(samples, take, &seen));
}

static void close_all(struct samples *samples, struct loader *loader)
{
	samples_close(samples);
	loader_close(loader);
	fake_bpf_reset();
}

TEST(samples_one)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);

	put_stack(1000, 0xffffffff81000000, 3);
	put_stack(2000, 0x400000, 5);
	put_count(7, 1000, 2000, 42);
	drain(samples);
	CHECK_U64(seen.calls, 1);
	CHECK_U64(seen.last.count.samples, 42);
	CHECK_U64(seen.last.count.first, 10);
	CHECK_U64(seen.last.count.last, 20);
	CHECK_U64(seen.last.key.tid, 7);
	CHECK_U64(seen.last.key.slot, 7);
	CHECK_TEXT(seen.last.key.comm, "comm");
	CHECK_U64(seen.last.kernel_depth, 3);
	CHECK_U64(seen.kernel[0], 0xffffffff81000000);
	CHECK_U64(seen.kernel[2], 0xffffffff81000002);
	CHECK_U64(seen.last.user_depth, 5);
	CHECK_U64(seen.user[4], 0x400004);
	close_all(samples, loader);
	samples_close(NULL);
}

/* Each drain empties the pair that was live, and makes the other so. */
TEST(samples_pairs_turn)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);
	unsigned int before = live(), waits;

	for (uint32_t i = 1; i <= 6; i++) {
		put_stack(1000, 0xffffffff81000000 + i, 1);
		put_count(i, 1000, STACK_NONE, i);
		waits = fake_map("barrier")->updates;
		drain(samples);
		CHECK(live() != before);
		before = live();
		/* It waited for programs that still used the old pair. */
		CHECK_U64(fake_map("barrier")->updates, waits + 1);
		CHECK_U64(seen.calls, 1);
		CHECK_U64(seen.samples, i);
		/* The stack of this drain, not the one of the last. */
		CHECK_U64(seen.kernel[0], 0xffffffff81000000 + i);
	}
	/* What came while it drained is in the other pair. */
	drain(samples);
	CHECK_U64(seen.calls, 0);
	CHECK_U64(fake_map("stacks0")->count + fake_map("stacks1")->count, 0);
	CHECK_U64(samples_cost(samples).drains, 7);
	close_all(samples, loader);
}

/* By batches, key by key, by batches that end in the middle: all the same. */
static void check_many(struct samples *samples)
{
	enum { STACKS = 1500, COUNTS = 1700 };
	uint64_t sum = 0;

	for (uint64_t i = 0; i < STACKS; i++)
		put_stack(1000 + i * 7, i << 20, i % STACK_DEPTH + 1);
	for (uint32_t i = 0; i < COUNTS; i++) {
		put_count(i, 1000 + i % STACKS * 7,
			  i % 3 ? 1000 + (uint64_t)(i * 31 % STACKS) * 7 :
			  STACK_NONE, i + 1);
		sum += i + 1;
	}
	drain(samples);
	CHECK_U64(seen.calls, COUNTS);
	CHECK_U64(seen.samples, sum);
	CHECK_U64(samples_cost(samples).samples, sum);
	CHECK_U64(samples_cost(samples).keys, STACKS + COUNTS);
	CHECK_U64(samples_cost(samples).dangling, 0);
	drain(samples);
	CHECK_U64(seen.calls, 0);
}

TEST(samples_by_batches)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);

	check_many(samples);
	CHECK(samples_cost(samples).batches);
	close_all(samples, loader);
}

TEST(samples_by_keys)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, false);

	check_many(samples);
	CHECK(!samples_cost(samples).batches);
	CHECK_U64(fake_bpf.batches, 0);
	close_all(samples, loader);
}

TEST(samples_batches_refused)
{
	for (int at = 0; at < 30; at += 5) {
		struct loader *loader = load();
		struct samples *samples = open_samples(loader, true);

		fake_bpf.batch_error = at % 2 ? -EINVAL : -524;
		fake_bpf.batch_fails_at = at;
		check_many(samples);
		CHECK(!samples_cost(samples).batches);
		close_all(samples, loader);
	}
}

/* Buckets of more elements than the buffer has room for. */
TEST(samples_large_buckets)
{
	static const uint32_t buckets[] = { 2, 63, 64, 65, 200, 1000, 5000 };

	for (size_t i = 0; i < sizeof(buckets) / sizeof(*buckets); i++) {
		struct loader *loader = load();
		struct samples *samples = open_samples(loader, true);

		fake_bpf.bucket = buckets[i];
		check_many(samples);
		CHECK(samples_cost(samples).batches);
		close_all(samples, loader);
	}
}

/* The words in place of stacks, and a stack that is not there. */
TEST(samples_words_and_dangling)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);

	put_count(1, STACK_LOST, STACK_COLLIDED, 1);
	drain(samples);
	CHECK_U64(seen.last.key.kernel, STACK_LOST);
	CHECK_U64(seen.last.key.user, STACK_COLLIDED);
	CHECK_U64(samples_cost(samples).dangling, 0);
	put_count(2, 123456789, STACK_NONE, 1);
	drain(samples);
	CHECK_U64(seen.last.key.kernel, STACK_LOST);
	CHECK_U64(samples_cost(samples).dangling, 1);
	close_all(samples, loader);
}

/* Numbers that the program never writes: no harm. */
TEST(samples_odd_values)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);
	struct count_key key = { .tid = 5, .kernel = 1000, .user = 2000 };
	struct count count = { 1, 2, 3 };

	put_stack(1000, 1, UINT64_MAX);
	put_stack(2000, 1, STACK_WORDS);
	memset(key.comm, 'x', sizeof(key.comm));
	fake_put(fake_map("counts0"), &key, &count);
	drain(samples);
	CHECK_U64(seen.calls, 1);
	CHECK_U64(seen.last.kernel_depth, STACK_DEPTH);
	CHECK_U64(seen.last.user_depth, STACK_DEPTH);
	CHECK_TEXT(seen.last.key.comm, "xxxxxxxxxxxxxxx");
	close_all(samples, loader);
}

/* Keys are equal in their low bits often: all are found. */
TEST(samples_similar_keys)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);

	for (uint64_t i = 1; i <= 500; i++)
		put_stack(i << 40, i, 1);
	for (uint32_t i = 1; i <= 500; i++) {
		put_count(i, (uint64_t)i << 40, STACK_NONE, 1);
	}
	drain(samples);
	CHECK_U64(seen.calls, 500);
	CHECK_U64(samples_cost(samples).dangling, 0);
	close_all(samples, loader);
}

TEST(samples_seeds)
{
	struct loader *loader = load();
	struct samples *one = open_samples(loader, true), *two;
	uint32_t zero = 0;
	struct seeds first, second;

	memcpy(&first, fake_get(fake_map("seeds"), &zero), sizeof(first));
	two = open_samples(loader, true);
	memcpy(&second, fake_get(fake_map("seeds"), &zero), sizeof(second));
	for (int i = 0; i < 3; i++) {
		CHECK(first.multiply[i] & second.multiply[i] & 1);
		CHECK(first.multiply[i] != second.multiply[i]);
	}
	CHECK(first.start != second.start);
	samples_close(one);
	close_all(two, loader);
}

/* What the program has to know of us is there before it runs. */
TEST(samples_scope)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);
	uint32_t zero = 0;
	int fd = 3;

	CHECK(!memcmp(fake_get(fake_map("scope"), &zero), &scope,
		      sizeof(scope)));
	CHECK_U64(fake_map("cgroups")->updates, 0);
	samples_close(samples);
	samples = samples_open(loader, ENGINE_HASH, true, &scope, fd);
	CHECK(!memcmp(fake_get(fake_map("cgroups"), &zero), &fd, sizeof(fd)));
	close_all(samples, loader);
}

/* Of four values, for CPUs 0 to 3, of which CPU 1 is not there. */
TEST(samples_tally_sums)
{
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);
	struct tally each[FAKE_CPUS] = { 0 }, sum;
	uint64_t ticks[6];
	uint32_t zero = 0;

	for (uint64_t cpu = 0; cpu < 4; cpu++)
		for (uint64_t i = 0; i < TALLY_SIZE; i++)
			each[cpu].n[i] = (cpu + 1) * 1000 + i;
	memset(each[1].n, 0, sizeof(each[1].n));
	fake_put(fake_map("tallies"), &zero, each);
	memset(ticks, 'x', sizeof(ticks));
	CHECK(!samples_tally(samples, &sum, ticks, 6));
	for (uint64_t i = 0; i < TALLY_SIZE; i++)
		CHECK_U64(sum.n[i], 8000 + 3 * i);
	CHECK_U64(ticks[0], 1000 + TALLY_TICKS);
	CHECK_U64(ticks[1], 0);
	CHECK_U64(ticks[3], 4000 + TALLY_TICKS);
	CHECK_U64(ticks[5], 0);
	CHECK(!samples_tally(samples, &sum, NULL, 0));
	close_all(samples, loader);
}

TEST(samples_tally_texts)
{
	CHECK(!samples_tally_text(ENGINE_HASH, TALLY_TICKS));
	CHECK(!samples_tally_text(ENGINE_HASH, TALLY_COUNTED));
	CHECK(!samples_tally_text(ENGINE_HASH, TALLY_RACES));
	for (unsigned int i = TALLY_COUNT_FULL; i <= TALLY_NO_STACK; i++)
		CHECK(samples_tally_text(ENGINE_HASH, i) &&
		      *samples_tally_text(ENGINE_HASH, i));
	CHECK(!samples_tally_text(ENGINE_HASH, TALLY_SIZE - 1));
	CHECK(strstr(samples_tally_text(ENGINE_HASH, TALLY_STACK_COLLIDED),
		     "hash"));
	CHECK(strstr(samples_tally_text(ENGINE_STACKID, TALLY_STACK_COLLIDED),
		     "bucket"));
}

TEST(samples_leaks_nothing)
{
	size_t before = unit_descriptors();
	struct loader *loader = load();
	struct samples *samples = open_samples(loader, true);

	drain(samples);
	close_all(samples, loader);
	CHECK_U64(unit_descriptors(), before);
}

/* -------------------------------------------------- the textbook's engine */

static void put_number(uint32_t tgid, int64_t kernel, int64_t user,
		       uint64_t samples)
{
	struct stackid_key key = {
		.tgid = tgid, .comm = "comm", .kernel = kernel, .user = user,
	};

	fake_put(fake_map("stackid_counts"), &key, &samples);
}

static void put_bucket(uint32_t number, uint64_t first_ip, size_t depth)
{
	uint64_t ip[STACK_DEPTH] = { 0 };

	for (size_t i = 0; i < depth; i++)
		ip[i] = first_ip + i;
	fake_put(fake_map("stackid_stacks"), &number, ip);
}

static void read_numbers(const struct loader *loader)
{
	struct samples_cost cost = { 0 };

	memset(&seen, 0, sizeof(seen));
	CHECK(!stackid_read(loader, take, &seen, &cost));
	CHECK_U64(cost.samples, seen.samples);
}

TEST(stackid_words)
{
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!loader_choose(loader, samples_program(ENGINE_STACKID)));
	CHECK(!loader_load(loader));
	put_bucket(0, 0xffffffff81000000, 3);
	put_bucket(7, 0x400000, STACK_DEPTH);
	put_number(5, 0, 7, 42);
	read_numbers(loader);
	CHECK_U64(seen.calls, 1);
	CHECK_U64(seen.samples, 42);
	CHECK_U64(seen.last.key.tgid, 5);
	CHECK_TEXT(seen.last.key.comm, "comm");
	CHECK_U64(seen.last.kernel_depth, 3);
	CHECK_U64(seen.kernel[2], 0xffffffff81000002);
	CHECK_U64(seen.last.user_depth, STACK_DEPTH);
	fake_map("stackid_counts")->count = 0;
	put_number(6, -EFAULT, -EEXIST, 1);
	read_numbers(loader);
	CHECK_U64(seen.last.key.kernel, STACK_NONE);
	CHECK_U64(seen.last.key.user, STACK_COLLIDED);
	fake_map("stackid_counts")->count = 0;
	put_number(6, -ENOMEM, -EFAULT, 1);
	read_numbers(loader);
	CHECK_U64(seen.last.key.kernel, STACK_FAILED);
	CHECK_U64(seen.last.key.user, STACK_NONE);
	loader_close(loader);
	fake_bpf_reset();
}

/* A number whose bucket is empty: the stack is lost, and that has a word. */
TEST(stackid_dangling)
{
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!loader_choose(loader, samples_program(ENGINE_STACKID)));
	CHECK(!loader_load(loader));
	put_number(5, 9, -EFAULT, 3);
	read_numbers(loader);
	CHECK_U64(seen.samples, 3);
	CHECK_U64(seen.last.key.kernel, STACK_LOST);
	loader_close(loader);
	fake_bpf_reset();
}
