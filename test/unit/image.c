/* SPDX-License-Identifier: MIT */
/* From offsets of a file to names: each source and each rule, on made-up files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/checksum.h"
#include "sym/image.h"
#include "test/unit/elves.h"
#include "test/unit/unit.h"

enum {
	TEXT = 0x401000,	/* where code is loaded */
	DATA = 0x600000,
	RUNS = SHF_ALLOC | SHF_EXECINSTR,
};

/* A file with a .text of 4096 bytes as section 1, loaded at TEXT. */
static struct elves with_text(void)
{
	struct elves elves = { 0 };
	char code[4096];
	uint32_t text = elves_add(&elves, ".text", SHT_PROGBITS, RUNS, TEXT);

	memset(code, 0x90, sizeof(code));
	elves_put(&elves, text, code, sizeof(code));
	elves_segment(&elves, PT_LOAD, PF_R | PF_X, elves_offset(text), TEXT,
		      sizeof(code));
	return elves;
}

/* A table and its texts; the number of the table, whose texts come next. */
static uint32_t with_table(struct elves *elves, uint32_t type)
{
	uint32_t table, texts;

	table = elves_add(elves, type == SHT_SYMTAB ? ".symtab" : ".dynsym",
			  type, type == SHT_DYNSYM ? SHF_ALLOC : 0,
			  type == SHT_DYNSYM ? DATA : 0);
	texts = elves_add(elves, type == SHT_SYMTAB ? ".strtab" : ".dynstr",
			  SHT_STRTAB, type == SHT_DYNSYM ? SHF_ALLOC : 0,
			  type == SHT_DYNSYM ? DATA + ELVES_SECTION : 0);
	elves->sections[table].header.sh_link = texts;
	elves_put(elves, texts, "", 1);
	elves_symbol(elves, table, 0, 0, 0, 0, 0, 0);
	return table;
}

static void function(struct elves *elves, uint32_t table, const char *name,
		     uint64_t value, uint64_t size)
{
	elves_symbol(elves, table, elves_text(elves, table + 1, name),
		     STB_GLOBAL, STT_FUNC, 1, value, size);
}

/* The answer at an address of .text, as a text; valid until the next call. */
static const char *ask(struct image *image, uint64_t address)
{
	static char text[256];
	struct image_name name;

	switch (image_find(image, address - TEXT + elves_offset(1), &name)) {
	case IMAGE_NAME:
		CHECK(name.name && *name.name);
		return name.name;
	case IMAGE_FUNCTION:
		CHECK(!name.name);
		snprintf(text, sizeof(text), "[%x+%u]",
			 (unsigned int)(name.start - elves_offset(1)),
			 (unsigned int)name.size);
		return text;
	default:
		CHECK(!name.name && !name.start && !name.size);
		return "-";
	}
}

TEST(image_symtab_of_each_class_and_order)
{
	for (int kind = 0; kind < 4; kind++) {
		struct elves elves = with_text();
		struct image *image;
		struct image_name name;
		uint32_t table;

		elves.narrow = kind & 1;
		elves.swapped = kind & 2;
		elves.machine = elves.narrow ? EM_386 : 0;
		table = with_table(&elves, SHT_SYMTAB);
		function(&elves, table, "first", TEXT + 0x10, 0x20);
		function(&elves, table, "second", TEXT + 0x40, 0x10);
		image = image_open_memory(elves_bytes(&elves));
		CHECK_TEXT(ask(image, TEXT + 0x10), "first");
		CHECK_TEXT(ask(image, TEXT + 0x2f), "first");
		CHECK_TEXT(ask(image, TEXT + 0x30), "-");
		CHECK_TEXT(ask(image, TEXT + 0x4f), "second");
		CHECK_TEXT(ask(image, TEXT + 0xf), "-");
		CHECK(image_find(image, elves_offset(1) + 0x48, &name) ==
		      IMAGE_NAME);
		CHECK_U64(name.start, elves_offset(1) + 0x40);
		CHECK_U64(name.size, 0x10);
		CHECK(!name.plt && !image_why(image));
		/* No segment holds these. */
		CHECK(image_find(image, 0, &name) == IMAGE_NOTHING);
		CHECK(image_find(image, UINT64_MAX, &name) == IMAGE_NOTHING);
		image_close(image);
		elves_free(&elves);
	}
}

