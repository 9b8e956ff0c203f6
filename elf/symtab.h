/* SPDX-License-Identifier: MIT */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "elf/file.h"

/* A symbol table of anybody's file, read from front to back. */
struct elf_symtab {
	const struct elf_file *file;
	struct input table, texts;
	uint64_t count, next;
	uint8_t *table_memory, *texts_memory;	/* if they were compressed */
	struct input_window *window;
};

struct elf_symtab_entry {
	uint32_t name;		/* where in texts */
	uint8_t type, binding;	/* STT_, STB_ */
	uint16_t section;	/* a number, or SHN_ */
	uint64_t value, size;
};

/*
 * The symbols of a section (SHT_SYMTAB, SHT_DYNSYM), or those that PT_DYNAMIC
 * tells of.  0, or -ENOEXEC, -EFBIG, -ENOTSUP; elf_symtab_close() is due only
 * with success.
 */
int elf_symtab_open(struct elf_symtab *symtab, const struct elf_file *file,
		    const struct elf_file_section *section);
int elf_symtab_open_dynamic(struct elf_symtab *symtab,
			    const struct elf_file *file);

/* The next symbol; false at the end. */
bool elf_symtab_next(struct elf_symtab *symtab,
		     struct elf_symtab_entry *entry);

/* Symbol `number`, wherever the reading is. */
bool elf_symtab_at(struct elf_symtab *symtab, uint64_t number,
		   struct elf_symtab_entry *entry);

/* Forgets the symbols, but not their names. */
void elf_symtab_keep_texts(struct elf_symtab *symtab);
void elf_symtab_close(struct elf_symtab *symtab);

#endif
