/* SPDX-License-Identifier: MIT */
/*
 * elves: small ELF files, made to measure.
 *
 * One PT_LOAD that runs, at `address` and from `offset` of the file, and
 * whatever sections a test adds.  The file is put together by elves_bytes().
 */
#ifndef TEST_UNIT_ELVES_H
#define TEST_UNIT_ELVES_H

#include <elf.h>

#include "lib/bytes.h"
#include "lib/text.h"

struct elves_section {
	const char *name;
	Elf64_Shdr header;	/* sh_offset and sh_size are filled in */
	struct text bytes;
};

struct elves {
	bool narrow;		/* 32 bits */
	bool swapped;		/* the other byte order */
	bool no_sections;	/* no section table */
	uint16_t type, machine;	/* 0: ET_DYN, EM_X86_64 */
	uint64_t entry;
	Elf64_Phdr segments[8];	/* offsets as the file will have them */
	size_t segment_count;
	struct elves_section sections[24];
	size_t section_count;	/* [0] is the reserved one */
	struct text file;
};

/* Where the section's bytes are to be in the file; its bytes come later. */
enum { ELVES_AT = 0x1000, ELVES_SECTION = 0x1000 };

/*
 * A section whose bytes are at ELVES_AT + number * ELVES_SECTION of the file;
 * its number.  It holds up to ELVES_SECTION bytes.
 */
uint32_t elves_add(struct elves *elves, const char *name, uint32_t type,
		   uint64_t flags, uint64_t address);
uint64_t elves_offset(uint32_t section);

/* Bytes, and numbers in the file's own order, to the end of a section. */
void elves_put(struct elves *elves, uint32_t section, const void *bytes,
	       size_t size);
void elves_number(struct elves *elves, uint32_t section, uint64_t value,
		  size_t size);
void elves_word(struct elves *elves, uint32_t section, uint64_t value);
void elves_align(struct elves *elves, uint32_t section, size_t to);

/* A text; where it begins. */
uint32_t elves_text(struct elves *elves, uint32_t section, const char *text);

void elves_symbol(struct elves *elves, uint32_t table, uint32_t name,
		  uint8_t binding, uint8_t type, uint16_t section,
		  uint64_t value, uint64_t size);

void elves_segment(struct elves *elves, uint32_t type, uint32_t flags,
		   uint64_t offset, uint64_t address, uint64_t size);

/* The file; valid until elves_free(). */
struct bytes elves_bytes(struct elves *elves);
void elves_free(struct elves *elves);

#endif