/* The PT_LOAD that holds the offset has the address, whatever the type says. */
TEST(image_offsets_by_segment)
{
	static const uint16_t types[] = { ET_EXEC, ET_DYN };

	for (int i = 0; i < 2; i++) {
		struct elves elves = { .type = types[i] };
		uint32_t low = elves_add(&elves, ".text", SHT_PROGBITS, RUNS,
					 0x7000);
		uint32_t high = elves_add(&elves, ".far", SHT_PROGBITS, RUNS,
					  0x100000);
		uint32_t table = with_table(&elves, SHT_SYMTAB);
		struct image_name name;
		struct image *image;

		elves_put(&elves, low, "12345678", 8);
		elves_put(&elves, high, "12345678", 8);
		/* Not in the order of their addresses, nor apart in the file. */
		elves_segment(&elves, PT_LOAD, PF_R | PF_X, elves_offset(high),
			      0x100000, 8);
		elves_segment(&elves, PT_LOAD, PF_R, elves_offset(low),
			      0x900000, 8);
		elves_segment(&elves, PT_LOAD, PF_R | PF_X, elves_offset(low),
			      0x7000, 8);
		function(&elves, table, "near", 0x7000, 8);
		function(&elves, table, "far", 0x100000, 4);
		function(&elves, table, "data", 0x900000, 8);
		image = image_open_memory(elves_bytes(&elves));
		CHECK(image_find(image, elves_offset(low) + 7, &name) ==
		      IMAGE_NAME);
		CHECK_TEXT(name.name, "near");
		CHECK(image_find(image, elves_offset(high) + 3, &name) ==
		      IMAGE_NAME);
		CHECK_TEXT(name.name, "far");
		CHECK(image_find(image, elves_offset(high) + 4, &name) ==
		      IMAGE_NOTHING);
		image_close(image);
		elves_free(&elves);
	}
}

TEST(image_which_symbols_count)
{
	struct elves elves = with_text();
	uint32_t data = elves_add(&elves, ".data", SHT_PROGBITS, SHF_ALLOC,
				  DATA + 0x10000);
	uint32_t table = with_table(&elves, SHT_SYMTAB);
	struct image *image;

#define SYMBOL(name, binding, type, section, value, size)		\
	elves_symbol(&elves, table, elves_text(&elves, table + 1, name),\
		     binding, type, section, value, size)
	SYMBOL("object", STB_GLOBAL, STT_OBJECT, 1, TEXT + 0x10, 16);
	SYMBOL("label", STB_GLOBAL, STT_NOTYPE, 1, TEXT + 0x20, 16);
	SYMBOL("indirect", STB_GLOBAL, STT_GNU_IFUNC, 1, TEXT + 0x30, 16);
	SYMBOL("elsewhere", STB_GLOBAL, STT_FUNC, SHN_UNDEF, TEXT + 0x40, 16);
	SYMBOL("number", STB_GLOBAL, STT_NOTYPE, SHN_ABS, TEXT + 0x50, 16);
	SYMBOL("datum", STB_GLOBAL, STT_NOTYPE, (uint16_t)data, TEXT + 0x60, 16);
	SYMBOL(".L12", STB_LOCAL, STT_NOTYPE, 1, TEXT + 0x70, 16);
	SYMBOL("__alias", STB_GLOBAL, STT_FUNC, 1, TEXT + 0x80, 16);
	SYMBOL("weak", STB_WEAK, STT_FUNC, 1, TEXT + 0x80, 16);
	SYMBOL("local", STB_LOCAL, STT_FUNC, 1, TEXT + 0x80, 16);
	SYMBOL("__two", STB_GLOBAL, STT_FUNC, 1, TEXT + 0x90, 16);
	SYMBOL("_two", STB_GLOBAL, STT_FUNC, 1, TEXT + 0x90, 16);
	SYMBOL("one@@V2", STB_GLOBAL, STT_FUNC, 1, TEXT + 0xa0, 16);
	SYMBOL("f.part.0.cold", STB_LOCAL, STT_FUNC, 1, TEXT + 0xb0, 16);
	SYMBOL("$x", STB_LOCAL, STT_NOTYPE, 1, TEXT + 0xc0, 0);
	SYMBOL("", STB_GLOBAL, STT_FUNC, 1, TEXT + 0xd0, 16);
	image = image_open_memory(elves_bytes(&elves));
	CHECK_TEXT(ask(image, TEXT + 0x18), "-");
	CHECK_TEXT(ask(image, TEXT + 0x28), "label");
	CHECK_TEXT(ask(image, TEXT + 0x38), "indirect");
	CHECK_TEXT(ask(image, TEXT + 0x48), "-");
	CHECK_TEXT(ask(image, TEXT + 0x58), "-");
	CHECK_TEXT(ask(image, TEXT + 0x68), "-");
	CHECK_TEXT(ask(image, TEXT + 0x78), "-");
	CHECK_TEXT(ask(image, TEXT + 0x88), "__alias");
	CHECK_TEXT(ask(image, TEXT + 0x98), "_two");
	CHECK_TEXT(ask(image, TEXT + 0xa8), "one");
	CHECK_TEXT(ask(image, TEXT + 0xb8), "f");
	/* A name like any other, on this CPU. */
	CHECK_TEXT(ask(image, TEXT + 0xc8), "$x");
	CHECK_TEXT(ask(image, TEXT + 0xd8), "[d0+16]");
	image_close(image);
	elves_free(&elves);
}

