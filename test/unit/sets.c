/* SPDX-License-Identifier: MIT */
/* Index, names, lists: many elements, and all of them with one hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/lists.h"
#include "lib/memory.h"
#include "lib/names.h"
#include "test/unit/unit.h"

/* Linked with --wrap=index_hash: names and lists can be made to collide. */
static bool same_hash;

uint64_t __real_index_hash(const void *data, size_t size);
uint64_t __wrap_index_hash(const void *data, size_t size);

uint64_t __wrap_index_hash(const void *data, size_t size)
{
	return same_hash ? 42 : __real_index_hash(data, size);
}

static bool equal_u32(const void *array, uint32_t position, const void *wanted)
{
	return ((const uint32_t *)array)[position] == *(const uint32_t *)wanted;
}

static void check_index(uint64_t (*hash)(uint32_t), uint32_t count)
{
	uint32_t *array = malloc(count * sizeof(*array));
	struct index index = { 0 };

	CHECK(array);
	for (uint32_t i = 0; i < count; i++) {
		array[i] = i * 2654435761u;
		CHECK_U64(index_find(&index, hash(array[i]), equal_u32, array,
				     &array[i]), INDEX_NONE);
		index_add(&index, hash(array[i]), i);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = array[i] + 1;

		CHECK_U64(index_find(&index, hash(array[i]), equal_u32, array,
				     &array[i]), i);
		/* The same hash, but another element. */
		CHECK_U64(index_find(&index, hash(array[i]), equal_u32, array,
				     &other), INDEX_NONE);
	}
	index_clear(&index);
	CHECK_U64(index_find(&index, hash(array[0]), equal_u32, array,
			     &array[0]), INDEX_NONE);
	index_add(&index, hash(array[0]), 0);
	CHECK_U64(index_find(&index, hash(array[0]), equal_u32, array,
			     &array[0]), 0);
	index_free(&index);
	CHECK(!index.slots);
	free(array);
}

static uint64_t hash_good(uint32_t x)
{
	return x * 0x9e3779b97f4a7c15ull;
}

static uint64_t hash_same(uint32_t x)
{
	(void)x;
	return 7;
}

/* All at the end of the table, so that probing has to go round. */
static uint64_t hash_high(uint32_t x)
{
	return UINT64_MAX - x % 2;
}

TEST(index_many)
{
	check_index(hash_good, 300000);
}

TEST(index_equal_hashes)
{
	check_index(hash_same, 1500);
	check_index(hash_high, 1500);
}

/*
 * Linear probing is only as good as the low bits: of n hashes into n buckets
 * about 63 % of the buckets are hit.
 */
static void check_spread(const char *what, const void *keys, size_t size)
{
	enum { COUNT = 65536 };
	static unsigned char hit[COUNT];
	size_t hits = 0;

	memset(hit, 0, sizeof(hit));
	for (size_t i = 0; i < COUNT; i++) {
		uint64_t hash = index_hash((const char *)keys + i * size, size);

		hits += !hit[hash % COUNT];
		hit[hash % COUNT] = 1;
	}
	if (hits < COUNT * 60 / 100)
		unit_fail(__FILE__, __LINE__, "%s: %zu of %d buckets", what,
			  hits, COUNT);
}

TEST(index_hash_spreads)
{
	static uint64_t words[65536];
	static uint32_t triples[65536][3];

	for (uint64_t i = 0; i < 65536; i++)
		words[i] = i;
	check_spread("numbers", words, sizeof(*words));
	for (uint64_t i = 0; i < 65536; i++)
		words[i] = i << 48;
	check_spread("high numbers", words, sizeof(*words));
	for (uint64_t i = 0; i < 65536; i++)
		words[i] = 0xffffffff81000000 + i * 4096;
	check_spread("pages", words, sizeof(*words));
	for (uint32_t i = 0; i < 65536; i++) {
		triples[i][0] = i & 255;
		triples[i][1] = 0;
		triples[i][2] = i >> 8;
	}
	check_spread("triples", triples, sizeof(*triples));
}

