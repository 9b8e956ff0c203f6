/* SPDX-License-Identifier: MIT */
/*
 * object: the frame of an ELF file.
 *
 *	┌───────────────┐ 0
 *	│ header        │ e_shoff ──> section table, e_shnum entries,
 *	│ (Elf64_Ehdr)  │             e_shstrndx: which one holds their names
 *	├───────────────┤
 *	│ bytes of the  │
 *	│ sections      │ <── sh_offset, sh_size of each table entry
 *	├───────────────┤
 *	│ section table │ of Elf64_Shdr
 *	└───────────────┘
 *
 * With 65280 sections or more the numbers are in the table's entry 0.
 *
 * Source: man 5 elf; System V ABI, chapter 4.
 */
#include <errno.h>
#include <string.h>

#include "elf/object.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { ELF_NATIVE = ELFDATA2LSB };
#else
enum { ELF_NATIVE = ELFDATA2MSB };
#endif

static int section_header(const struct elf *elf, uint32_t number,
			  Elf64_Shdr *header)
{
	uint64_t offset = (uint64_t)number * sizeof(*header);

	if (offset > UINT64_MAX - elf->section_table ||
	    !bytes_copy(elf->file, elf->section_table + offset, header,
			sizeof(*header)))
		return -ENOEXEC;
	return 0;
}

int elf_open(struct elf *elf, struct bytes file, const char **why)
{
	Elf64_Ehdr header;
	Elf64_Shdr zero;

	*elf = (struct elf){ .file = file };
	*why = "not an ELF file";
	if (!bytes_copy(file, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	*why = "not 64-bit, or of another byte order";
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELF_NATIVE)
		return -ENOEXEC;
	elf->machine = header.e_machine;
	elf->section_table = header.e_shoff;
	elf->sections = header.e_shnum;
	elf->names_section = header.e_shstrndx;
	if (!header.e_shoff)
		return 0;
	*why = "its section table is damaged";
	if (header.e_shentsize != sizeof(Elf64_Shdr) ||
	    section_header(elf, 0, &zero))
		return -ENOEXEC;
	if (!elf->sections && zero.sh_size <= UINT32_MAX)
		elf->sections = (uint32_t)zero.sh_size;
	if (elf->names_section == SHN_XINDEX)
		elf->names_section = zero.sh_link;
	/* A table that is cut off cannot hold more than the file does. */
	if (elf->sections > file.size / sizeof(Elf64_Shdr))
		return -ENOEXEC;
	return 0;
}

int elf_section(const struct elf *elf, uint32_t number,
		struct elf_section *section)
{
	Elf64_Shdr header, names;
	struct bytes text;

	*section = (struct elf_section){ .number = number, .name = "" };
	if (number >= elf->sections || section_header(elf, number, &header))
		return -ENOEXEC;
	section->type = header.sh_type;
	section->link = header.sh_link;
	section->info = header.sh_info;
	section->flags = header.sh_flags;
	section->address = header.sh_addr;
	section->entry_size = header.sh_entsize;
	if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL &&
	    !bytes_part(elf->file, header.sh_offset, header.sh_size,
			&section->bytes))
		return -ENOEXEC;
	if (!section_header(elf, elf->names_section, &names) &&
	    names.sh_type == SHT_STRTAB &&
	    bytes_part(elf->file, names.sh_offset, names.sh_size, &text)) {
		const char *name = bytes_text(text, header.sh_name);

		section->name = name ? name : "";
	}
	return 0;
}

int elf_section_named(const struct elf *elf, const char *name,
		      struct elf_section *section)
{
	for (uint32_t i = 1; i < elf->sections; i++)
		if (!elf_section(elf, i, section) &&
		    !strcmp(section->name, name))
			return 0;
	*section = (struct elf_section){ .name = "" };
	return -ENOENT;
}
