/* SPDX-License-Identifier: MIT */
/*
 * relocs: what the dynamic linker writes into the global offset table.
 *
 *	RELA	slot │ symbol and type │ addend		REL	slot │ symbol and type
 *
 * each 4 or 8 bytes.  64 bits: the symbol is the upper half of its field, 32
 * bits: the upper 24 bits.  In REL the addend is what the slot holds.
 *
 * Two tables: that of the PLT (DT_JMPREL, .rela.plt), whose order stubs know,
 * and all others.  PT_DYNAMIC tells where they are, in static programs (which
 * have IRELATIVE ones alone) only the sections do.
 *
 * Source: System V ABI, and its supplements for each CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/dynamic.h"
#include "elf/relocs.h"
#include "lib/memory.h"

/* What some <elf.h> do not know yet. */
enum { AARCH64_IRELATIVE = 1032, ARM_IRELATIVE = 160, RISCV_IRELATIVE = 58 };

#define RELOCS_MOST (64ull << 20)	/* bytes of all tables */

enum {
	KEPT_MOST = 1024 * 1024,	/* slots with a name */
	CONTENTS_MOST = 64 * 1024,	/* addends that are in their slots */
};

/* The types that matter, of each CPU. */
static const struct types {
	uint16_t machine;
	uint16_t slot, data, resolved, relative;
} all_types[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
	  R_X86_64_IRELATIVE, R_X86_64_RELATIVE },
	{ EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE,
	  R_386_RELATIVE },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
	  AARCH64_IRELATIVE, R_AARCH64_RELATIVE },
	{ EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, ARM_IRELATIVE,
	  R_ARM_RELATIVE },
	{ EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, RISCV_IRELATIVE,
	  R_RISCV_RELATIVE },
};

struct raw {
	uint64_t slot, addend;
	uint32_t symbol, type;
};

/* One table, from front to back. */
struct reader {
	const struct elf_file *file;
	struct input table;
	struct input_window *window;
	bool addends;
	uint64_t at, read;	/* where in this table; bytes of all */
	size_t contents;
};

static const struct types *types_of(const struct elf_file *file)
{
	for (size_t i = 0; i < sizeof(all_types) / sizeof(*all_types); i++)
		if (all_types[i].machine == file->machine)
			return &all_types[i];
	return NULL;
}

static bool next_raw(struct reader *reader, struct raw *raw)
{
	size_t word = elf_word_size(reader->file);
	size_t size = (reader->addends ? 3 : 2) * word;
	uint64_t info;
	const uint8_t *at = reader->read < RELOCS_MOST ?
		input_look(reader->window, reader->at, size) : NULL;

	if (!at)
		return false;
	reader->at += size;
	reader->read += size;
	info = elf_word(reader->file, at + word);
	raw->slot = elf_word(reader->file, at);
	raw->symbol = (uint32_t)(info >> (reader->file->wide ? 32 : 8));
	raw->type = reader->file->wide ? (uint32_t)info : info & 0xff;
	raw->addend = reader->addends ?
		      elf_word(reader->file, at + 2 * word) : 0;
	return true;
}

/* What a slot holds in the file. */
static uint64_t content(struct reader *reader, uint64_t slot)
{
	const struct elf_file *file = reader->file;
	uint8_t value[8];
	struct input place;

	if (reader->contents++ > CONTENTS_MOST ||
	    !elf_file_at(file, slot, &place) ||
	    !input_copy(&place, 0, value, elf_word_size(file)))
		return 0;
	return elf_word(file, value);
}

static void add_table(struct elf_relocs *relocs, struct reader *reader,
		      bool plt)
{
	const struct types *types = types_of(reader->file);
	struct raw raw;

	while (types && relocs->count < KEPT_MOST &&
	       relocs->plt_count < KEPT_MOST && next_raw(reader, &raw)) {
		struct elf_reloc reloc = { .slot = raw.slot };

		if (raw.type == types->resolved)
			reloc.resolver = reader->addends ? raw.addend :
					 content(reader, raw.slot);
		else if (raw.type == types->slot || raw.type == types->data)
			reloc.symbol = raw.symbol;
		if (plt) {
			relocs->plt = memory_grow(relocs->plt,
						  &relocs->plt_capacity,
						  relocs->plt_count + 1,
						  sizeof(reloc));
			relocs->plt[relocs->plt_count++] = reloc;
		}
		if (!reloc.resolver && !reloc.symbol)
			continue;
		relocs->relocs = memory_grow(relocs->relocs, &relocs->capacity,
					     relocs->count + 1, sizeof(reloc));
		relocs->relocs[relocs->count++] = reloc;
	}
}

