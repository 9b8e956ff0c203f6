/* SPDX-License-Identifier: MIT */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include "elf/file.h"

/*
 * What PT_DYNAMIC tells the dynamic linker: addresses and sizes, 0 where it
 * does not say.
 */
struct elf_dynamic {
	uint64_t symbols, texts, texts_size;	/* DT_SYMTAB, DT_STRTAB */
	uint64_t hash, gnu_hash;
	uint64_t rela, rela_size, rel, rel_size;
	uint64_t plt, plt_size, plt_type;	/* DT_JMPREL, DT_PLTREL */
	uint64_t got;				/* DT_PLTGOT */
};

/* False if there is no PT_DYNAMIC, or none that can be read. */
bool elf_dynamic_open(struct elf_dynamic *dynamic,
		      const struct elf_file *file);

/*
 * How many symbols DT_SYMTAB has, which nothing says but the hash tables: 0 if
 * there is none.
 */
uint64_t elf_dynamic_symbols(const struct elf_dynamic *dynamic,
			     const struct elf_file *file);

#endif
