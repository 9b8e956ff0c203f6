/* SPDX-License-Identifier: MIT */
/* Functions by address, and the names of clones. */
#include <stdlib.h>
#include <string.h>

#include "sym/clones.h"
#include "sym/table.h"
#include "test/unit/unit.h"

enum {
	FUNC = TABLE_FUNCTION + TABLE_SIZED + TABLE_LOCAL,
	OPEN = TABLE_FUNCTION + TABLE_LOCAL,
	LABEL = TABLE_LOCAL,
};

static void add(struct table *table, uint64_t start, uint32_t size,
		uint8_t rank, uint32_t name)
{
	table_add(table, &(struct table_symbol){
		.start = start, .size = size, .rank = rank, .name = name,
	});
}

/* The number of the symbol at the address; 0: none. */
static uint32_t at(const struct table *table, uint64_t address)
{
	size_t alike;
	const struct table_symbol *symbol = table_find(table, address, &alike);

	CHECK(!symbol || (alike >= 1 && symbol->start <= address));
	return symbol ? symbol->name : 0;
}

TEST(table_honours_sizes)
{
	struct table table = { 0 };

	CHECK_U64(at(&table, 0), 0);
	table_finish(&table);
	CHECK_U64(at(&table, 0), 0);
	add(&table, 200, 10, FUNC, 2);
	add(&table, 100, 50, FUNC, 1);
	add(&table, UINT64_MAX - 9, 5, FUNC, 3);
	table_finish(&table);
	CHECK_U64(at(&table, 99), 0);
	CHECK_U64(at(&table, 100), 1);
	CHECK_U64(at(&table, 149), 1);
	CHECK_U64(at(&table, 150), 0);
	CHECK_U64(at(&table, 199), 0);
	CHECK_U64(at(&table, 200), 2);
	CHECK_U64(at(&table, 210), 0);
	CHECK_U64(at(&table, UINT64_MAX - 9), 3);
	CHECK_U64(at(&table, UINT64_MAX - 4), 0);
	CHECK_U64(at(&table, UINT64_MAX), 0);
	table_free(&table);
}

/* The drawing at the top of sym/table.c. */
TEST(table_innermost_wins)
{
	struct table table = { 0 };
	/* at 5, 10, 15, ... */
	static const uint32_t want[] = { 0, 1, 1, 2, 3, 2, 1, 1, 4, 4, 4, 0 };

	add(&table, 45, 15, FUNC, 4);
	add(&table, 25, 5, FUNC, 3);
	add(&table, 10, 40, FUNC, 1);
	add(&table, 20, 15, FUNC, 2);
	table_finish(&table);
	for (uint32_t i = 0; i < 12; i++)
		CHECK_U64(at(&table, 5 + 5 * i), want[i]);
	table_free(&table);
}

TEST(table_sizes_that_are_not_known)
{
	struct table table = { 0 };

	add(&table, 100, 900, OPEN, 1);		/* to the next */
	add(&table, 150, 850, LABEL, 2);	/* to the one with a size */
	add(&table, 300, 100, FUNC, 3);
	add(&table, 320, 680, LABEL, 4);	/* a label inside: none */
	add(&table, 350, 650, OPEN, 5);		/* to the end of 3 */
	add(&table, 500, 500, OPEN, 6);		/* to its section's end */
	add(&table, 300, 700, LABEL, 7);	/* another name of 3 */
	table_finish(&table);
	CHECK_U64(at(&table, 100), 1);
	CHECK_U64(at(&table, 149), 1);
	CHECK_U64(at(&table, 150), 2);
	CHECK_U64(at(&table, 299), 2);
	CHECK_U64(at(&table, 300), 3);
	CHECK_U64(at(&table, 330), 3);
	CHECK_U64(at(&table, 349), 3);
	CHECK_U64(at(&table, 350), 5);
	CHECK_U64(at(&table, 399), 5);
	CHECK_U64(at(&table, 400), 0);
	CHECK_U64(at(&table, 999), 6);
	CHECK_U64(at(&table, 1000), 0);
	table_free(&table);
}

