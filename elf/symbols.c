/* SPDX-License-Identifier: MIT */
/*
 * symbols: a table of Elf64_Sym, each 24 bytes, and the section of texts that
 * the table's section names in sh_link.
 *
 *	st_name   st_info              st_other  st_shndx  st_value  st_size
 *	4 bytes   1: binding<<4|type   1         2         8         8
 *
 * Source: man 5 elf.
 */
#include <errno.h>

#include "elf/symbols.h"

int elf_symbols_open(struct elf_symbols *symbols, const struct elf *elf,
		     const struct elf_section *section)
{
	struct elf_section texts;

	*symbols = (struct elf_symbols){ 0 };
	if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)
		return -ENOEXEC;
	if (elf_section(elf, section->link, &texts) ||
	    texts.type != SHT_STRTAB)
		return -ENOEXEC;
	symbols->table = section->bytes;
	symbols->texts = texts.bytes;
	symbols->count = section->bytes.size / sizeof(Elf64_Sym);
	return 0;
}

bool elf_symbol(const struct elf_symbols *symbols, uint64_t number,
		struct elf_symbol *symbol)
{
	Elf64_Sym raw;
	const char *name;

	*symbol = (struct elf_symbol){ .name = "" };
	if (number >= symbols->count ||
	    !bytes_copy(symbols->table, number * sizeof(raw), &raw,
			sizeof(raw)))
		return false;
	name = bytes_text(symbols->texts, raw.st_name);
	symbol->name = name ? name : "";
	symbol->type = ELF64_ST_TYPE(raw.st_info);
	symbol->binding = ELF64_ST_BIND(raw.st_info);
	symbol->section = raw.st_shndx;
	symbol->value = raw.st_value;
	symbol->size = raw.st_size;
	return true;
}
