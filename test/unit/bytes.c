/* SPDX-License-Identifier: MIT */
/* Foreign bytes: no offset and no size reaches outside. */
#include <string.h>

#include "lib/bytes.h"
#include "test/unit/unit.h"

TEST(bytes_part_all_small)
{
	struct bytes all = unit_fenced("0123456789", 10), part;

	for (uint64_t offset = 0; offset < 14; offset++)
		for (uint64_t size = 0; size < 14; size++) {
			bool inside = offset + size <= 10;

			CHECK(bytes_part(all, offset, size, &part) == inside);
			CHECK_U64(part.size, inside ? size : 0);
			if (inside)
				CHECK(part.data == all.data + offset);
		}
}

/* Sums of these wrap to small numbers. */
TEST(bytes_offsets_overflow)
{
	static const uint64_t huge[] = {
		11, UINT32_MAX, 1ull << 32, INT64_MAX, 1ull << 63,
		UINT64_MAX - 10, UINT64_MAX - 4, UINT64_MAX - 1, UINT64_MAX,
	};
	struct bytes all = unit_fenced("0123456789", 10), part;
	char to[4];

	for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++) {
		for (uint64_t other = 0; other < 12; other++) {
			CHECK(!bytes_part(all, huge[i], other, &part));
			CHECK(!bytes_part(all, other, huge[i], &part));
		}
		for (size_t j = 0; j < sizeof(huge) / sizeof(*huge); j++)
			CHECK(!bytes_part(all, huge[i], huge[j], &part));
		memset(to, 'x', sizeof(to));
		CHECK(!bytes_copy(all, huge[i], to, sizeof(to)));
		CHECK(!memcmp(to, "\0\0\0", 4));
		CHECK(!bytes_text(all, huge[i]));
	}
}

TEST(bytes_copy_edges)
{
	struct bytes all = unit_fenced("0123456789", 10);
	char to[4];

	CHECK(bytes_copy(all, 0, to, 4) && !memcmp(to, "0123", 4));
	CHECK(bytes_copy(all, 6, to, 4) && !memcmp(to, "6789", 4));
	CHECK(!bytes_copy(all, 7, to, 4) && !memcmp(to, "\0\0\0", 4));
	CHECK(!bytes_copy(all, 10, to, 4));
	CHECK(bytes_copy(all, 10, to, 0));
	CHECK(!bytes_copy((struct bytes){ 0 }, 0, to, 1));
}

TEST(bytes_text_ends_inside)
{
	struct bytes all = unit_fenced("ab\0cd\0\0ef", 9);

	CHECK_TEXT(bytes_text(all, 0), "ab");
	CHECK_TEXT(bytes_text(all, 1), "b");
	CHECK_TEXT(bytes_text(all, 2), "");
	CHECK_TEXT(bytes_text(all, 3), "cd");
	CHECK_TEXT(bytes_text(all, 6), "");
	CHECK_TEXT(bytes_text(all, 7), NULL);
	CHECK_TEXT(bytes_text(all, 8), NULL);
	CHECK_TEXT(bytes_text(all, 9), NULL);
	CHECK_TEXT(bytes_text((struct bytes){ 0 }, 0), NULL);
}