TEST(table_names_of_one_place)
{
	struct table table = { 0 };
	const struct table_symbol *symbol;
	size_t alike;

	add(&table, 10, 10, FUNC, 1);
	add(&table, 10, 10, TABLE_FUNCTION + TABLE_SIZED + TABLE_GLOBAL, 2);
	add(&table, 10, 10, TABLE_FUNCTION + TABLE_SIZED + TABLE_WEAK, 3);
	add(&table, 10, 10, TABLE_FUNCTION + TABLE_SIZED + TABLE_GLOBAL, 4);
	add(&table, 10, 90, TABLE_FUNCTION + TABLE_GLOBAL, 5);
	add(&table, 12, 4, FUNC, 6);
	table_finish(&table);
	symbol = table_find(&table, 11, &alike);
	CHECK_U64(alike, 2);
	CHECK(symbol->name == 4 && symbol[-1].name == 2);
	CHECK_U64(at(&table, 13), 6);
	symbol = table_find(&table, 17, &alike);
	CHECK_U64(alike, 2);
	CHECK_U64(at(&table, 20), 0);
	table_free(&table);
}

/* Against the plain way: of all that hold it the one that starts last. */
TEST(table_as_the_plain_way)
{
	enum { SYMBOLS = 300, ROUNDS = 50 };
	struct table_symbol all[SYMBOLS];
	uint64_t scale[] = { 1, 1000, 1ull << 33, 1ull << 52 };

	srand(7);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t by = scale[round % 4];
		struct table table = { 0 };

		for (uint32_t i = 0; i < SYMBOLS; i++) {
			all[i] = (struct table_symbol){
				.start = (uint64_t)(rand() % 1000) * by,
				.size = 1 + (uint32_t)(rand() % 40),
				.name = i + 1, .rank = FUNC,
			};
			if (by < 1u << 20)
				all[i].size *= (uint32_t)by;
			table_add(&table, &all[i]);
		}
		table_finish(&table);
		CHECK_U64(table.count, SYMBOLS);
		for (uint64_t x = 0; x < 1050; x++) {
			const struct table_symbol *best = NULL, *got;
			uint64_t address = x * by;
			size_t alike;

			for (uint32_t i = 0; i < SYMBOLS; i++)
				if (all[i].start <= address &&
				    address - all[i].start < all[i].size &&
				    (!best || all[i].start > best->start ||
				     (all[i].start == best->start &&
				      all[i].size < best->size)))
					best = &all[i];
			got = table_find(&table, address, &alike);
			CHECK(!got == !best);
			if (got && best)
				CHECK(got->start == best->start &&
				      got->size == best->size);
		}
		table_free(&table);
	}
}

/* Symbols that others wrote to make us slow. */
TEST(table_hostile)
{
	struct table table = { 0 };
	enum { MANY = 200000 };

	for (uint32_t i = 0; i < MANY; i++)	/* a thousand deep and more */
		add(&table, i, 2 * (MANY - i), FUNC, i + 1);
	for (uint32_t i = 0; i < MANY; i++)	/* all in one place */
		add(&table, 1u << 30, 5 + i % 3, FUNC + i % 3, i + 1);
	for (uint32_t i = 0; i < MANY; i++)
		add(&table, 1u << 31, 1000, OPEN, i + 1);
	table_finish(&table);
	for (uint32_t i = 0; i < 1000; i++) {
		at(&table, i * 300);
		at(&table, (1u << 30) + i % 8);
		CHECK(at(&table, (1u << 31) + i));
	}
	CHECK_U64(at(&table, (1u << 31) + 1000), 0);
	table_free(&table);
}

TEST(clones_are_cut)
{
	static const char *const names[][2] = {
		{ "memcpy", "memcpy" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@GLIBC_2.2.5", "memcpy" },
		{ "@odd", "@odd" },
		{ "f.cold", "f" }, { "f.cold.12", "f" },
		{ "f.part.0", "f" }, { "f.part.0.cold", "f" },
		{ "f.isra.0.constprop.1", "f" },
		{ "_ZL4helpi.llvm.8242161234", "_ZL4helpi" },
		{ "_ZN4node3RunEv.part.0.cold", "_ZN4node3RunEv" },
		{ "f.lto_priv.3.localalias", "f" },
		{ "f.__uniq.12345.llvm.9", "f" },
		{ "main._omp_fn.0", "main._omp_fn.0" },
		{ "inner.0", "inner.0" }, { "sum.avx2", "sum.avx2" },
		{ ".cold", ".cold" }, { ".part.0", ".part.0" },
		{ "f.cold.", "f.cold." }, { "f.colder", "f.colder" },
		{ "f.part", "f.part" }, { "f.part.x", "f.part.x" },
		{ "", "" }, { ".", "." }, { "..", ".." }, { "a.0", "a.0" },
		{ "a..0", "a..0" }, { "isra.0", "isra.0" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char name[64];

		strcpy(name, names[i][0]);
		clones_cut(name);
		CHECK_TEXT(name, names[i][1]);
	}
}