/* Texts of every short length; none may depend on what stands behind it. */
TEST(index_hash_lengths)
{
	char a[40], b[40];
	uint64_t seen[33];

	memset(a, 0, sizeof(a));
	for (size_t size = 0; size <= 32; size++) {
		memset(b, 'x', sizeof(b));
		memcpy(b, a, size);
		seen[size] = index_hash(a, size);
		CHECK_U64(index_hash(b, size), seen[size]);
		for (size_t other = 0; other < size; other++)
			CHECK(seen[other] != seen[size]);
	}
}

TEST(names_many)
{
	struct names names = { 0 };
	char name[32];

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 200000; i++) {
			sprintf(name, "name%u", i);
			CHECK_U64(names_add(&names, name), i);
			CHECK_TEXT(names.text[i], name);
			CHECK(names.text[i] != name);
		}
	CHECK_U64(names.count, 200000);
	names_free(&names);
	CHECK_U64(names_add(&names, ""), 0);
	CHECK_U64(names_add(&names, "a"), 1);
	CHECK_U64(names_add(&names, ""), 0);
	names_free(&names);
}

TEST(names_collide)
{
	struct names names = { 0 };
	char name[32];

	same_hash = true;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 1000; i++) {
			sprintf(name, "%u", i);
			CHECK_U64(names_add(&names, name), i);
		}
	names_free(&names);
}

static void check_list(struct lists *lists, uint32_t number,
		       const uint64_t *items, size_t count)
{
	size_t got;
	const uint64_t *there = lists_get(lists, number, &got);

	CHECK_U64(got, count);
	for (size_t i = 0; i < count; i++)
		CHECK_U64(there[i], items[i]);
}

/* Lists that share beginnings, ends, lengths and items. */
static void check_lists(void)
{
	static const uint64_t one[] = { 1, 2, 3, 1, 2, 0, 0, 0 };
	struct lists lists = { 0 };
	uint32_t numbers[8][9];

	for (size_t from = 0; from < 8; from++)
		for (size_t count = 0; from + count <= 8; count++) {
			numbers[from][count] =
				lists_add(&lists, one + from, count);
			for (size_t f = 0; f <= from; f++)
				for (size_t c = 0; f + c <= 8; c++) {
					bool same = c == count &&
						!memcmp(one + f, one + from,
							c * sizeof(*one));

					if (f == from && c > count)
						break;
					CHECK((numbers[f][c] ==
					       numbers[from][count]) == same);
				}
		}
	for (size_t from = 0; from < 8; from++)
		for (size_t count = 0; from + count <= 8; count++)
			check_list(&lists, numbers[from][count], one + from,
				   count);
	lists_free(&lists);
}

TEST(lists_distinct)
{
	check_lists();
}

TEST(lists_collide)
{
	same_hash = true;
	check_lists();
}

/* A kernel thread's user stack: the first list of all can be empty. */
TEST(lists_empty_first)
{
	struct lists lists = { 0 };
	uint64_t item = 5;

	CHECK_U64(lists_add(&lists, NULL, 0), 0);
	check_list(&lists, 0, NULL, 0);
	CHECK_U64(lists_add(&lists, &item, 1), 1);
	CHECK_U64(lists_add(&lists, &item, 0), 0);
	check_list(&lists, 0, NULL, 0);
	check_list(&lists, 1, &item, 1);
	lists_free(&lists);
}

TEST(lists_many)
{
	struct lists lists = { 0 };
	uint64_t items[127];

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 20000; i++) {
			size_t count = i % 127 + 1;

			for (size_t j = 0; j < count; j++)
				items[j] = i / 127;
			items[count - 1] += (uint64_t)count << 32;
			CHECK_U64(lists_add(&lists, items, count), i);
			check_list(&lists, i, items, count);
		}
	CHECK_U64(lists.count, 20000);
	lists_free(&lists);
}

TEST(cmp_u64_orders)
{
	uint64_t a[] = { UINT64_MAX, 0, 1ull << 63, 1, 1ull << 32, 0x80000000 };

	qsort(a, 6, sizeof(*a), cmp_u64);
	CHECK(a[0] == 0 && a[1] == 1 && a[2] == 0x80000000 &&
	      a[3] == 1ull << 32 && a[4] == 1ull << 63 && a[5] == UINT64_MAX);
}
