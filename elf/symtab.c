/* SPDX-License-Identifier: MIT */
/*
 * symtab: symbol tables of files that others made.
 *
 *	64 bits, 24 bytes   name 4  info 1  other 1  shndx 2  value 8  size 8
 *	32 bits, 16 bytes   name 4  value 4  size 4  info 1  other 1  shndx 2
 *
 * info is binding << 4 | type.  The size of an entry is the format's, whatever
 * sh_entsize says.  Table and texts may be compressed, each for itself.
 *
 * A sparse file can claim tables without end: beyond TABLE_MOST (5 million symbols
 * of 24 bytes; browsers have 2) there are none.
 *
 * Source: man 5 elf; System V ABI, chapter 4.
 */
#include <errno.h>
#include <stdlib.h>

#include "elf/dynamic.h"
#include "elf/packed.h"
#include "elf/symtab.h"
#include "lib/memory.h"

#define TABLE_MOST (128ull << 20)
#define TEXTS_MOST (4ull << 30)
#define UNPACKED_MOST (64ull << 20)

static size_t entry_size(const struct elf_file *file)
{
	return file->wide ? 24 : 16;
}

static uint64_t most(const struct elf_file_section *section, uint64_t plain)
{
	return section->flags & SHF_COMPRESSED ? UNPACKED_MOST : plain;
}

int elf_symtab_open(struct elf_symtab *symtab, const struct elf_file *file,
		    const struct elf_file_section *section)
{
	const struct elf_file_section *texts;
	int error;

	*symtab = (struct elf_symtab){ .file = file };
	texts = elf_file_section(file, section->link);
	if ((section->type != SHT_SYMTAB && section->type != SHT_DYNSYM) ||
	    !texts || texts->type != SHT_STRTAB)
		return -ENOEXEC;
	error = elf_packed_open(file, section, most(section, TABLE_MOST),
				&symtab->table, &symtab->table_memory);
	if (!error)
		error = elf_packed_open(file, texts, most(texts, TEXTS_MOST),
					&symtab->texts, &symtab->texts_memory);
	symtab->count = symtab->table.size / entry_size(file);
	if (error)
		elf_symtab_close(symtab);
	return error;
}

int elf_symtab_open_dynamic(struct elf_symtab *symtab,
			    const struct elf_file *file)
{
	struct elf_dynamic dynamic;
	uint64_t size;
	struct input table, texts;

	*symtab = (struct elf_symtab){ .file = file };
	if (!elf_dynamic_open(&dynamic, file) ||
	    !elf_file_at(file, dynamic.symbols, &table) ||
	    !elf_file_at(file, dynamic.texts, &texts))
		return -ENOEXEC;
	symtab->count = elf_dynamic_symbols(&dynamic, file);
	size = symtab->count * entry_size(file);
	if (size > TABLE_MOST)
		return -EFBIG;
	if (!input_part(&table, 0, size, &symtab->table) ||
	    !input_part(&texts, 0, dynamic.texts_size, &symtab->texts))
		return -ENOEXEC;
	return 0;
}

bool elf_symtab_at(struct elf_symtab *symtab, uint64_t number,
		   struct elf_symtab_entry *entry)
{
	const struct elf_file *file = symtab->file;
	size_t size = entry_size(file);
	const uint8_t *at;

	if (number >= symtab->count)
		return false;
	if (!symtab->window) {
		symtab->window = memory_new(1, sizeof(*symtab->window));
		symtab->window->input = &symtab->table;
	}
	at = input_look(symtab->window, number * size, size);
	if (!at)
		return false;
	*entry = (struct elf_symtab_entry){ .name = elf_u32(file, at) };
	if (file->wide) {
		entry->type = ELF64_ST_TYPE(at[4]);
		entry->binding = ELF64_ST_BIND(at[4]);
		entry->section = elf_u16(file, at + 6);
		entry->value = elf_u64(file, at + 8);
		entry->size = elf_u64(file, at + 16);
	} else {
		entry->value = elf_u32(file, at + 4);
		entry->size = elf_u32(file, at + 8);
		entry->type = ELF32_ST_TYPE(at[12]);
		entry->binding = ELF32_ST_BIND(at[12]);
		entry->section = elf_u16(file, at + 14);
	}
	return true;
}

bool elf_symtab_next(struct elf_symtab *symtab,
		     struct elf_symtab_entry *entry)
{
	return elf_symtab_at(symtab, symtab->next, entry) && ++symtab->next;
}

void elf_symtab_keep_texts(struct elf_symtab *symtab)
{
	free(symtab->table_memory);
	free(symtab->window);
	symtab->table_memory = NULL;
	symtab->window = NULL;
	symtab->count = 0;
}

void elf_symtab_close(struct elf_symtab *symtab)
{
	elf_symtab_keep_texts(symtab);
	free(symtab->texts_memory);
	*symtab = (struct elf_symtab){ 0 };
}
