/* SPDX-License-Identifier: MIT */
/* The plan of the maps: no overflow, or it says so; never above the memory. */
#include <string.h>

#include "samples.h"
#include "test/unit/unit.h"

static const uint64_t rates[] = { 1, 10, 49, 99, 100, 999, 9999, 100000 };
static const size_t cpus[] = { 1, 2, 3, 8, 64, 128, 1024, 8192 };
static const uint64_t memories[] = {
	1ull << 20, 2ull << 20, 16ull << 20, 64ull << 20, 1ull << 30,
	4ull << 30, 65536ull << 20,	/* the most that --memory takes */
};

#define EACH(array, i) (size_t i = 0; i < sizeof(array) / sizeof(*(array)); i++)

static void check_plan(uint64_t hz, size_t count, uint64_t memory)
{
	struct samples_plan plan = samples_plan(hz, count, memory);
	/* Ticks of one interval; as a fraction, for slow clocks. */
	double ticks = (double)hz * (double)count * (double)plan.interval / 1e9;

	CHECK(plan.counts && plan.stacks && plan.interval);
	/* Each count can name two stacks that are new. */
	CHECK(plan.stacks >= 2 * (uint64_t)plan.counts);
	/* A second at most: who ends a run does not wait longer. */
	CHECK(plan.interval <= 1000000000);
	/* Two pairs of elements of these sizes, without what the kernel adds. */
	CHECK(plan.bytes >= 2 * (plan.counts * (48ull + 24) +
				 plan.stacks * (8ull + 1040)));
	/* The first drain that comes late must find room all the same. */
	CHECK(plan.longest >= plan.interval + 300000000);
	if (!plan.cut) {
		CHECK((double)plan.counts >= 1.25 * (double)hz *
		      (double)count * (double)plan.longest / 1e9);
		CHECK((double)plan.counts >= 1.25 * ticks);
		CHECK(plan.bytes <= memory);
	} else {
		/* As much as fits; a little even where nothing does. */
		CHECK(plan.bytes <= memory || plan.counts <= 64);
	}
}

TEST(plan_bounds)
{
	for EACH(rates, i)
		for EACH(cpus, j)
			for EACH(memories, k)
				check_plan(rates[i], cpus[j], memories[k]);
}

/* The defaults have to be enough for a large machine, and not cut. */
TEST(plan_defaults)
{
	CHECK(!samples_plan(99, 2, 64 << 20).cut);
	CHECK(!samples_plan(99, 64, 64 << 20).cut);
	CHECK(samples_plan(100000, 8192, 64 << 20).cut);
	CHECK_U64(samples_plan(99, 2, 64 << 20).interval, 1000000000);
}

/* More to do never gives less room, as long as the interval is the same. */
TEST(plan_is_monotonous)
{
	for EACH(memories, k) {
		for EACH(rates, i) {
			for (size_t j = 1; j < sizeof(cpus) / sizeof(*cpus);
			     j++) {
				struct samples_plan less = samples_plan(
					rates[i], cpus[j - 1], memories[k]);
				struct samples_plan more = samples_plan(
					rates[i], cpus[j], memories[k]);

				CHECK(more.interval <= less.interval);
				CHECK(more.cut >= less.cut);
				if (more.interval == less.interval)
					CHECK(more.counts >= less.counts);
			}
		}
	}
	for EACH(cpus, j) {
		for EACH(rates, i) {
			for (size_t k = 1;
			     k < sizeof(memories) / sizeof(*memories); k++) {
				struct samples_plan less = samples_plan(
					rates[i], cpus[j], memories[k - 1]);
				struct samples_plan more = samples_plan(
					rates[i], cpus[j], memories[k]);

				/* More memory: rarer drains, never a cut. */
				CHECK(more.interval >= less.interval);
				CHECK(more.cut <= less.cut);
			}
		}
	}
}

/* The largest machine at the highest rate: cut to the memory, no wrap. */
TEST(plan_of_the_largest)
{
	struct samples_plan plan = samples_plan(100000, 8192, 65536ull << 20);

	CHECK(plan.cut);
	CHECK(plan.bytes <= 65536ull << 20);
	CHECK(plan.bytes > 65535ull << 20);
	CHECK_U64(plan.stacks, 2 * (uint64_t)plan.counts);
}
