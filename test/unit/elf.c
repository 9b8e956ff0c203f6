/* SPDX-License-Identifier: MIT */
/* ELF and BTF: the real object whole, cut everywhere, and made-up ones. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/btf.h"
#include "elf/object.h"
#include "elf/symbols.h"
#include "test/unit/unit.h"

static bool inside(struct bytes file, const void *data, size_t size)
{
	const uint8_t *p = data;

	return p >= file.data && p + size <= file.data + file.size;
}

/* Reads all that can be read; what is given out has to lie in the file. */
static void read_all(struct bytes file)
{
	const char *why;
	struct elf elf;

	if (elf_open(&elf, file, &why)) {
		CHECK(why && *why);
		return;
	}
	for (uint32_t i = 0; i < elf.sections + 2; i++) {
		struct elf_section section;
		struct elf_symbols symbols;
		struct elf_symbol symbol;
		struct btf btf;

		if (elf_section(&elf, i, &section))
			continue;
		CHECK(i < elf.sections);
		CHECK(!*section.name ||
		      inside(file, section.name, strlen(section.name) + 1));
		if (!section.bytes.data)
			continue;
		CHECK(inside(file, section.bytes.data, section.bytes.size));
		if (!elf_symbols_open(&symbols, &elf, &section))
			for (uint64_t j = 0;
			     elf_symbol(&symbols, j, &symbol); j++)
				CHECK(!*symbol.name ||
				      inside(file, symbol.name,
					     strlen(symbol.name) + 1));
		if (!btf_open(&btf, section.bytes))
			for (uint32_t j = 0; j < btf.count + 2; j++) {
				struct btf_type type;
				uint64_t extra;
				uint32_t size;

				btf_type(&btf, j, &type, &extra);
				btf_size(&btf, j, &size);
				btf_length(&btf, j, &size);
			}
		btf_close(&btf);
	}
}

TEST(elf_cut_at_every_byte)
{
	struct bytes object = unit_object();

	for (size_t size = 0; size <= object.size; size++)
		read_all(unit_fenced(object.data, size));
}

TEST(elf_every_byte_changed)
{
	struct bytes object = unit_object();
	uint8_t *copy = malloc(object.size);
	static const uint8_t masks[] = { 0xff, 0x80, 0x01 };

	CHECK(copy);
	memcpy(copy, object.data, object.size);
	for (size_t at = 0; at < object.size; at++)
		for (size_t i = 0; i < sizeof(masks); i++) {
			copy[at] ^= masks[i];
			read_all(unit_fenced(copy, object.size));
			copy[at] ^= masks[i];
		}
	free(copy);
}

/* Section and symbol by symbol as <elf.h> itself would read them. */
TEST(elf_reads_what_is_there)
{
	struct bytes object = unit_object();
	const Elf64_Ehdr *header = (const void *)object.data;
	const Elf64_Shdr *table = (const void *)(object.data + header->e_shoff);
	const char *names = (const char *)object.data +
			    table[header->e_shstrndx].sh_offset;
	struct elf_section section;
	const char *why;
	struct elf elf;

	CHECK(!elf_open(&elf, object, &why));
	CHECK_U64(elf.sections, header->e_shnum);
	CHECK_U64(elf.machine, 247);	/* EM_BPF */
	CHECK(elf.sections > 5);
	for (uint32_t i = 1; i < elf.sections; i++) {
		CHECK(!elf_section(&elf, i, &section));
		CHECK_TEXT(section.name, names + table[i].sh_name);
		CHECK_U64(section.number, i);
		CHECK_U64(section.type, table[i].sh_type);
		CHECK_U64(section.flags, table[i].sh_flags);
		CHECK_U64(section.link, table[i].sh_link);
		CHECK_U64(section.info, table[i].sh_info);
		CHECK_U64(section.entry_size, table[i].sh_entsize);
		CHECK_U64(section.bytes.size, table[i].sh_size);
		CHECK(section.bytes.data == object.data + table[i].sh_offset);
	}
	CHECK(elf_section(&elf, elf.sections, &section));
	CHECK(elf_section(&elf, UINT32_MAX, &section));
	CHECK(!elf_section_named(&elf, "license", &section));
	CHECK_TEXT((const char *)section.bytes.data, "Dual MIT/GPL");
	CHECK(elf_section_named(&elf, ".nothing", &section) == -ENOENT);
}

