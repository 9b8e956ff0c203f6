/* SPDX-License-Identifier: MIT */
/* elves: small ELF files, made to measure. */
#include <byteswap.h>
#include <string.h>

#include "test/unit/elves.h"
#include "test/unit/unit.h"

uint32_t elves_add(struct elves *elves, const char *name, uint32_t type,
		   uint64_t flags, uint64_t address)
{
	struct elves_section *section;

	if (!elves->section_count)
		elves->section_count = 1;
	CHECK(elves->section_count < 24);
	section = &elves->sections[elves->section_count];
	section->name = name;
	section->header.sh_type = type;
	section->header.sh_flags = flags;
	section->header.sh_addr = address;
	return (uint32_t)elves->section_count++;
}

uint64_t elves_offset(uint32_t section)
{
	return ELVES_AT + section * (uint64_t)ELVES_SECTION;
}

void elves_put(struct elves *elves, uint32_t section, const void *bytes,
	       size_t size)
{
	text_add(&elves->sections[section].bytes, bytes, size);
	CHECK(elves->sections[section].bytes.length <= ELVES_SECTION);
}

/* The file's order, if this machine's is little endian or not. */
static void store(const struct elves *elves, uint8_t *to, uint64_t value,
		  size_t size)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != elves->swapped;

	for (size_t i = 0; i < size; i++)
		to[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void elves_number(struct elves *elves, uint32_t section, uint64_t value,
		  size_t size)
{
	uint8_t bytes[8];

	store(elves, bytes, value, size);
	elves_put(elves, section, bytes, size);
}

void elves_word(struct elves *elves, uint32_t section, uint64_t value)
{
	elves_number(elves, section, value, elves->narrow ? 4 : 8);
}

void elves_align(struct elves *elves, uint32_t section, size_t to)
{
	while (elves->sections[section].bytes.length % to)
		elves_put(elves, section, "", 1);
}

uint32_t elves_text(struct elves *elves, uint32_t section, const char *text)
{
	uint32_t at = (uint32_t)elves->sections[section].bytes.length;

	elves_put(elves, section, text, strlen(text) + 1);
	return at;
}

void elves_symbol(struct elves *elves, uint32_t table, uint32_t name,
		  uint8_t binding, uint8_t type, uint16_t section,
		  uint64_t value, uint64_t size)
{
	elves_number(elves, table, name, 4);
	if (elves->narrow) {
		elves_number(elves, table, value, 4);
		elves_number(elves, table, size, 4);
	}
	elves_number(elves, table, (uint64_t)binding << 4 | type, 1);
	elves_number(elves, table, 0, 1);
	elves_number(elves, table, section, 2);
	if (!elves->narrow) {
		elves_number(elves, table, value, 8);
		elves_number(elves, table, size, 8);
	}
}

void elves_segment(struct elves *elves, uint32_t type, uint32_t flags,
		   uint64_t offset, uint64_t address, uint64_t size)
{
	CHECK(elves->segment_count < 8);
	elves->segments[elves->segment_count++] = (Elf64_Phdr){
		.p_type = type, .p_flags = flags, .p_offset = offset,
		.p_vaddr = address, .p_filesz = size, .p_memsz = size,
		.p_align = 0x1000,
	};
}

static void file_number(struct elves *elves, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	store(elves, bytes, value, size);
	text_add(&elves->file, (char *)bytes, size);
}

static void file_pad(struct elves *elves, uint64_t to)
{
	static const char zeros[64];

	CHECK(elves->file.length <= to);
	while (elves->file.length < to) {
		size_t size = to - elves->file.length;

		text_add(&elves->file, zeros, size < 64 ? size : 64);
	}
}

static void put_header(struct elves *elves, uint64_t sections)
{
	size_t word = elves->narrow ? 4 : 8;
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != elves->swapped;
	uint8_t ident[16] = {
		0x7f, 'E', 'L', 'F', elves->narrow ? ELFCLASS32 : ELFCLASS64,
		big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT,
	};
	bool none = elves->no_sections;

	text_add(&elves->file, (char *)ident, 16);
	file_number(elves, elves->type ? elves->type : ET_DYN, 2);
	file_number(elves, elves->machine ? elves->machine : EM_X86_64, 2);
	file_number(elves, 1, 4);
	file_number(elves, elves->entry, word);
	file_number(elves, elves->narrow ? 52 : 64, word);
	file_number(elves, none ? 0 : sections, word);
	file_number(elves, 0, 4);
	file_number(elves, elves->narrow ? 52 : 64, 2);
	file_number(elves, elves->narrow ? 32 : 56, 2);
	file_number(elves, elves->segment_count, 2);
	file_number(elves, elves->narrow ? 40 : 64, 2);
	file_number(elves, none ? 0 : elves->section_count, 2);
	file_number(elves, none ? 0 : elves->section_count - 1, 2);
}

static void put_segment(struct elves *elves, const Elf64_Phdr *segment)
{
	size_t word = elves->narrow ? 4 : 8;

	file_number(elves, segment->p_type, 4);
	if (!elves->narrow)
		file_number(elves, segment->p_flags, 4);
	file_number(elves, segment->p_offset, word);
	file_number(elves, segment->p_vaddr, word);
	file_number(elves, segment->p_vaddr, word);
	file_number(elves, segment->p_filesz, word);
	file_number(elves, segment->p_memsz, word);
	if (elves->narrow)
		file_number(elves, segment->p_flags, 4);
	file_number(elves, segment->p_align, word);
}

static void put_section(struct elves *elves, uint32_t number, uint32_t name)
{
	const struct elves_section *section = &elves->sections[number];
	const Elf64_Shdr *header = &section->header;
	size_t word = elves->narrow ? 4 : 8;

	file_number(elves, name, 4);
	file_number(elves, header->sh_type, 4);
	file_number(elves, header->sh_flags, word);
	file_number(elves, header->sh_addr, word);
	file_number(elves, header->sh_offset ? header->sh_offset :
		    number ? elves_offset(number) : 0, word);
	file_number(elves, header->sh_size ? header->sh_size :
		    section->bytes.length, word);
	file_number(elves, header->sh_link, 4);
	file_number(elves, header->sh_info, 4);
	file_number(elves, header->sh_addralign, word);
	file_number(elves, header->sh_entsize, word);
}

struct bytes elves_bytes(struct elves *elves)
{
	uint32_t names[24] = { 0 }, texts;
	uint64_t table;

	elves->file.length = 0;
	texts = elves_add(elves, ".shstrtab", SHT_STRTAB, 0, 0);
	elves_put(elves, texts, "", 1);
	for (uint32_t i = 1; i <= texts; i++)
		names[i] = elves_text(elves, texts, elves->sections[i].name);
	table = elves_offset(texts + 1);
	put_header(elves, table);
	for (size_t i = 0; i < elves->segment_count; i++)
		put_segment(elves, &elves->segments[i]);
	for (uint32_t i = 1; i <= texts; i++) {
		file_pad(elves, elves_offset(i));
		if (!elves->sections[i].bytes.length)
			continue;
		text_add(&elves->file, elves->sections[i].bytes.data,
			 elves->sections[i].bytes.length);
	}
	file_pad(elves, table);
	for (uint32_t i = 0; i <= texts; i++)
		put_section(elves, i, names[i]);
	elves->sections[texts].bytes.length = 0;
	elves->section_count--;
	return (struct bytes){ (uint8_t *)elves->file.data,
			       elves->file.length };
}

void elves_free(struct elves *elves)
{
	for (size_t i = 0; i < 24; i++)
		text_free(&elves->sections[i].bytes);
	text_free(&elves->file);
	*elves = (struct elves){ 0 };
}
