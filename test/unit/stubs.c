/* SPDX-License-Identifier: MIT */
/* Stubs of the PLT, in the layouts that linkers make. */
#include <stdlib.h>
#include <string.h>

#include "sym/image.h"
#include "test/unit/elves.h"
#include "test/unit/unit.h"

enum {
	PLT = 0x402000, GOT = 0x500000, DATA = 0x600000,
	RUNS = SHF_ALLOC | SHF_EXECINSTR,
};

struct stubs {
	struct elves elves;
	uint32_t plt, relocs;
};

/*
 * A file with a section of stubs, and two imports, puts and exit, in the slots
 * GOT + 0x18 and GOT + 0x20 (32 bits: GOT + 12, GOT + 16).
 */
static void begin(struct stubs *stubs, uint16_t machine, const char *name,
		  uint32_t type)
{
	struct elves *elves = &stubs->elves;
	bool narrow = machine == EM_386;
	uint32_t symbols, texts, got;

	*stubs = (struct stubs){ 0 };
	elves->machine = machine;
	elves->narrow = narrow;
	symbols = elves_add(elves, ".dynsym", SHT_DYNSYM, SHF_ALLOC, DATA);
	texts = elves_add(elves, ".dynstr", SHT_STRTAB, SHF_ALLOC, DATA);
	elves->sections[symbols].header.sh_link = texts;
	elves_put(elves, texts, "", 1);
	elves_symbol(elves, symbols, 0, 0, 0, 0, 0, 0);
	elves_symbol(elves, symbols, elves_text(elves, texts, "puts"),
		     STB_GLOBAL, STT_FUNC, 0, 0, 0);
	elves_symbol(elves, symbols, elves_text(elves, texts, "exit@V1"),
		     STB_GLOBAL, STT_FUNC, 0, 0, 0);
	got = elves_add(elves, ".got.plt", SHT_PROGBITS, SHF_ALLOC, GOT);
	elves_put(elves, got, "12345678", 8);
	stubs->relocs = elves_add(elves, narrow ? ".rel.plt" : ".rela.plt",
				  narrow ? SHT_REL : SHT_RELA, SHF_ALLOC, DATA);
	for (uint32_t i = 1; i <= 2; i++) {
		size_t word = narrow ? 4 : 8;

		elves_word(elves, stubs->relocs, GOT + (i + 2) * word);
		elves_word(elves, stubs->relocs,
			   (uint64_t)i << (narrow ? 8 : 32) | type);
		if (!narrow)
			elves_word(elves, stubs->relocs, 0);
	}
	stubs->plt = elves_add(elves, name, SHT_PROGBITS, RUNS, PLT);
}

static void code(struct stubs *stubs, const char *bytes, size_t size)
{
	elves_put(&stubs->elves, stubs->plt, bytes, size);
}

/* A distance from the end of what was put so far, and 4, to a slot. */
static void slot(struct stubs *stubs, unsigned int offset)
{
	uint64_t here = PLT + stubs->elves.sections[stubs->plt].bytes.length;

	elves_number(&stubs->elves, stubs->plt, GOT + offset - (here + 4), 4);
}

/* Checks the name at each byte of the section: `want` has a row per stub. */
static void check(struct stubs *stubs, const char *const *want, size_t count,
		  size_t size, size_t head)
{
	struct elves *elves = &stubs->elves;
	uint64_t from = elves_offset(stubs->plt);
	struct image *image;

	elves_segment(elves, PT_LOAD, PF_R | PF_X, from, PLT,
		      elves->sections[stubs->plt].bytes.length);
	image = image_open_memory(elves_bytes(elves));
	for (size_t i = 0; i < head + count * size; i++) {
		enum image_found how;
		struct image_name name;
		size_t number = i < head ? count : (i - head) / size;

		how = image_find(image, from + i, &name);
		if (number == count) {
			CHECK(how == IMAGE_FUNCTION);
			CHECK_U64(name.start, from);
			continue;
		}
		CHECK(how == (want[number] ? IMAGE_NAME : IMAGE_FUNCTION));
		CHECK(name.plt == (want[number] != NULL));
		if (want[number])
			CHECK_TEXT(name.name, want[number]);
		CHECK_U64(name.start, from + head + number * size);
		CHECK_U64(name.size, size);
	}
	image_close(image);
	elves_free(elves);
}

static const char *const both[] = { "puts@plt", "exit@plt" };

