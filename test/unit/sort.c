/* SPDX-License-Identifier: MIT */
/* Sorted by the number that elements begin with. */
#include <string.h>

#include "lib/sort.h"
#include "test/unit/unit.h"

struct item {
	uint64_t number;
	uint32_t was, unused;
};

/* Numbers of few bits (many are equal), of many, of all. */
static uint64_t number_at(uint32_t i, unsigned int bits)
{
	uint64_t number = (i + 1) * 0x9e3779b97f4a7c15ull;

	return (number ^ number >> 29) >> (64 - bits);
}

TEST(sort_keeps_the_order_of_equal_ones)
{
	static const unsigned int bits[] = { 1, 5, 11, 12, 23, 40, 64 };
	static struct item items[5000];

	for (size_t k = 0; k < sizeof(bits) / sizeof(*bits); k++)
		for (size_t count = 0; count <= 5000; count = count * 7 + 1) {
			for (uint32_t i = 0; i < count; i++)
				items[i] = (struct item){
					number_at(i, bits[k]), i, 7,
				};
			sort_by_u64(items, count, sizeof(*items));
			for (size_t i = 0; i < count; i++) {
				CHECK_U64(items[i].number,
					  number_at(items[i].was, bits[k]));
				CHECK_U64(items[i].unused, 7);
				CHECK(!i || items[i - 1].number <
					    items[i].number ||
				      (items[i - 1].number == items[i].number &&
				       items[i - 1].was < items[i].was));
			}
		}
}