TEST(elf_symbols_are_there)
{
	struct bytes object = unit_object();
	const Elf64_Ehdr *header = (const void *)object.data;
	const Elf64_Shdr *table = (const void *)(object.data + header->e_shoff);
	struct elf_section section;
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	const char *why, *texts;
	const Elf64_Sym *raw;
	struct elf elf;

	CHECK(!elf_open(&elf, object, &why));
	CHECK(!elf_section_named(&elf, ".symtab", &section));
	CHECK(!elf_symbols_open(&symbols, &elf, &section));
	raw = (const void *)(object.data + table[section.number].sh_offset);
	texts = (const char *)object.data + table[section.link].sh_offset;
	CHECK_U64(symbols.count,
		  table[section.number].sh_size / sizeof(Elf64_Sym));
	for (uint64_t i = 0; i < symbols.count; i++) {
		CHECK(elf_symbol(&symbols, i, &symbol));
		CHECK_TEXT(symbol.name, texts + raw[i].st_name);
		CHECK_U64(symbol.type, raw[i].st_info & 15);
		CHECK_U64(symbol.binding, raw[i].st_info >> 4);
		CHECK_U64(symbol.section, raw[i].st_shndx);
		CHECK_U64(symbol.value, raw[i].st_value);
		CHECK_U64(symbol.size, raw[i].st_size);
	}
	CHECK(!elf_symbol(&symbols, symbols.count, &symbol));
	CHECK(!elf_symbol(&symbols, UINT64_MAX, &symbol));
	CHECK(!elf_symbol(&symbols, UINT64_MAX / sizeof(Elf64_Sym) + 2,
			  &symbol));
	/* Of a section that is no symbol table. */
	CHECK(!elf_section_named(&elf, "license", &section));
	CHECK(elf_symbols_open(&symbols, &elf, &section) == -ENOEXEC);
}

/* ------------------------------------------------------- made-up ELF files */

struct small {
	Elf64_Ehdr header;
	Elf64_Shdr table[3];
	char names[32];
};

static struct small small_file(void)
{
	struct small small = {
		.header = {
			.e_ident = {
				ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
			},
			.e_machine = 247,
			.e_shoff = offsetof(struct small, table),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 1,
		},
		.names = "\0.names\0.text",
	};

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		small.header.e_ident[EI_DATA] = ELFDATA2MSB;
	small.table[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct small, names), .sh_size = 32,
	};
	small.table[2] = (Elf64_Shdr){
		.sh_name = 8, .sh_type = SHT_PROGBITS,
		.sh_offset = offsetof(struct small, names), .sh_size = 32,
	};
	return small;
}

static int open_small(const struct small *small, struct elf *elf)
{
	const char *why = NULL;
	int error = elf_open(elf, unit_fenced(small, sizeof(*small)), &why);

	CHECK(!error || (why && *why));
	return error;
}

TEST(elf_header_refusals)
{
	struct small small = small_file();
	struct elf elf;

	CHECK(!open_small(&small, &elf));
	CHECK_U64(elf.sections, 3);
	small.header.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small = small_file();
	small.header.e_ident[EI_DATA] ^= 3;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small = small_file();
	small.header.e_ident[0] = 0;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small = small_file();
	small.header.e_shentsize = 40;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small = small_file();
	small.header.e_shoff = UINT64_MAX - 3;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small = small_file();
	small.header.e_shnum = 0xfeff;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
}

