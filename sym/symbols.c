/* SPDX-License-Identifier: MIT */
/*
 * symbols: which entries of an ELF symbol table are functions.
 *
 * STT_FUNC and STT_GNU_IFUNC; and labels (STT_NOTYPE) in sections that can be
 * executed, as hand-written functions often are no more than that.  Not: what
 * is defined elsewhere (SHN_UNDEF) or is a number (SHN_ABS); the compiler's own
 * labels (.L1); and on ARM and RISC-V the marks of where code and data begin
 * ($a, $d, $t, $x, $xrv64i2p1_m2p0, all with or without a dot and more).
 *
 * Sources: man 5 elf; ELF for the Arm Architecture, "Mapping symbols"; RISC-V
 * ELF psABI, "Mapping Symbol".
 */
#include <string.h>

#include "sym/symbols.h"

enum {
	VERDICTS = 64,
	FUNCTIONS_MOST = 4 * 1024 * 1024,	/* more than any file has */
	STT_GNU_IFUNC_TYPE = 10,
	STB_UNIQUE = 10,
};

/* What was said of names, as a linker keeps equal ones once. */
struct verdicts {
	uint32_t name[VERDICTS];	/* 0: none yet */
	bool mark[VERDICTS];
};

static bool is_mark(const struct elf_symtab *symtab,
		    struct verdicts *verdicts, uint32_t name)
{
	uint16_t machine = symtab->file->machine;
	char text[4] = "";
	bool mark;

	if (verdicts->name[name % VERDICTS] == name)
		return verdicts->mark[name % VERDICTS];
	input_some(&symtab->texts, name, text, sizeof(text));
	mark = text[0] == '.' && text[1] == 'L';
	if (text[0] == '$' && strchr("adtx", text[1]) && text[1] &&
	    (machine == EM_ARM || machine == EM_AARCH64 ||
	     machine == EM_RISCV))
		mark = !text[2] || text[2] == '.' || text[2] == 'r';
	verdicts->name[name % VERDICTS] = name;
	verdicts->mark[name % VERDICTS] = mark;
	return mark;
}

/* From the symbol to the end of its section, if that can be executed; or 0. */
static uint64_t room_of(const struct elf_file *file,
			const struct elf_symtab_entry *entry)
{
	const struct elf_file_section *section;

	section = elf_file_section(file, entry->section);
	/* Too many sections for the field, or none at all. */
	if (!section && (entry->section == SHN_XINDEX || !file->section_count))
		return elf_file_code(file, entry->value);
	if (!section || !(section->flags & SHF_EXECINSTR) ||
	    entry->value < section->address ||
	    entry->value - section->address >= section->size)
		return 0;
	return section->size - (entry->value - section->address);
}

static bool is_function(const struct elf_symtab *symtab,
			const struct elf_symtab_entry *entry, bool *label)
{
	*label = entry->type == STT_NOTYPE;
	if (!entry->name || entry->name >= symtab->texts.size ||
	    entry->section == SHN_UNDEF ||
	    (entry->section >= SHN_LORESERVE && entry->section != SHN_XINDEX))
		return false;
	return *label || entry->type == STT_FUNC ||
	       entry->type == STT_GNU_IFUNC_TYPE;
}

static uint8_t rank_of(const struct elf_symtab_entry *entry, bool label)
{
	uint8_t rank = label ? 0 : TABLE_FUNCTION;

	if (entry->size)
		rank += TABLE_SIZED;
	if (entry->binding == STB_GLOBAL || entry->binding == STB_UNIQUE)
		return rank + TABLE_GLOBAL;
	return rank + (entry->binding == STB_WEAK ? TABLE_WEAK : TABLE_LOCAL);
}

/* The next function; false at the end. */
static bool next_function(struct elf_symtab *symtab, struct verdicts *verdicts,
			  struct table_symbol *symbol, uint64_t *end)
{
	struct elf_symtab_entry entry;
	bool label;

