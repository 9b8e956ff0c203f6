/* SPDX-License-Identifier: MIT */
/*
 * cfi: from .eh_frame and .debug_frame to rows.
 *
 * Most files have the first alone; where both tell of code, it counts.  The second
 * has what C without unwind tables has for debuggers, and Go; also of functions
 * that the linker left out, at address 0.  Both are a sequence of records:
 *
 *	CIE   length │ 0 (-1) │ version, "zR", factors, encoding │ instructions
 *	FDE   length │ its CIE │ first address, size │ instructions
 *
 * A CIE is what many functions have in common, an FDE is one function.  The
 * instructions, first the CIE's, then the FDE's, say what holds from where to
 * where (cfa.c).  What comes out is a row per change.
 *
 * Functions are sorted first, as linkers do not always.  Where one ends and the
 * next does not begin at once, a row says that nothing is known.
 *
 * Source: DWARF 5, 6.4; Linux Standard Base, "Exception Frames".
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/packed.h"
#include "lib/memory.h"
#include "lib/sort.h"
#include "unwind/cfa.h"
#include "unwind/cfi.h"
#include "unwind/switches.h"

enum {
	FUNCTIONS_MOST = 4 * 1024 * 1024,
	ENTRY_BYTES = 64,
};

#define TABLE_MOST (512ull << 20)

struct cie {
	uint64_t record;	/* where it is; UINT64_MAX, which an FDE can ask
				   for, too: none read yet */
	struct cfa_common common;
	bool augmented;		/* FDEs have a length of more */
	bool broken;
	uint64_t instructions, end;
};

struct function {
	uint64_t start, record;	/* IN_DEBUG | where it is in .debug_frame */
};

#define IN_DEBUG (1ull << 63)

struct table {
	struct bytes bytes;	/* of the section, ours */
	uint64_t address;	/* where it is loaded */
	bool debug;		/* .debug_frame */
	bool sized;		/* by a section: bytes end where it does */
	struct cie cie;		/* the last one read */
	struct cfa_state initial;	/* after its instructions */
};

struct cfi {
	const struct elf_file *file;
	struct table eh, debug;
	uint64_t base, entry;	/* of the file */
	struct function *functions;
	size_t count, capacity;
	struct switches switches;
	bool go;		/* what is given is of a function of Go's */

	cfi_add *add;
	void *context;
	struct unwind_row last;
	bool any, stopped;
	size_t rows;
};

/* --------------------------------------------------------------- records */

/*
 * The head of the record at cursor->at: what it says of its CIE, to *id, where
 * it ends, to *end.  False at the end of the section.
 */
static bool take_head(const struct table *table, struct dwarf *cursor,
		      uint64_t *id, uint64_t *end)
{
	uint64_t length = dwarf_take(cursor, 4);
	bool wide = length == UINT32_MAX;

	if (wide)
		length = dwarf_take(cursor, 8);
	if (cursor->failed || length > table->bytes.size - cursor->at) {
		cursor->failed = true;
		return false;
	}
	if (!length)
		return false;
	*end = cursor->at + length;
	/* .eh_frame has 4 bytes there also in long records. */
	*id = dwarf_take(cursor, wide && table->debug ? 8 : 4);
	return !cursor->failed;
}

static bool is_cie(const struct table *table, uint64_t id)
{
	return table->debug ? id == UINT32_MAX || id == UINT64_MAX : id == 0;
}

/* Where the CIE is of an FDE whose id stands in front of cursor->at. */
static uint64_t cie_of(const struct table *table, const struct dwarf *cursor,
		       uint64_t id)
{
	return table->debug ? id : cursor->at - 4 - id;
}

static void read_augmentation(const struct table *table, struct dwarf *cursor,
			      const char *text, struct cie *cie)
{
	uint64_t size = dwarf_unsigned(cursor), end = cursor->at + size;

	cie->augmented = true;
	for (; *text && !cursor->failed; text++) {
		if (*text == 'R')
			cie->common.encoding = dwarf_byte(cursor);
		else if (*text == 'L')
			dwarf_byte(cursor);
		else if (*text == 'P')
			dwarf_encoded(cursor, table->address,
				      dwarf_byte(cursor) & 0x7f);
		else if (*text != 'S' && *text != 'B' && *text != 'G')
			break;
	}
	cursor->at = end;
}

