/* SPDX-License-Identifier: MIT */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <byteswap.h>
#include <elf.h>
#include <string.h>

#include "lib/input.h"

/*
 * Anybody's ELF file: 32 or 64 bits, of either byte order, with sections,
 * segments or both.  Nothing in it is believed.
 */
struct elf_file {
	struct input input;
	bool wide, swapped;	/* 64 bits; not this machine's byte order */
	uint16_t type, machine;	/* ET_, EM_ */
	uint64_t entry;		/* where it begins to run */
	struct elf_file_segment *segments;
	struct elf_file_section *sections;	/* [0] is reserved */
	uint32_t segment_count, section_count;
	uint8_t *names;		/* of the sections */
	size_t names_size;
};

struct elf_file_segment {
	uint32_t type, flags;	/* PT_, PF_ */
	uint64_t offset, address, file_size, memory_size, align;
};

struct elf_file_section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, align, entry_size;
};

/*
 * 0, or -ENOEXEC and *why says in words what is wrong; elf_file_close() is due
 * in both cases.  A damaged table of sections or segments counts as none.
 */
int elf_file_open(struct elf_file *file, const struct input *input,
		  const char **why);
void elf_file_close(struct elf_file *file);

/*
 * Numbers as the file has them: 2, 4, 8 bytes; 4 or 8 as its class is.  They are
 * here as tables have millions of them.
 */
static inline uint16_t elf_u16(const struct elf_file *file, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return file->swapped ? bswap_16(value) : value;
}

static inline uint32_t elf_u32(const struct elf_file *file, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return file->swapped ? bswap_32(value) : value;
}

static inline uint64_t elf_u64(const struct elf_file *file, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return file->swapped ? bswap_64(value) : value;
}

uint64_t elf_word(const struct elf_file *file, const uint8_t *at);
size_t elf_word_size(const struct elf_file *file);

/* "" for one without a name. */
const char *elf_file_section_name(const struct elf_file *file,
				  const struct elf_file_section *section);

/* The first with this name, NULL if there is none. */
const struct elf_file_section *
elf_file_section_named(const struct elf_file *file, const char *name);

/* The first of this type (SHT_), NULL if there is none. */
const struct elf_file_section *
elf_file_section_of_type(const struct elf_file *file, uint32_t type);

/* Section `number`, NULL if there is none. */
const struct elf_file_section *elf_file_section(const struct elf_file *file,
						uint64_t number);

/* Its bytes as they are in the file; false if they are not all there. */
bool elf_file_section_input(const struct elf_file *file,
			    const struct elf_file_section *section,
			    struct input *input);

/* What is loaded at `address`, to the end of its segment; false if nothing. */
bool elf_file_at(const struct elf_file *file, uint64_t address,
		 struct input *input);

/*
 * The address that the byte at `offset` of the file is loaded at: by the
 * PT_LOAD that holds it, one that can be executed if there are several.
 */
bool elf_file_address(const struct elf_file *file, uint64_t offset,
		      uint64_t *address);

/* From `address` to the end of the segment that can be executed there; 0: none. */
uint64_t elf_file_code(const struct elf_file *file, uint64_t address);

#endif
