/* SPDX-License-Identifier: MIT */
/* What of a large table is needed. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/wanted.h"
#include "sym/symbols.h"
#include "sym/table.h"
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

/* --------------------------------------------------- symbols, all or a part */

enum { CODE = 0x1000, SYMBOLS = SYMBOLS_FEW + 100, NAME = 8 };

static struct elf_file_segment code = {
	.type = PT_LOAD, .flags = PF_X, .address = CODE, .memory_size = 0x100000,
};
static const struct elf_file file = {
	.wide = true, .machine = EM_X86_64, .segments = &code,
	.segment_count = 1,
};

/* A few that lie close together, with and without sizes, and many elsewhere. */
static void make_symbols(Elf64_Sym *symbols, int close)
{
	for (int i = 0; i < SYMBOLS; i++) {
		bool is_close = i < close, label = is_close && rand() % 3 == 0;

		symbols[i] = (Elf64_Sym){
			.st_name = (Elf64_Word)(1 + i * NAME), .st_shndx = 1,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, label ?
						 STT_NOTYPE : STT_FUNC),
			.st_value = is_close ? CODE + (Elf64_Addr)rand() % 100 :
				    0x50000 + (Elf64_Addr)i * 16,
			.st_size = !is_close ? 8 : label || rand() % 2 ? 0 :
				   (Elf64_Xword)rand() % 40 + 1,
		};
	}
}

static struct table table_of(const Elf64_Sym *symbols, const char *names,
			     struct wanted *wanted)
{
	struct elf_symtab symtab = {
		.file = &file, .count = SYMBOLS,
		.table = input_memory((struct bytes){
			(const uint8_t *)symbols, SYMBOLS * sizeof(*symbols),
		}),
		.texts = input_memory((struct bytes){
			(const uint8_t *)names, (SYMBOLS + 1) * NAME,
		}),
	};
	struct table table = { 0 };
	bool whole = true;

	symbols_add(&table, &symtab, 0, wanted, &whole);
	CHECK(whole == !wanted);
	table_finish(&table);
	elf_symtab_keep_texts(&symtab);
	return table;
}

/* A part of the symbols names the wanted addresses as all of them do. */
TEST(symbols_of_wanted_addresses)
{
	Elf64_Sym *symbols = memory_new(SYMBOLS, sizeof(*symbols));
	char *names = memory_new(SYMBOLS + 1, NAME);

	for (int i = 0; i < SYMBOLS; i++)
		snprintf(names + 1 + i * NAME, NAME, "f%d", i);
	srand(1);
	for (int round = 0; round < 500; round++) {
		size_t count = (size_t)rand() % 6 + 1;
		uint64_t addresses[6];
		struct wanted wanted;
		struct table all, part;

		make_symbols(symbols, rand() % 8 + 3);
		for (size_t i = 0; i < count; i++)
			addresses[i] = CODE + (uint64_t)rand() % 140;
		wanted_open(&wanted, addresses, count);
		all = table_of(symbols, names, NULL);
		part = table_of(symbols, names, &wanted);
		CHECK(part.count < 40);
		for (size_t i = 0; i < count; i++) {
			size_t alike;
			const struct table_symbol *a, *b;

			a = table_find(&all, addresses[i], &alike);
			b = table_find(&part, addresses[i], &alike);
			CHECK(!a == !b);
			if (a)
				CHECK_U64(a->name, b->name);
		}
		wanted_close(&wanted);
		table_free(&all);
		table_free(&part);
	}
	free(symbols);
	free(names);
}