TEST(image_marks_of_arm_and_riscv)
{
	static const char *const marks[] = {
		"$x", "$d", "$a", "$t", "$x.12", "$d.realdata",
		"$xrv64i2p1_m2p0", ".L0",
	};
	static const uint16_t machines[] = { EM_AARCH64, EM_ARM, EM_RISCV };

	for (int m = 0; m < 3; m++) {
		struct elves elves = with_text();
		uint32_t table = with_table(&elves, SHT_SYMTAB);
		struct image *image;

		elves.machine = machines[m];
		SYMBOL("unsized", STB_GLOBAL, STT_FUNC, 1, TEXT, 0);
		for (uint32_t i = 0; i < 8; i++)
			elves_symbol(&elves, table,
				     elves_text(&elves, table + 1, marks[i]),
				     STB_LOCAL, STT_NOTYPE, 1,
				     TEXT + 16 * (i + 1), 0);
		SYMBOL("$money", STB_LOCAL, STT_NOTYPE, 1, TEXT + 0x100, 0);
		SYMBOL("thumb", STB_LOCAL, STT_FUNC, 1, TEXT + 0x201, 16);
		image = image_open_memory(elves_bytes(&elves));
		for (uint64_t i = 0; i < 16; i++)
			CHECK_TEXT(ask(image, TEXT + i * 16 + 4), "unsized");
		CHECK_TEXT(ask(image, TEXT + 0x104), "$money");
		CHECK_TEXT(ask(image, TEXT + 0x200),
			   machines[m] == EM_ARM ? "thumb" : "$money");
		image_close(image);
		elves_free(&elves);
	}
#undef SYMBOL
}