typedef void visit_fn(struct reader *reader, bool plt, void *what);

static void visit_dynamic(struct reader *reader,
			  const struct elf_dynamic *dynamic, visit_fn *visit,
			  void *what)
{
	const struct table {
		uint64_t address, size;
		bool addends, plt;
	} tables[] = {
		{ dynamic->plt, dynamic->plt_size,
		  dynamic->plt_type == DT_RELA, true },
		{ dynamic->rela, dynamic->rela_size, true, false },
		{ dynamic->rel, dynamic->rel_size, false, false },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct input place;

		if (!tables[i].address ||
		    !elf_file_at(reader->file, tables[i].address, &place) ||
		    !input_part(&place, 0, tables[i].size, &reader->table))
			continue;
		reader->at = reader->window->size = 0;
		reader->addends = tables[i].addends;
		visit(reader, tables[i].plt, what);
	}
}

static void visit_sections(struct reader *reader, visit_fn *visit, void *what)
{
	for (uint32_t i = 1; i < reader->file->section_count; i++) {
		const struct elf_file_section *section;
		const char *name;

		section = &reader->file->sections[i];
		if ((section->type != SHT_RELA && section->type != SHT_REL) ||
		    !(section->flags & SHF_ALLOC) ||
		    !elf_file_section_input(reader->file, section,
					    &reader->table))
			continue;
		name = elf_file_section_name(reader->file, section);
		reader->at = reader->window->size = 0;
		reader->addends = section->type == SHT_RELA;
		visit(reader, !strcmp(name, ".rela.plt") ||
			      !strcmp(name, ".rel.plt"), what);
	}
}

static void visit_all(const struct elf_file *file, visit_fn *visit, void *what)
{
	struct reader reader = {
		.file = file, .window = memory_new(1, sizeof(*reader.window)),
	};
	struct elf_dynamic dynamic;

	reader.window->input = &reader.table;
	if (elf_dynamic_open(&dynamic, file) &&
	    (dynamic.plt || dynamic.rela || dynamic.rel))
		visit_dynamic(&reader, &dynamic, visit, what);
	else
		visit_sections(&reader, visit, what);
	free(reader.window);
}

static void visit_open(struct reader *reader, bool plt, void *what)
{
	add_table(what, reader, plt);
}

static int cmp_reloc(const void *a, const void *b)
{
	return cmp_u64(&((const struct elf_reloc *)a)->slot,
		       &((const struct elf_reloc *)b)->slot);
}

void elf_relocs_open(struct elf_relocs *relocs, const struct elf_file *file)
{
	*relocs = (struct elf_relocs){ 0 };
	visit_all(file, visit_open, relocs);
	if (relocs->count)
		qsort(relocs->relocs, relocs->count, sizeof(*relocs->relocs),
		      cmp_reloc);
}

const struct elf_reloc *elf_relocs_find(const struct elf_relocs *relocs,
					uint64_t slot)
{
	struct elf_reloc wanted = { .slot = slot };

	return relocs->count ?
	       bsearch(&wanted, relocs->relocs, relocs->count, sizeof(wanted),
		       cmp_reloc) : NULL;
}

void elf_relocs_close(struct elf_relocs *relocs)
{
	free(relocs->relocs);
	free(relocs->plt);
	*relocs = (struct elf_relocs){ 0 };
}

struct relative {
	uint64_t address, value;
	bool found;
};

static void visit_relative(struct reader *reader, bool plt, void *what)
{
	const struct types *types = types_of(reader->file);
	struct relative *relative = what;
	struct raw raw;

	(void)plt;
	while (types && reader->addends && !relative->found &&
	       next_raw(reader, &raw))
		if (raw.slot == relative->address &&
		    raw.type == types->relative) {
			relative->value = raw.addend;
			relative->found = true;
		}
}

bool elf_relocs_relative(const struct elf_file *file, uint64_t address,
			 uint64_t *value)
{
	struct relative relative = { .address = address };

	visit_all(file, visit_relative, &relative);
	*value = relative.value;
	return relative.found;
}