/* ld and lld: push GOT+8; jmp *GOT+16, then jmp *slot; push number; jmp. */
TEST(stubs_x86_64_lazy)
{
	struct stubs stubs;

	begin(&stubs, EM_X86_64, ".plt", R_X86_64_JUMP_SLOT);
	code(&stubs, "\xff\x35", 2);
	slot(&stubs, 8);
	code(&stubs, "\xff\x25", 2);
	slot(&stubs, 16);
	code(&stubs, "\x0f\x1f\x40\0", 4);
	for (char i = 0; i < 2; i++) {
		code(&stubs, "\xff\x25", 2);
		slot(&stubs, 0x18 + 8 * (unsigned int)i);
		code(&stubs, "\x68", 1);
		elves_number(&stubs.elves, stubs.plt, (uint64_t)i, 4);
		code(&stubs, "\xe9\0\0\0\0", 5);
	}
	check(&stubs, both, 2, 16, 16);
}

/* ld -z ibtplt: .plt only pushes, .plt.sec jumps. */
TEST(stubs_x86_64_ibt)
{
	struct stubs stubs;

	begin(&stubs, EM_X86_64, ".plt", R_X86_64_JUMP_SLOT);
	for (char i = 0; i < 2; i++) {
		code(&stubs, "\xf3\x0f\x1e\xfa\x68", 5);
		elves_number(&stubs.elves, stubs.plt, (uint64_t)i, 4);
		code(&stubs, "\xf2\xe9\0\0\0\0\x90", 7);
	}
	check(&stubs, both, 2, 16, 0);
	begin(&stubs, EM_X86_64, ".plt.sec", R_X86_64_JUMP_SLOT);
	for (unsigned int i = 0; i < 2; i++) {
		code(&stubs, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7);
		slot(&stubs, 0x18 + 8 * i);
		code(&stubs, "\x0f\x1f\x44\0\0", 5);
	}
	check(&stubs, both, 2, 16, 0);
}

/* .plt.got: 8 bytes each; a slot that no relocation fills has no name. */
TEST(stubs_x86_64_short)
{
	static const char *const want[] = { "puts@plt", NULL, "exit@plt" };
	struct stubs stubs;

	begin(&stubs, EM_X86_64, ".plt.got", R_X86_64_GLOB_DAT);
	for (unsigned int i = 0; i < 3; i++) {
		code(&stubs, "\xff\x25", 2);
		slot(&stubs, i == 1 ? 0x100 : 0x18 + 4 * i);
		code(&stubs, "\x66\x90", 2);
	}
	check(&stubs, want, 3, 8, 0);
}

/* mold: endbr64; mov $number, %r11d; jmp *slot. */
TEST(stubs_x86_64_mold)
{
	struct stubs stubs;

	begin(&stubs, EM_X86_64, ".plt", R_X86_64_JUMP_SLOT);
	for (unsigned int i = 0; i < 2; i++) {
		code(&stubs, "\xf3\x0f\x1e\xfa\x41\xbb", 6);
		elves_number(&stubs.elves, stubs.plt, i, 4);
		code(&stubs, "\xff\x25", 2);
		slot(&stubs, 0x18 + 8 * i);
	}
	check(&stubs, both, 2, 16, 0);
}

/* i386: by address, or by %ebx. */
TEST(stubs_i386)
{
	for (int pic = 0; pic < 2; pic++) {
		struct stubs stubs;

		begin(&stubs, EM_386, ".plt", R_386_JMP_SLOT);
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int offset = 12 + 4 * i;

			code(&stubs, pic ? "\xff\xa3" : "\xff\x25", 2);
			elves_number(&stubs.elves, stubs.plt,
				     pic ? offset : GOT + offset, 4);
			code(&stubs, "\x68", 1);
			elves_number(&stubs.elves, stubs.plt, i * 8, 4);
			code(&stubs, "\xe9\0\0\0\0", 5);
		}
		check(&stubs, both, 2, 16, 0);
	}
}

/* arm64: adrp x16, GOT; ldr x17, [x16, #low]; add; br, with bti c or not. */
TEST(stubs_arm64)
{
	for (int bti = 0; bti < 2; bti++) {
		struct stubs stubs;

		begin(&stubs, EM_AARCH64, ".plt", R_AARCH64_JUMP_SLOT);
		for (unsigned int i = 0; i < 2; i++) {
			uint32_t pages = (GOT - PLT) >> 12;
			uint32_t low = 0x18 + 8 * i;

			if (bti)
				elves_number(&stubs.elves, stubs.plt,
					     0xd503245f, 4);
			elves_number(&stubs.elves, stubs.plt, 0x90000010 |
				     (pages & 3) << 29 | pages >> 2 << 5, 4);
			elves_number(&stubs.elves, stubs.plt, 0xf9400211 |
				     low / 8 << 10, 4);
			elves_number(&stubs.elves, stubs.plt, 0x91000210 |
				     low << 10, 4);
			elves_number(&stubs.elves, stubs.plt, 0xd61f0220, 4);
		}
		check(&stubs, both, 2, bti ? 20 : 16, 0);
	}
}