static void read_cie(struct table *table, uint64_t record)
{
	struct dwarf cursor = { .bytes = table->bytes, .at = record };
	struct cie *cie = &table->cie;
	const char *text;
	uint64_t id, version;

	*cie = (struct cie){
		.record = record, .broken = true,
		.common.address = table->address,
	};
	if (!take_head(table, &cursor, &id, &cie->end) || !is_cie(table, id))
		return;
	version = dwarf_byte(&cursor);
	text = bytes_text(cursor.bytes, cursor.at);
	if (!text)
		return;
	cursor.at += strlen(text) + 1;
	if (version == 4)
		dwarf_take(&cursor, 2);	/* sizes of addresses and segments */
	cie->common.code = dwarf_unsigned(&cursor);
	cie->common.data = dwarf_signed(&cursor);
	cie->common.return_register = version == 1 ? dwarf_byte(&cursor) :
			       dwarf_unsigned(&cursor);
	if (*text == 'z')
		read_augmentation(table, &cursor, text + 1, cie);
	else if (*text)
		return;
	cie->instructions = cursor.at;
	cie->broken = cursor.failed || cursor.at > cie->end;
}

/* -------------------------------------------------------------------- rows */

static uint8_t rule_of(const struct cfa_state *state, struct unwind_row *row)
{
	int64_t cfa = state->cfa_offset, fp = state->fp_offset;
	uint8_t rule = state->cfa;

	if (state->root)
		return CFA_END;
	if (rule == CFA_SP && state->cfa_register == ARCH_DWARF_FP)
		rule = CFA_FP;
	else if (rule == CFA_SP && state->cfa_register != ARCH_DWARF_SP)
		return CFA_BAD;
	if (rule != CFA_PLT && cfa & 7)
		return CFA_BAD;
	row->cfa = (int16_t)(rule == CFA_PLT ? cfa : cfa / 8);
	if (rule != CFA_PLT && row->cfa != cfa / 8)
		return CFA_BAD;
	if (state->fp == FP_CFA || state->fp == FP_FP) {
		row->fp = (int8_t)(fp / 8);
		if (fp & 7 || row->fp != fp / 8)
			return rule | FP_LOST;
	}
	return rule | state->fp;
}

static void give(struct cfi *cfi, struct unwind_row row)
{
	/* What holds on needs no row of its own. */
	if (cfi->stopped)
		return;
	if (cfi->any && cfi->last.cfa == row.cfa && cfi->last.fp == row.fp &&
	    cfi->last.rule == row.rule)
		return;
	cfi->last = row;
	cfi->any = true;
	cfi->rows++;
	if (!cfi->add(cfi->context, &row))
		cfi->stopped = true;
}

/* `state` holds from `from` to `to`. */
static void give_state(void *context, uint64_t from, uint64_t to,
		       const struct cfa_state *state)
{
	struct cfi *cfi = context;
	struct unwind_row row = { .pc = (uint32_t)(from - cfi->base) };

	if (from >= to || cfi->stopped || from - cfi->base >= UINT32_MAX)
		return;
	row.rule = rule_of(state, &row);
	/* Go does not say that its frame pointer is below the return address. */
	if (cfi->go && row.rule == (CFA_SP | FP_SAME) && row.cfa > 1) {
		row.rule = CFA_SP | FP_CFA;
		row.fp = -2;
	}
	if ((row.rule & 0x0f) == CFA_BAD || (row.rule & 0x0f) == CFA_END) {
		row.rule &= 0x0f;
		row.cfa = 0;
		row.fp = 0;
	}
	give(cfi, row);
}

/* -------------------------------------------------------------- functions */

/* The CIE at `record`, and what its instructions make of nothing. */
static bool use_cie(struct table *table, uint64_t record)
{
	struct cfa *run;

	if (table->cie.record == record)
		return !table->cie.broken;
	read_cie(table, record);
	table->initial = (struct cfa_state){ .cfa = CFA_BAD };
	if (table->cie.broken)
		return false;
	run = memory_new(1, sizeof(*run));
	run->common = table->cie.common;
	run->initial = &table->initial;
	run->cursor = (struct dwarf){ table->bytes, table->cie.instructions,
				      false };
	run->state = table->initial;
	cfa_run(run, table->cie.end);
	table->initial = run->state;
	table->cie.broken = run->cursor.failed;
	free(run);
	return !table->cie.broken;
}

/*
 * The FDE at `record`: its first address and the one behind its last.  The
 * cursor is then at its instructions, and *stop is behind them.
 */
static bool read_function(struct table *table, uint64_t record,
			  struct dwarf *cursor, uint64_t *start,
			  uint64_t *end, uint64_t *stop)
{
	uint64_t id, size;

	*cursor = (struct dwarf){ .bytes = table->bytes, .at = record };
	if (!take_head(table, cursor, &id, stop) || is_cie(table, id) ||
	    !use_cie(table, cie_of(table, cursor, id)))
		return false;
	*start = dwarf_encoded(cursor, table->address,
			       table->cie.common.encoding);
	size = dwarf_encoded(cursor, table->address,
			     table->cie.common.encoding & 0x0f);
	*end = *start + size;
	if (table->cie.augmented)
		cursor->at += dwarf_unsigned(cursor);
	return !cursor->failed && cursor->at <= *stop && *end > *start;
}