	while (elf_symtab_next(symtab, &entry)) {
		uint64_t size = entry.size;

		if (!is_function(symtab, &entry, &label))
			continue;
		/* Bit 0 says which instruction set it is in. */
		if (symtab->file->machine == EM_ARM && !label)
			entry.value &= ~1ull;
		if (label || !size) {
			uint64_t room = room_of(symtab->file, &entry);

			if (!room || (label && entry.binding == STB_LOCAL &&
				      is_mark(symtab, verdicts, entry.name)))
				continue;
			size = size ? size : room;
		}
		symbol->name = entry.name;
		symbol->start = entry.value;
		symbol->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
		symbol->rank = rank_of(&entry, label);
		*end = entry.value + size < size ? UINT64_MAX :
						   entry.value + size;
		return true;
	}
	return false;
}

/* Whether it is the last one before a wanted address. */
static bool is_below(const struct wanted *wanted, uint64_t start)
{
	return wanted_below_covers(wanted, start, start == UINT64_MAX ? start :
				   start + 1);
}

/*
 * Whether a function makes a difference: it holds a wanted address, or it is the
 * last one before that (which may have no size), or it is around that one (which
 * ends where this ends).
 */
static bool matters(const struct wanted *wanted,
		    const struct table_symbol *symbol, uint64_t end)
{
	if (!(symbol->rank & TABLE_SIZED))
		return is_below(wanted, symbol->start);
	return wanted_below_covers(wanted, symbol->start, end) ||
	       wanted_covers(wanted, symbol->start, end);
}

/* The functions that hold wanted addresses; how many there are in all. */
static size_t add_holders(struct table *table, struct elf_symtab *symtab,
			  struct table_symbol symbol, struct wanted *wanted)
{
	struct verdicts verdicts = { 0 };
	size_t count = 0;
	uint64_t end;

	wanted_clear(wanted);
	for (; next_function(symtab, &verdicts, &symbol, &end); count++) {
		if (!(symbol.rank & TABLE_SIZED))
			end = 0;
		if (wanted_note(wanted, symbol.start, end))
			table_add(table, &symbol);
	}
	wanted_finish(wanted);
	return count;
}

/*
 * The addresses whose last function before has no size: what else matters to
 * them.  Where it has a size and ends too early, only those hold the address
 * that are there already: any other one would end where this one starts; it is
 * added for that.
 */
static void add_others(struct table *table, struct elf_symtab *symtab,
		       struct table_symbol symbol, const struct wanted *wanted)
{
	struct verdicts verdicts = { 0 };
	struct wanted rest;
	uint64_t end;

	wanted_open_rest(&rest, wanted);
	symtab->next = 0;
	while (rest.count && next_function(symtab, &verdicts, &symbol, &end)) {
		if (!matters(&rest, &symbol, end) &&
		    !is_below(wanted, symbol.start))
			continue;
		/* Such a one is there already. */
		if (!(symbol.rank & TABLE_SIZED) ||
		    !wanted_covers(wanted, symbol.start, end))
			table_add(table, &symbol);
	}
	wanted_close(&rest);
}

size_t symbols_add(struct table *table, struct elf_symtab *symtab,
		   uint8_t texts, struct wanted *wanted, bool *whole)
{
	struct verdicts verdicts = { 0 };
	struct table_symbol symbol = { .texts = texts };
	size_t count = 0, before = table->count;
	uint64_t end;

	if (wanted && symtab->count > SYMBOLS_FEW) {
		*whole = false;
		count = add_holders(table, symtab, symbol, wanted);
		add_others(table, symtab, symbol, wanted);
	} else {
		for (; next_function(symtab, &verdicts, &symbol, &end); count++)
			table_add(table, &symbol);
	}
	/* A part of them would be taken for all of them. */
	if (table->count - before > FUNCTIONS_MOST) {
		table->count = before;
		return 0;
	}
	return count;
}
