/* SPDX-License-Identifier: MIT */
/* What of a large table is needed. */
#include <stdlib.h>

#include "lib/wanted.h"
#include "test/unit/unit.h"

TEST(wanted_below)
{
	const uint64_t addresses[] = { 13, 10, 12, 0 };
	const uint64_t starts[] = { 20, 9, 11, 1, 4 };
	const uint64_t below[] = { 0, 9, 11, 11 };
	struct wanted wanted;

	wanted_open(&wanted, addresses, 4);
	for (size_t i = 0; i < 5; i++)
		CHECK_U64(wanted_note(&wanted, starts[i], starts[i] * 2),
			  starts[i] != 20 && starts[i] != 1 && starts[i] != 4);
	wanted_finish(&wanted);
	CHECK(!wanted.below[0].is);
	for (size_t i = 1; i < 4; i++) {
		CHECK(wanted.below[i].is);
		CHECK_U64(wanted.below[i].start, below[i]);
		CHECK_U64(wanted.below[i].value, below[i] * 2);
	}
	CHECK(wanted_covers(&wanted, 11, 13));
	CHECK(!wanted_covers(&wanted, 11, 12));
	CHECK(wanted_covers(&wanted, 0, UINT64_MAX));
	CHECK(!wanted_covers(&wanted, 14, UINT64_MAX));
	CHECK(wanted_below_covers(&wanted, 9, 10));
	CHECK(wanted_below_covers(&wanted, 10, 12));
	CHECK(!wanted_below_covers(&wanted, 0, 9));
	CHECK(!wanted_below_covers(&wanted, 10, 11));
	CHECK(!wanted_below_covers(&wanted, 12, UINT64_MAX));
	wanted_clear(&wanted);
	wanted_finish(&wanted);
	CHECK(!wanted_below_covers(&wanted, 0, UINT64_MAX));
	wanted_close(&wanted);
	wanted_open(&wanted, NULL, 0);
	wanted_note(&wanted, 1, 1);
	wanted_finish(&wanted);
	CHECK(!wanted_covers(&wanted, 0, UINT64_MAX));
	wanted_close(&wanted);
}

/* Against the plain way, for starts in any order. */
TEST(wanted_random)
{
	srand(1);
	for (int round = 0; round < 300; round++) {
		uint64_t addresses[20], starts[40];
		struct wanted wanted;

		for (size_t i = 0; i < 20; i++)
			addresses[i] = (uint64_t)rand() % 100;
		wanted_open(&wanted, addresses, 20);
		for (size_t i = 0; i < 40; i++) {
			starts[i] = (uint64_t)rand() % 100 + 3;
			wanted_note(&wanted, starts[i], i);
		}
		wanted_finish(&wanted);
		for (size_t i = 0; i < 20; i++) {
			uint64_t best = 0;

			for (size_t j = 0; j < 40; j++)
				if (starts[j] <= wanted.address[i] &&
				    starts[j] > best)
					best = starts[j];
			CHECK_U64(wanted.below[i].is, best > 0);
			CHECK_U64(wanted.below[i].start, best);
		}
		wanted_close(&wanted);
	}
}