/* More sections than e_shnum can say: entry 0 has the numbers. */
TEST(elf_extended_numbers)
{
	struct small small = small_file();
	struct elf_section section;
	struct elf elf;

	small.header.e_shnum = 0;
	small.header.e_shstrndx = SHN_XINDEX;
	small.table[0].sh_size = 3;
	small.table[0].sh_link = 1;
	CHECK(!open_small(&small, &elf));
	CHECK_U64(elf.sections, 3);
	CHECK(!elf_section_named(&elf, ".text", &section));
	CHECK_U64(section.number, 2);
	small.table[0].sh_size = UINT32_MAX;
	CHECK(open_small(&small, &elf) == -ENOEXEC);
	small.table[0].sh_size = (1ull << 32) + 3;
	CHECK(open_small(&small, &elf) || elf.sections <= 3);
}

TEST(elf_section_overflow)
{
	static const uint64_t bad[][2] = {
		{ UINT64_MAX, 1 }, { 1, UINT64_MAX }, { UINT64_MAX, UINT64_MAX },
		{ 1ull << 63, 1ull << 63 }, { sizeof(struct small), 1 },
		{ sizeof(struct small) + 1, 0 }, { 0, sizeof(struct small) + 1 },
	};
	struct elf_section section;
	struct small small;
	struct elf elf;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		small = small_file();
		small.table[2].sh_offset = bad[i][0];
		small.table[2].sh_size = bad[i][1];
		CHECK(!open_small(&small, &elf));
		CHECK(elf_section(&elf, 2, &section) == -ENOEXEC);
		CHECK(!section.bytes.size);
		/* SHT_NOBITS takes no room in the file. */
		small.table[2].sh_type = SHT_NOBITS;
		CHECK(!open_small(&small, &elf));
		CHECK(!elf_section(&elf, 2, &section));
		CHECK(!section.bytes.size);
	}
	/* A name that does not end, or is elsewhere, is no name. */
	small = small_file();
	memset(small.names, 'x', sizeof(small.names));
	CHECK(!open_small(&small, &elf));
	CHECK(!elf_section(&elf, 2, &section));
	CHECK_TEXT(section.name, "");
	small = small_file();
	small.table[2].sh_name = UINT32_MAX;
	CHECK(!open_small(&small, &elf));
	CHECK(!elf_section(&elf, 2, &section));
	CHECK_TEXT(section.name, "");
}

/* ------------------------------------------------------------------- BTF */

/* A .BTF section of these words behind its header, and no texts. */
static int open_words(struct btf *btf, const uint32_t *words, size_t count)
{
	struct {
		struct btf_header header;
		uint32_t words[64];
	} section = {
		.header = {
			.magic = BTF_MAGIC, .version = 1,
			.hdr_len = sizeof(struct btf_header),
			.type_len = (uint32_t)(count * 4),
			.str_off = (uint32_t)(count * 4),
		},
	};

	memcpy(section.words, words, count * 4);
	return btf_open(btf, unit_fenced(&section, sizeof(section.header) +
					 count * 4));
}

#define INFO(kind, members) ((uint32_t)(kind) << 24 | (members))

