/* SPDX-License-Identifier: MIT */
#ifndef ELF_OBJECT_H
#define ELF_OBJECT_H

#include <elf.h>
#include <stdint.h>

#include "lib/bytes.h"

/*
 * A 64-bit ELF file of this machine's byte order, as bytes.  Nothing in it is
 * believed: every access is checked against the size of the file.
 */
struct elf {
	struct bytes file;
	uint16_t machine;	/* EM_ */
	uint32_t sections;	/* how many; section 0 is reserved */
	uint64_t section_table;
	uint32_t names_section;
};

/* One section header, and its bytes (none for SHT_NOBITS). */
struct elf_section {
	uint32_t number, type, link, info;
	uint64_t flags, address, entry_size;
	const char *name;	/* in the file; "" if it has none */
	struct bytes bytes;
};

/* 0, or -ENOEXEC and *why says in words what is wrong. */
int elf_open(struct elf *elf, struct bytes file, const char **why);

/* Section `number`; 0, or -ENOEXEC where header or bytes are not all there. */
int elf_section(const struct elf *elf, uint32_t number,
		struct elf_section *section);

/* The first section with this name, or -ENOENT. */
int elf_section_named(const struct elf *elf, const char *name,
		      struct elf_section *section);

#endif