/* Without sections: what PT_DYNAMIC says, by either hash table. */
TEST(image_dynamic_without_sections)
{
	for (int kind = 0; kind < 4; kind++) {
		struct elves elves = with_text();
		uint32_t table, hash, list;
		struct image *image;
		bool gnu = kind & 1;

		elves.narrow = kind & 2;
		elves.machine = elves.narrow ? EM_386 : 0;
		table = with_table(&elves, SHT_DYNSYM);
		hash = elves_add(&elves, ".hash", SHT_HASH, SHF_ALLOC, 0);
		list = elves_add(&elves, ".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0);
		function(&elves, table, "one", TEXT, 16);
		function(&elves, table, "two", TEXT + 16, 16);
		function(&elves, table, "unsized", TEXT + 32, 0);
		if (gnu) {
			/* Symbols 1 to 3 in one chain; a bloom of one word. */
			static const uint32_t head[] = { 2, 1, 1, 0 };

			for (int i = 0; i < 4; i++)
				elves_number(&elves, hash, head[i], 4);
			elves_word(&elves, hash, 0);
			elves_number(&elves, hash, 1, 4);
			elves_number(&elves, hash, 0, 4);
			elves_number(&elves, hash, 2, 4);
			elves_number(&elves, hash, 2, 4);
			elves_number(&elves, hash, 3, 4);
		} else {
			elves_number(&elves, hash, 1, 4);
			elves_number(&elves, hash, 4, 4);
		}
		elves_segment(&elves, PT_LOAD, PF_R, elves_offset(table), DATA,
			      4 * ELVES_SECTION);
		elves_segment(&elves, PT_DYNAMIC, PF_R, elves_offset(list),
			      DATA + 3 * ELVES_SECTION, 0x200);
		elves_word(&elves, list, DT_SYMTAB);
		elves_word(&elves, list, DATA);
		elves_word(&elves, list, DT_STRTAB);
		elves_word(&elves, list, DATA + ELVES_SECTION);
		elves_word(&elves, list, DT_STRSZ);
		elves_word(&elves, list, 64);
		elves_word(&elves, list, gnu ? DT_GNU_HASH : DT_HASH);
		elves_word(&elves, list, DATA + 2 * ELVES_SECTION);
		elves_word(&elves, list, 0);
		elves_word(&elves, list, 0);
		elves.no_sections = true;
		image = image_open_memory(elves_bytes(&elves));
		CHECK_TEXT(ask(image, TEXT + 15), "one");
		CHECK_TEXT(ask(image, TEXT + 16), "two");
		/* How far it reaches nobody knows: what was stripped may follow. */
		CHECK_TEXT(ask(image, TEXT + 32), "unsized");
		CHECK_TEXT(ask(image, TEXT + 33), "-");
		image_close(image);
		elves_free(&elves);
	}
}

/* ------------------------------------------------------------- .eh_frame */

/* A CIE and FDEs for TEXT+0x100..0x140 and TEXT+0x200..0x210. */
static void add_frames(struct elves *elves, bool header)
{
	static const uint64_t starts[][2] = { { 0x100, 0x40 }, { 0x200, 0x10 } };
	uint32_t frame = elves_add(elves, ".eh_frame", SHT_PROGBITS, SHF_ALLOC,
				   DATA + 0x20000);
	uint32_t table;
	uint64_t at[2];

	elves_number(elves, frame, 20, 4);
	elves_number(elves, frame, 0, 4);
	elves_put(elves, frame, "\1zR\0\1\x78\x10\1\x1b", 9);
	elves_put(elves, frame, "\0\0\0\0\0\0\0", 7);
	for (int i = 0; i < 2; i++) {
		uint64_t here = elves->sections[frame].bytes.length;

		at[i] = DATA + 0x20000 + here;
		elves_number(elves, frame, 16, 4);
		elves_number(elves, frame, here + 4, 4);
		elves_number(elves, frame, TEXT + starts[i][0] - (at[i] + 8),
			     4);
		elves_number(elves, frame, starts[i][1], 4);
		elves_number(elves, frame, 0, 4);
	}
	elves_number(elves, frame, 0, 4);
	elves_segment(elves, PT_LOAD, PF_R, elves_offset(frame),
		      DATA + 0x20000, 2 * ELVES_SECTION);
	if (!header)
		return;
	table = elves_add(elves, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC,
			  DATA + 0x20000 + ELVES_SECTION);
	elves_put(elves, table, "\1\x1b\3\x3b", 4);
	elves_number(elves, table, -(uint64_t)ELVES_SECTION - 4, 4);
	elves_number(elves, table, 2, 4);
	for (int i = 0; i < 2; i++) {
		elves_number(elves, table, TEXT + starts[i][0] -
			     (DATA + 0x20000 + ELVES_SECTION), 4);
		elves_number(elves, table, at[i] -
			     (DATA + 0x20000 + ELVES_SECTION), 4);
	}
	elves_segment(elves, PT_GNU_EH_FRAME, PF_R, elves_offset(table),
		      DATA + 0x20000 + ELVES_SECTION, 28);
}

TEST(image_bounds_of_stripped_code)
{
	for (int header = 0; header < 2; header++) {
		struct elves elves = with_text();
		struct image *image;

		add_frames(&elves, header);
		image = image_open_memory(elves_bytes(&elves));
		CHECK_TEXT(ask(image, TEXT + 0xff), "-");
		CHECK_TEXT(ask(image, TEXT + 0x100), "[100+64]");
		CHECK_TEXT(ask(image, TEXT + 0x13f), "[100+64]");
		CHECK_TEXT(ask(image, TEXT + 0x140), "-");
		CHECK_TEXT(ask(image, TEXT + 0x20f), "[200+16]");
		CHECK_TEXT(ask(image, TEXT + 0x210), "-");
		image_close(image);
		elves_free(&elves);
	}
}

/* What has no size ends where another function begins. */
TEST(image_bounds_end_symbols)
{
	struct elves elves = with_text();
	uint32_t table = with_table(&elves, SHT_SYMTAB);
	struct image *image;

	add_frames(&elves, true);
	function(&elves, table, "unsized", TEXT + 0xf0, 0);
	function(&elves, table, "framed", TEXT + 0x200, 0);
	image = image_open_memory(elves_bytes(&elves));
	CHECK_TEXT(ask(image, TEXT + 0xff), "unsized");
	CHECK_TEXT(ask(image, TEXT + 0x100), "[100+64]");
	CHECK_TEXT(ask(image, TEXT + 0x150), "-");
	CHECK_TEXT(ask(image, TEXT + 0x20f), "framed");
	image_close(image);
	elves_free(&elves);
}

/* .dynsym of a stripped file: as far as .eh_frame proves. */
TEST(image_bounds_of_exports)
{
	struct elves elves = with_text();
	uint32_t table = with_table(&elves, SHT_DYNSYM);
	struct image *image;

	add_frames(&elves, true);
	function(&elves, table, "exported", TEXT + 0x200, 0);
	function(&elves, table, "bare", TEXT + 0x300, 0);
	image = image_open_memory(elves_bytes(&elves));
	CHECK_TEXT(ask(image, TEXT + 0x20f), "exported");
	CHECK_TEXT(ask(image, TEXT + 0x210), "-");
	CHECK_TEXT(ask(image, TEXT + 0x300), "bare");
	CHECK_TEXT(ask(image, TEXT + 0x301), "-");
	image_close(image);
	elves_free(&elves);
}
