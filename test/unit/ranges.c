/* SPDX-License-Identifier: MIT */
/* Sets of address ranges, against arrays that know each address by itself. */
#include <string.h>

#include "proc/ranges.h"
#include "test/unit/unit.h"

enum { ADDRESSES = 200, SETS = 8 };

/* For each address: the file and the offset there; file 0: nothing. */
struct model {
	struct cell {
		uint32_t file;
		uint64_t offset;
	} cell[ADDRESSES];
};

static void check_same(const struct ranges *ranges, uint32_t root,
		       const struct model *model)
{
	uint64_t next = 0;
	struct range range, behind = { 0 };

	for (uint64_t at = 0; at < ADDRESSES; at++) {
		const struct cell *cell = &model->cell[at];

		if (!cell->file) {
			CHECK(!ranges_find(ranges, root, at, &range));
			continue;
		}
		CHECK(ranges_find(ranges, root, at, &range));
		CHECK_U64(range.file, cell->file);
		CHECK_U64(range.offset + at - range.start, cell->offset);
	}
	/* In order, without overlap, and none empty. */
	while (ranges_next(ranges, root, next, &behind)) {
		CHECK(behind.start >= next && behind.end > behind.start);
		next = behind.end;
	}
}

static void change(struct model *model, const struct range *range, bool fill)
{
	for (uint64_t at = range->start; at < range->end; at++)
		if (!fill || !model->cell[at].file)
			model->cell[at] = (struct cell){
				range->file,
				range->offset + at - range->start,
			};
}

/* Puts, fills and copies in any order; no set sees what is done to another. */
TEST(ranges_like_arrays)
{
	struct ranges ranges = { 0 };
	struct model models[SETS] = { 0 };
	uint32_t roots[SETS] = { 0 };
	uint64_t state = 1;

	for (unsigned int i = 0; i < 20000; i++) {
		size_t set = unit_random(&state) % SETS;
		size_t other = unit_random(&state) % SETS;
		struct range range = {
			.start = unit_random(&state) % (ADDRESSES - 1),
			.offset = unit_random(&state) % 1000 * 4096,
			.file = 1 + unit_random(&state) % 9,
		};
		bool fill = unit_random(&state) % 2;
		uint64_t most = ADDRESSES - range.start;

		range.end = range.start + 1 +
			    unit_random(&state) % (most < 30 ? most : 30);
		if (range.end > ADDRESSES)
			range.end = ADDRESSES;
		if (i % 50 == 0 && set != other) {
			ranges_drop(&ranges, roots[set]);
			roots[set] = ranges_keep(&ranges, roots[other]);
			models[set] = models[other];
		}
		roots[set] = (fill ? ranges_fill : ranges_put)
			     (&ranges, roots[set], &range);
		change(&models[set], &range, fill);
		check_same(&ranges, roots[set], &models[set]);
		if (i % 100 == 0)
			for (size_t j = 0; j < SETS; j++)
				check_same(&ranges, roots[j], &models[j]);
	}
	for (size_t i = 0; i < SETS; i++)
		ranges_drop(&ranges, roots[i]);
	CHECK_U64(ranges.used, 0);
	/* Nodes were used again: a set has at most one for each address. */
	CHECK(ranges.count < 2 * SETS * ADDRESSES);
	ranges_free(&ranges);
}

/* Both ends of the addresses, and one that reaches over three others. */
TEST(ranges_ends)
{
	struct ranges ranges = { 0 };
	struct range range = { .start = 0, .end = UINT64_MAX, .file = 1 };
	struct range found;
	uint32_t root = ranges_put(&ranges, 0, &range);

	CHECK(ranges_find(&ranges, root, 0, &found));
	CHECK(ranges_find(&ranges, root, UINT64_MAX - 1, &found));
	CHECK(!ranges_find(&ranges, root, UINT64_MAX, &found));
	/* In the middle: three are left. */
	range = (struct range){ .start = 100, .end = 200, .file = 2 };
	root = ranges_put(&ranges, root, &range);
	CHECK(ranges_find(&ranges, root, 200, &found));
	CHECK_U64(found.start, 200);
	CHECK_U64(found.offset, 200);
	CHECK_U64(found.file, 1);
	CHECK_U64(ranges.used, 3);
	range = (struct range){ .start = 0, .end = UINT64_MAX, .file = 3 };
	root = ranges_put(&ranges, root, &range);
	CHECK_U64(ranges.used, 1);
	/* Nothing is free. */
	range.file = 4;
	root = ranges_fill(&ranges, root, &range);
	CHECK(ranges_find(&ranges, root, 5, &found));
	CHECK_U64(found.file, 3);
	ranges_drop(&ranges, root);
	CHECK(!ranges_find(&ranges, 0, 5, &found));
	ranges_free(&ranges);
	CHECK_U64(ranges.used, 0);
}

static size_t told;
static void tell_file(void *context, uint32_t file)
{
	CHECK(context == &told);
	CHECK(file == 7);
	told++;
}

/* As many as a process may have, from above, and shared by many children. */
TEST(ranges_many)
{
	struct ranges ranges = { 0 };
	uint32_t root = 0, children[100];
	struct range found;

	for (uint64_t i = 65000; i-- > 0;) {
		struct range range = {
			.start = i * 8192, .end = i * 8192 + 4096, .file = 7,
		};

		root = ranges_put(&ranges, root, &range);
	}
	CHECK_U64(ranges.used, 65000);
	for (size_t i = 0; i < 100; i++) {
		struct range range = {
			.start = i * 8192, .end = i * 8192 + 8192, .file = 7,
		};

		children[i] = ranges_keep(&ranges, root);
		children[i] = ranges_put(&ranges, children[i], &range);
	}
	/* A child costs its path, not the set. */
	CHECK(ranges.used < 65000 + 100 * 100);
	CHECK(ranges_find(&ranges, children[7], 7 * 8192 + 5000, &found));
	CHECK(!ranges_find(&ranges, root, 7 * 8192 + 5000, &found));
	ranges_files(&ranges, tell_file, &told);
	CHECK_U64(told, ranges.used);
	ranges_drop(&ranges, root);
	for (size_t i = 0; i < 100; i++)
		ranges_drop(&ranges, children[i]);
	CHECK_U64(ranges.used, 0);
	ranges_free(&ranges);
}