/* Linkers leave out functions, but not what is told of them. */
static bool is_left_out(const struct elf_file *file, uint64_t start)
{
	return !start || !elf_file_code(file, start);
}

/* Lists all functions; what cannot be read is left out. */
static void list_functions(struct cfi *cfi, struct table *table)
{
	struct dwarf cursor = { .bytes = table->bytes };

	while (cfi->count < FUNCTIONS_MOST) {
		struct function function = { .record = cursor.at };
		uint64_t id, next, end, stop;
		struct dwarf inside;

		if (!take_head(table, &cursor, &id, &next)) {
			/* An empty record is the end, or of one of the parts
			 * that the linker put together. */
			if (!table->sized || cursor.failed)
				break;
			cursor.at = function.record + 4;
			continue;
		}
		cursor.at = next;
		if (is_cie(table, id) ||
		    !read_function(table, function.record, &inside,
				   &function.start, &end, &stop) ||
		    function.start - cfi->base >= UINT32_MAX ||
		    (table->debug && is_left_out(cfi->file, function.start)))
			continue;
		if (table->debug)
			function.record |= IN_DEBUG;
		cfi->functions = memory_grow(cfi->functions, &cfi->capacity,
					     cfi->count + 1,
					     sizeof(*cfi->functions));
		cfi->functions[cfi->count++] = function;
	}
}

/* From `from` on nothing is known. */
static void give_nothing(struct cfi *cfi, uint64_t from)
{
	if (from - cfi->base < UINT32_MAX)
		give(cfi, (struct unwind_row){
			.pc = (uint32_t)(from - cfi->base), .rule = CFA_NONE,
		});
}

/*
 * Where a program begins there is no caller, and some (ld.so's _start, musl's)
 * say so by having no rule at all.  How long that code is nobody says: ld.so's
 * has 61 bytes, and what is behind it may be any function without rules.
 */
static void give_entry(struct cfi *cfi, uint64_t entry, uint64_t limit)
{
	if (entry - cfi->base >= UINT32_MAX)
		return;
	give(cfi, (struct unwind_row){
		.pc = (uint32_t)(entry - cfi->base), .rule = CFA_END,
	});
	if (limit - entry > ENTRY_BYTES)
		give_nothing(cfi, entry + ENTRY_BYTES);
}

static void give_function(struct cfi *cfi, struct cfa *run, size_t number)
{
	uint64_t limit = number + 1 < cfi->count ?
			 cfi->functions[number + 1].start : UINT64_MAX;
	uint64_t stop, record = cfi->functions[number].record;
	struct table *table = record & IN_DEBUG ? &cfi->debug : &cfi->eh;

	if (!read_function(table, record & ~IN_DEBUG, &run->cursor, &run->pc,
			   &run->end, &stop))
		return;
	if (run->end > limit)
		run->end = limit;
	if (switches_has(&cfi->switches, run->pc)) {
		give_nothing(cfi, run->pc);
		return;
	}
	cfi->go = table->debug && switches_covers(&cfi->switches, run->pc);
	run->common = table->cie.common;
	run->initial = &table->initial;
	run->state = table->initial;
	run->saved_count = 0;
	run->holds = give_state;
	run->context = cfi;
	cfa_run(run, stop);
	if (run->cursor.failed)
		run->state = (struct cfa_state){ .cfa = CFA_BAD };
	give_state(cfi, run->pc, run->end, &run->state);
	/* A row for the entry point comes next, if that is there. */
	if (run->end < limit && run->end != cfi->entry)
		give_nothing(cfi, run->end);
}

/*
 * Of those that begin at one address the first stays: the others are copies, or
 * .debug_frame's; and so is what begins in one that .eh_frame tells of.
 */
static void drop_others(struct cfi *cfi)
{
	uint64_t end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < cfi->count; i++) {
		struct function function = cfi->functions[i];
		bool debug = function.record & IN_DEBUG;
		uint64_t start, stop;
		struct dwarf cursor;

		if ((kept && cfi->functions[kept - 1].start ==
		     function.start) || (debug && function.start < end))
			continue;
		cfi->functions[kept++] = function;
		/* Only where there are both it matters where they end. */
		if (!debug && cfi->debug.bytes.size &&
		    !read_function(&cfi->eh, function.record, &cursor, &start,
				   &end, &stop))
			end = 0;
	}
	cfi->count = kept;
}