TEST(btf_sizes)
{
	static const uint32_t words[] = {
		/* 1 */ 0, INFO(BTF_KIND_INT, 0), 4, 32,
		/* 2 */ 0, INFO(BTF_KIND_PTR, 0), 1,
		/* 3 */ 0, INFO(BTF_KIND_TYPEDEF, 0), 1,
		/* 4 */ 0, INFO(BTF_KIND_CONST, 0), 3,
		/* 5 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 4, 1, 7,
		/* 6 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 5, 1, 3,
		/* 7 */ 0, INFO(BTF_KIND_STRUCT, 2), 12, 0, 1, 0, 0, 2, 32,
		/* 8 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 7, 1, 10,
		/* 9 */ 0, INFO(BTF_KIND_ENUM, 1), 4, 0, 0,
		/* 10 */ 0, INFO(BTF_KIND_FWD, 0), 0,
		/* 11 */ 0, INFO(BTF_KIND_UNION, 0), 16,
		/* 12 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 2, 1, 2,
	};
	static const uint32_t sizes[] = {
		0, 4, 8, 4, 4, 28, 84, 12, 120, 4, 0, 16, 16,
	};
	struct btf btf;

	CHECK(!open_words(&btf, words, sizeof(words) / 4));
	CHECK_U64(btf.count, 13);
	for (uint32_t i = 0; i < 13; i++) {
		uint32_t size = 77;

		CHECK(btf_size(&btf, i, &size) == (sizes[i] != 0));
		CHECK_U64(size, sizes[i] ? sizes[i] : 77);
	}
	{
		uint32_t length = 77;

		CHECK(btf_length(&btf, 5, &length));
		CHECK_U64(length, 7);
		CHECK(!btf_length(&btf, 1, &length));
		CHECK(!btf_length(&btf, 0, &length));
		CHECK(!btf_length(&btf, 99, &length));
	}
	btf_close(&btf);
}

TEST(btf_circles_and_overflows)
{
	static const uint32_t words[] = {
		/* 1 */ 0, INFO(BTF_KIND_TYPEDEF, 0), 2,
		/* 2 */ 0, INFO(BTF_KIND_CONST, 0), 1,
		/* 3 */ 0, INFO(BTF_KIND_TYPEDEF, 0), 3,
		/* 4 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 4, 4, 2,
		/* 5 */ 0, INFO(BTF_KIND_INT, 0), 8, 64,
		/* 6 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 5, 5, 0x20000000,
		/* 7 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 6, 5, 0xffffffff,
		/* 8 */ 0, INFO(BTF_KIND_TYPEDEF, 0), 0xffffffff,
		/* 9 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 5, 5, 0x1fffffff,
		/* 10 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 5, 5, 0x80000000,
		/* 11 */ 0, INFO(BTF_KIND_ARRAY, 0), 0, 10, 5, 0x80000000,
	};
	uint32_t size = 77;
	struct btf btf;

	alarm(5);	/* a circle takes no time */
	CHECK(!open_words(&btf, words, sizeof(words) / 4));
	for (uint32_t i = 1; i <= 4; i++)
		CHECK(!btf_size(&btf, i, &size));
	CHECK(!btf_size(&btf, 6, &size));	/* 2^32 bytes */
	CHECK(!btf_size(&btf, 7, &size));
	CHECK(!btf_size(&btf, 8, &size));
	CHECK(!btf_size(&btf, 11, &size));	/* 2^65: 0 in 64 bits */
	CHECK_U64(size, 77);
	CHECK(btf_size(&btf, 9, &size));
	CHECK_U64(size, 0xfffffff8);
	btf_close(&btf);
}

TEST(btf_refusals)
{
	static const uint32_t unknown[] = { 0, INFO(31, 0), 0 };
	static const uint32_t cut[] = { 0, INFO(BTF_KIND_PTR, 0) };
	struct btf_header header = {
		.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(header),
	};
	struct btf btf;

	CHECK(open_words(&btf, unknown, 3) == -ENOEXEC);
	btf_close(&btf);
	CHECK(open_words(&btf, cut, 2) == -ENOEXEC);
	btf_close(&btf);
	CHECK(!btf_open(&btf, unit_fenced(&header, sizeof(header))));
	CHECK_U64(btf.count, 1);
	btf_close(&btf);
	header.type_len = 1;
	CHECK(btf_open(&btf, unit_fenced(&header, sizeof(header))) == -ENOEXEC);
	btf_close(&btf);
	header.type_len = 0;
	header.str_off = UINT32_MAX;
	CHECK(btf_open(&btf, unit_fenced(&header, sizeof(header))) == -ENOEXEC);
	btf_close(&btf);
	header.str_off = 0;
	header.hdr_len = UINT32_MAX;
	header.type_off = UINT32_MAX;
	CHECK(btf_open(&btf, unit_fenced(&header, sizeof(header))) == -ENOEXEC);
	btf_close(&btf);
	header.hdr_len = sizeof(header);
	header.type_off = 0;
	header.magic = 0x9feb;	/* of the other byte order */
	CHECK(btf_open(&btf, unit_fenced(&header, sizeof(header))) == -ENOEXEC);
	btf_close(&btf);
	CHECK(btf_open(&btf, (struct bytes){ 0 }) == -ENOEXEC);
	btf_close(&btf);
}
