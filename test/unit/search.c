/* SPDX-License-Identifier: MIT */
/* Where in a sorted array. */
#include "lib/search.h"
#include "test/unit/unit.h"

struct wide {
	uint64_t number, other;
};

struct narrow {
	uint32_t number;
	uint8_t other;
};

TEST(search_all_places)
{
	const struct wide wide[] = {
		{ 0, 9 }, { 3, 0 }, { 3, 1 }, { 7, 9 }, { UINT64_MAX, 0 },
	};
	const struct narrow narrow[] = {
		{ 0, 9 }, { 3, 0 }, { 3, 1 }, { 7, 9 }, { UINT32_MAX, 0 },
	};
	const uint64_t wanted[] = {
		0, 1, 3, 6, 7, UINT32_MAX, 1ull << 32, UINT64_MAX,
	};

	for (size_t count = 0; count <= 5; count++)
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			size_t below = 0, upto = 0, upto_narrow = 0;

			for (size_t k = 0; k < count; k++) {
				below += wide[k].number < wanted[i];
				upto += wide[k].number <= wanted[i];
				upto_narrow += narrow[k].number <= wanted[i];
			}
			CHECK_U64(search_below_u64(wide, count, sizeof(*wide),
						   wanted[i]), below);
			CHECK_U64(search_upto_u64(wide, count, sizeof(*wide),
						  wanted[i]), upto);
			CHECK_U64(search_upto_u32(narrow, count,
						  sizeof(*narrow), wanted[i]),
				  upto_narrow);
		}
	CHECK_U64(search_upto_u64(NULL, 0, sizeof(*wide), 1), 0);
}