static void give_all(struct cfi *cfi)
{
	struct cfa *run = memory_new(1, sizeof(*run));
	uint64_t end = 0, entry = cfi->entry;

	for (size_t i = 0; i < cfi->count && !cfi->stopped; i++) {
		uint64_t start = cfi->functions[i].start;

		/* 0: a library's, which has none. */
		if (entry && entry >= end && entry < start) {
			give_entry(cfi, entry, start);
			entry = 0;
		}
		give_function(cfi, run, i);
		end = run->end;
	}
	if (entry && entry >= end)
		give_entry(cfi, entry, UINT64_MAX);
	free(run);
}

/* ---------------------------------------------------------------- the file */

/* The address of .eh_frame: PT_GNU_EH_FRAME leads there, or its section. */
static bool find_eh_frame(const struct elf_file *file, uint64_t *address)
{
	const struct elf_file_section *section =
		elf_file_section_named(file, ".eh_frame");

	if (section && section->address && section->type != SHT_NOBITS) {
		*address = section->address;
		return true;
	}
	for (uint32_t i = 0; i < file->segment_count; i++) {
		uint64_t header = file->segments[i].address;
		uint8_t bytes[16];
		struct dwarf cursor = { { bytes, sizeof(bytes) }, 4, false };
		struct input input;

		/* version 1, encoding of the pointer, of two more */
		if (file->segments[i].type != PT_GNU_EH_FRAME ||
		    !elf_file_at(file, header, &input) ||
		    !input_copy(&input, 0, bytes, sizeof(bytes)) ||
		    bytes[0] != 1)
			continue;
		*address = dwarf_encoded(&cursor, header, bytes[1]);
		return !cursor.failed;
	}
	return false;
}

static void read_bytes(struct table *table, const struct input *input,
		       uint64_t most)
{
	uint8_t *copy = input_all(input, most);

	table->bytes = (struct bytes){ copy, copy ? (size_t)input->size : 0 };
}

static void read_eh(struct table *table, const struct elf_file *file)
{
	const struct elf_file_section *section =
		elf_file_section_named(file, ".eh_frame");
	struct input input;

	if (!find_eh_frame(file, &table->address) ||
	    !elf_file_at(file, table->address, &input))
		return;
	/* Its section tells where it ends, else a record of length 0. */
	if (section && section->address == table->address &&
	    section->size <= input.size) {
		input.size = section->size;
		table->sized = true;
	}
	read_bytes(table, &input, TABLE_MOST);
}

/* At most `most` bytes. */
static void read_debug(struct table *table, const struct elf_file *file,
		       uint64_t most)
{
	const struct elf_file_section *section =
		elf_file_section_named(file, ".debug_frame");
	uint8_t *memory = NULL;
	struct input input;

	table->debug = table->sized = true;
	if (!section || elf_packed_open(file, section, most, &input, &memory))
		return;
	if (memory)
		table->bytes = (struct bytes){ memory, (size_t)input.size };
	else
		read_bytes(table, &input, most);
}

uint64_t cfi_base(const struct elf_file *file)
{
	uint64_t base = UINT64_MAX;

	for (uint32_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].type == PT_LOAD &&
		    file->segments[i].address < base)
			base = file->segments[i].address;
	return base == UINT64_MAX ? 0 : base & ~(uint64_t)4095;
}

size_t cfi_rows(const struct elf_file *file, cfi_add *add, void *context)
{
	static const struct cie none = { .record = UINT64_MAX, .broken = true };
	struct cfi cfi = {
		.file = file, .base = cfi_base(file), .add = add,
		.context = context,
		.eh.cie = none, .debug.cie = none,
	};

	if (!ARCH_ELF_MACHINE || file->machine != ARCH_ELF_MACHINE ||
	    !file->wide || file->swapped)
		return 0;
	read_eh(&cfi.eh, file);
	read_debug(&cfi.debug, file, TABLE_MOST - cfi.eh.bytes.size);
	if (!cfi.eh.bytes.size && !cfi.debug.bytes.size)
		return 0;
	if (cfi.debug.bytes.size)
		switches_find(&cfi.switches, file);
	cfi.entry = file->entry < cfi.base ? 0 : file->entry;
	list_functions(&cfi, &cfi.eh);
	list_functions(&cfi, &cfi.debug);
	sort_by_u64(cfi.functions, cfi.count, sizeof(*cfi.functions));
	drop_others(&cfi);
	give_all(&cfi);
	free(cfi.functions);
	free((void *)cfi.eh.bytes.data);
	free((void *)cfi.debug.bytes.data);
	return cfi.rows;
}
