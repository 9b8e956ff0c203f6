/* SPDX-License-Identifier: MIT */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include "elf/object.h"

/* A symbol table and the texts that it names. */
struct elf_symbols {
	struct bytes table, texts;
	uint64_t count;
};

struct elf_symbol {
	const char *name;	/* in the file; "" if it has none */
	uint8_t type, binding;	/* STT_, STB_ */
	uint16_t section;	/* a number, or SHN_ */
	uint64_t value, size;
};

/* The symbols of a section of type SHT_SYMTAB or SHT_DYNSYM; -ENOEXEC. */
int elf_symbols_open(struct elf_symbols *symbols, const struct elf *elf,
		     const struct elf_section *section);

/* Symbol `number`; false where there is none. */
bool elf_symbol(const struct elf_symbols *symbols, uint64_t number,
		struct elf_symbol *symbol);

#endif
