/* SPDX-License-Identifier: MIT */
/*
 * cfi: from .eh_frame (or .debug_frame) to rows.
 *
 * Both are a sequence of records:
 *
 *	CIE   length │ 0 (-1) │ version, "zR", factors, encoding │ instructions
 *	FDE   length │ its CIE │ first address, size │ instructions
 *
 * A CIE is what many functions have in common, an FDE is one function.  The
 * instructions, first the CIE's, then the FDE's, describe a table by its changes:
 *
 *	DW_CFA_def_cfa rsp+8        at the first instruction the CFA is rsp + 8
 *	DW_CFA_advance_loc 1        one byte further ...
 *	DW_CFA_def_cfa_offset 16    ... it is rsp + 16: after `push rbp`
 *	DW_CFA_offset rbp, -16      and there the caller's rbp is
 *	DW_CFA_advance_loc 3
 *	DW_CFA_def_cfa_register rbp    after `mov rbp, rsp`
 *
 * Of all registers only three matter here: the CFA, the caller's frame pointer,
 * the return address.  What comes out is a row per change.
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
#include "unwind/cfi.h"

enum {
	FUNCTIONS_MOST = 4 * 1024 * 1024,
	SAVED_MOST = 16,	/* states remembered at once */
};

#define TABLE_MOST (512ull << 20)

/* How a record is read: a place in the bytes of the section. */
struct cursor {
	struct bytes bytes;
	uint64_t at;
	bool failed;
};

struct cie {
	uint64_t record;	/* where it is; UINT64_MAX: none read yet */
	uint8_t encoding;	/* of addresses in its FDEs */
	bool augmented;		/* FDEs have a length of more */
	bool broken;
	uint64_t code, return_register;
	int64_t data;
	uint64_t instructions, end;
};

struct function {
	uint64_t start, record;
};

/* What is known at one instruction. */
struct state {
	uint8_t cfa;		/* CFA_ of unwind.h; CFA_SP, too, for any
				   register */
	uint64_t cfa_register;
	int64_t cfa_offset;
	uint8_t fp;		/* FP_ */
	int64_t fp_offset;
	bool root;		/* the return address is undefined */
};

struct cfi {
	struct bytes bytes;	/* of the section */
	uint64_t address;	/* where it is loaded */
	uint64_t base;
	bool debug;		/* .debug_frame */
	bool sized;		/* by a section: bytes end where it does */
	struct function *functions;
	size_t count, capacity;
	struct cie cie;		/* the last one read */
	struct state initial;	/* after its instructions */

	cfi_add *add;
	void *context;
	struct unwind_row last;
	bool any, stopped;
	size_t rows;
	uint64_t limit;		/* where the next function begins */
};

/* -------------------------------------------------------------- numbers */

static uint64_t take(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;

	if (!bytes_copy(cursor->bytes, cursor->at, &value, size))
		cursor->failed = true;
	cursor->at += size;
	return value;
}

static uint64_t take_unsigned(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = take(cursor, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80) || cursor->failed)
			return value;
	}
	cursor->failed = true;
	return 0;
}

static int64_t take_signed(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = take(cursor, 1);

		value |= (byte & 0x7f) << shift;
		if (byte & 0x80 && !cursor->failed)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			value |= ~0ull << (shift + 7);
		return (int64_t)value;
	}
	cursor->failed = true;
	return 0;
}

/* A number as its encoding says; 0x10: counted from where it stands. */
static uint64_t take_encoded(const struct cfi *cfi, struct cursor *cursor,
			     uint8_t encoding)
{
	uint64_t place = cfi->address + cursor->at, value;

	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = take(cursor, 8);
		break;
	case 0x01:
		value = take_unsigned(cursor);
		break;
	case 0x02:
		value = take(cursor, 2);
		break;
	case 0x03:
		value = take(cursor, 4);
		break;
	case 0x09:
		value = (uint64_t)take_signed(cursor);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)take(cursor, 2);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)take(cursor, 4);
		break;
	default:
		cursor->failed = true;
		return 0;
	}
	if ((encoding & 0x70) == 0x10)
		value += place;
	else if (encoding & 0x70)
		cursor->failed = true;
	return value;
}

/* --------------------------------------------------------------- records */

/*
 * The head of the record at cursor->at: what it says of its CIE, to *id, where
 * it ends, to *end.  False at the end of the section.
 */
static bool take_head(const struct cfi *cfi, struct cursor *cursor,
		      uint64_t *id, uint64_t *end)
{
	uint64_t length = take(cursor, 4);
	bool wide = length == UINT32_MAX;

	if (wide)
		length = take(cursor, 8);
	if (cursor->failed || length > cfi->bytes.size - cursor->at) {
		cursor->failed = true;
		return false;
	}
	if (!length)
		return false;
	*end = cursor->at + length;
	/* .eh_frame has 4 bytes there also in long records. */
	*id = take(cursor, wide && cfi->debug ? 8 : 4);
	return !cursor->failed;
}

static bool is_cie(const struct cfi *cfi, uint64_t id)
{
	return cfi->debug ? id == UINT32_MAX || id == UINT64_MAX : id == 0;
}

/* Where the CIE is of an FDE whose id stands in front of cursor->at. */
static uint64_t cie_of(const struct cfi *cfi, const struct cursor *cursor,
		       uint64_t id)
{
	return cfi->debug ? id : cursor->at - 4 - id;
}

static void read_augmentation(const struct cfi *cfi, struct cursor *cursor,
			      const char *text, struct cie *cie)
{
	uint64_t size = take_unsigned(cursor), end = cursor->at + size;

	cie->augmented = true;
	for (; *text && !cursor->failed; text++) {
		if (*text == 'R')
			cie->encoding = (uint8_t)take(cursor, 1);
		else if (*text == 'L')
			take(cursor, 1);
		else if (*text == 'P')
			take_encoded(cfi, cursor, take(cursor, 1) & 0x7f);
		else if (*text != 'S' && *text != 'B' && *text != 'G')
			break;
	}
	cursor->at = end;
}

static void read_cie(struct cfi *cfi, uint64_t record)
{
	struct cursor cursor = { .bytes = cfi->bytes, .at = record };
	struct cie *cie = &cfi->cie;
	const char *text;
	uint64_t id, version;

	*cie = (struct cie){ .record = record, .broken = true };
	if (!take_head(cfi, &cursor, &id, &cie->end) || !is_cie(cfi, id))
		return;
	version = take(&cursor, 1);
	text = bytes_text(cursor.bytes, cursor.at);
	if (!text)
		return;
	cursor.at += strlen(text) + 1;
	if (version == 4)
		take(&cursor, 2);	/* sizes of addresses and segments */
	cie->code = take_unsigned(&cursor);
	cie->data = take_signed(&cursor);
	cie->return_register = version == 1 ? take(&cursor, 1) :
			       take_unsigned(&cursor);
	if (*text == 'z')
		read_augmentation(cfi, &cursor, text + 1, cie);
	else if (*text)
		return;
	cie->instructions = cursor.at;
	cie->broken = cursor.failed || cursor.at > cie->end;
}

/* -------------------------------------------------------------------- rows */

static uint8_t rule_of(const struct state *state, struct unwind_row *row)
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
static void give_state(struct cfi *cfi, uint64_t from, uint64_t to,
		       const struct state *state)
{
	struct unwind_row row = { .pc = (uint32_t)(from - cfi->base) };

	if (from >= to || from >= cfi->limit ||
	    from - cfi->base >= UINT32_MAX)
		return;
	row.rule = rule_of(state, &row);
	if ((row.rule & 0x0f) == CFA_BAD || (row.rule & 0x0f) == CFA_END) {
		row.rule &= 0x0f;
		row.cfa = row.fp = 0;
	}
	give(cfi, row);
}

/* ------------------------------------------------------------ instructions */

/*
 * An expression for the CFA: of all that could stand there, three kinds do.
 *
 *	sp + 8 + ((ip & 15) >= N) * 8		a PLT's
 *	the word at sp + N			a signal's frame
 *	the word at fp + N			a stack that was aligned anew
 */
static void cfa_expression(struct bytes expression, struct state *state)
{
	static const uint8_t plt[] = ARCH_PLT_EXPRESSION;
	struct cursor cursor = { .bytes = expression, .at = 1 };
	const uint8_t *data = expression.data;
	uint8_t first;
	int64_t offset;

	state->cfa = CFA_BAD;
	if (expression.size < 3)
		return;
	if (ARCH_PLT_EXPRESSION_SIZE &&
	    expression.size == ARCH_PLT_EXPRESSION_SIZE &&
	    !memcmp(data, plt, sizeof(plt)) && data[6] >= 0x30 &&
	    data[6] < 0x40) {
		state->cfa = CFA_PLT;
		state->cfa_offset = data[6] - 0x30;	/* DW_OP_lit0 */
		return;
	}
	/* DW_OP_breg0 + N, an offset, DW_OP_deref */
	first = data[0];
	offset = take_signed(&cursor);
	if (cursor.failed || cursor.at + 1 != expression.size ||
	    data[cursor.at] != 0x06)
		return;
	if (first == 0x70 + ARCH_DWARF_SP)
		state->cfa = CFA_SIGNAL;
	else if (first == 0x70 + ARCH_DWARF_FP)
		state->cfa = CFA_DEREF;
	state->cfa_offset = offset;
}

/* "Saved at the address that this expression gives": fp + N, or unknown. */
static void fp_expression(struct bytes expression, struct state *state)
{
	struct cursor cursor = { .bytes = expression, .at = 1 };

	state->fp = FP_LOST;
	if (expression.size < 2 || *expression.data != 0x70 + ARCH_DWARF_FP)
		return;
	state->fp_offset = take_signed(&cursor);
	if (!cursor.failed && cursor.at == expression.size)
		state->fp = FP_FP;
}

static void set_fp(struct state *state, uint64_t which, uint8_t rule,
		   int64_t offset)
{
	if (which != ARCH_DWARF_FP)
		return;
	state->fp = rule;
	state->fp_offset = offset;
}

/* What a function is run with. */
struct run {
	struct cfi *cfi;
	struct cursor cursor;
	struct state state, saved[SAVED_MOST];
	size_t saved_count;
	uint64_t pc, end;	/* of the function; 0, 0: a CIE is run */
};

static void advance(struct run *run, uint64_t to)
{
	uint64_t stop = to < run->end ? to : run->end;

	if (run->end)
		give_state(run->cfi, run->pc, stop, &run->state);
	/* Backwards would make rows out of order. */
	if (to >= run->pc)
		run->pc = to;
	else
		run->cursor.failed = true;
}

static struct bytes take_block(struct cursor *cursor)
{
	uint64_t size = take_unsigned(cursor);
	struct bytes block;

	if (!bytes_part(cursor->bytes, cursor->at, size, &block))
		cursor->failed = true;
	cursor->at += size;
	return block;
}

/* Whether an instruction tells where a register was saved. */
static bool tells_of_register(uint8_t code)
{
	return (code >= 0x05 && code <= 0x09) || code == 0x10 ||
	       code == 0x11 || (code >= 0x14 && code <= 0x16);
}

static void run_register(struct run *run, uint8_t code)
{
	struct cursor *cursor = &run->cursor;
	struct state *state = &run->state;
	uint64_t which = take_unsigned(cursor);
	int64_t data = run->cfi->cie.data;
	struct bytes block;

	switch (code) {
	case 0x05:	/* DW_CFA_offset_extended */
		set_fp(state, which, FP_CFA,
		       (int64_t)(take_unsigned(cursor) * (uint64_t)data));
		break;
	case 0x11:	/* DW_CFA_offset_extended_sf */
		set_fp(state, which, FP_CFA, (int64_t)
		       ((uint64_t)take_signed(cursor) * (uint64_t)data));
		break;
	case 0x06:	/* DW_CFA_restore_extended */
		set_fp(state, which, run->cfi->initial.fp,
		       run->cfi->initial.fp_offset);
		break;
	case 0x07:	/* DW_CFA_undefined */
		set_fp(state, which, FP_LOST, 0);
		if (which == run->cfi->cie.return_register)
			state->root = true;
		break;
	case 0x08:	/* DW_CFA_same_value */
		set_fp(state, which, FP_SAME, 0);
		break;
	case 0x09:	/* DW_CFA_register */
	case 0x14:	/* DW_CFA_val_offset */
		take_unsigned(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	case 0x15:	/* DW_CFA_val_offset_sf */
		take_signed(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	case 0x10:	/* DW_CFA_expression */
		block = take_block(cursor);
		if (which == ARCH_DWARF_FP)
			fp_expression(block, state);
		break;
	case 0x16:	/* DW_CFA_val_expression */
		take_block(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	default:
		break;
	}
}

/* Instructions that tell what the CFA is. */
static bool run_cfa(struct run *run, uint8_t code)
{
	struct cursor *cursor = &run->cursor;
	struct state *state = &run->state;
	int64_t data = run->cfi->cie.data;

	switch (code) {
	case 0x0c:	/* DW_CFA_def_cfa */
	case 0x12:	/* DW_CFA_def_cfa_sf */
		state->cfa = CFA_SP;
		state->cfa_register = take_unsigned(cursor);
		state->cfa_offset = code == 0x0c ?
			(int64_t)take_unsigned(cursor) : (int64_t)
			((uint64_t)take_signed(cursor) * (uint64_t)data);
		return true;
	case 0x0d:	/* DW_CFA_def_cfa_register */
		state->cfa = CFA_SP;
		state->cfa_register = take_unsigned(cursor);
		return true;
	case 0x0e:	/* DW_CFA_def_cfa_offset */
		state->cfa_offset = (int64_t)take_unsigned(cursor);
		return true;
	case 0x13:	/* DW_CFA_def_cfa_offset_sf */
		state->cfa_offset = (int64_t)((uint64_t)take_signed(cursor) *
					      (uint64_t)data);
		return true;
	case 0x0f:	/* DW_CFA_def_cfa_expression */
		cfa_expression(take_block(cursor), state);
		return true;
	default:
		return false;
	}
}

static void run_other(struct run *run, uint8_t code)
{
	struct cursor *cursor = &run->cursor;
	uint64_t factor = run->cfi->cie.code;

	switch (code) {
	case 0x00:	/* DW_CFA_nop */
		break;
	case 0x01:	/* DW_CFA_set_loc */
		advance(run, take_encoded(run->cfi, cursor,
					  run->cfi->cie.encoding));
		break;
	case 0x02:	/* DW_CFA_advance_loc1, 2, 4 */
		advance(run, run->pc + take(cursor, 1) * factor);
		break;
	case 0x03:
		advance(run, run->pc + take(cursor, 2) * factor);
		break;
	case 0x04:
		advance(run, run->pc + take(cursor, 4) * factor);
		break;
	case 0x0a:	/* DW_CFA_remember_state */
		if (run->saved_count == SAVED_MOST)
			cursor->failed = true;
		else
			run->saved[run->saved_count++] = run->state;
		break;
	case 0x0b:	/* DW_CFA_restore_state */
		if (!run->saved_count)
			cursor->failed = true;
		else
			run->state = run->saved[--run->saved_count];
		break;
	case 0x2d:	/* DW_CFA_GNU_window_save: none of ours */
		break;
	case 0x2e:	/* DW_CFA_GNU_args_size */
		take_unsigned(cursor);
		break;
	default:
		cursor->failed = true;
		break;
	}
}

static void run_until(struct run *run, uint64_t end)
{
	const struct cie *cie = &run->cfi->cie;

	while (run->cursor.at < end && !run->cursor.failed &&
	       !run->cfi->stopped) {
		uint8_t code = (uint8_t)take(&run->cursor, 1);
		uint8_t low = code & 0x3f;

		switch (code & 0xc0) {
		case 0x40:	/* DW_CFA_advance_loc */
			advance(run, run->pc + low * cie->code);
			break;
		case 0x80:	/* DW_CFA_offset */
			set_fp(&run->state, low, FP_CFA, (int64_t)
			       (take_unsigned(&run->cursor) *
				(uint64_t)cie->data));
			break;
		case 0xc0:	/* DW_CFA_restore */
			set_fp(&run->state, low, run->cfi->initial.fp,
			       run->cfi->initial.fp_offset);
			break;
		default:
			if (tells_of_register(code))
				run_register(run, code);
			else if (!run_cfa(run, code))
				run_other(run, code);
			break;
		}
	}
}

/* -------------------------------------------------------------- functions */

/* The CIE at `record`, and what its instructions make of nothing. */
static bool use_cie(struct cfi *cfi, uint64_t record)
{
	struct run *run;

	if (cfi->cie.record == record)
		return !cfi->cie.broken;
	read_cie(cfi, record);
	cfi->initial = (struct state){ .cfa = CFA_BAD };
	if (cfi->cie.broken)
		return false;
	run = memory_new(1, sizeof(*run));
	run->cfi = cfi;
	run->cursor = (struct cursor){ cfi->bytes, cfi->cie.instructions,
				       false };
	run->state = cfi->initial;
	run_until(run, cfi->cie.end);
	cfi->initial = run->state;
	cfi->cie.broken = run->cursor.failed;
	free(run);
	return !cfi->cie.broken;
}

/*
 * The FDE at `record`: its first address and the one behind its last.  The
 * cursor is then at its instructions, and *stop is behind them.
 */
static bool read_function(struct cfi *cfi, uint64_t record,
			  struct cursor *cursor, uint64_t *start,
			  uint64_t *end, uint64_t *stop)
{
	uint64_t id, size;

	*cursor = (struct cursor){ .bytes = cfi->bytes, .at = record };
	if (!take_head(cfi, cursor, &id, stop) || is_cie(cfi, id) ||
	    !use_cie(cfi, cie_of(cfi, cursor, id)))
		return false;
	*start = take_encoded(cfi, cursor, cfi->cie.encoding);
	size = take_encoded(cfi, cursor, cfi->cie.encoding & 0x0f);
	*end = *start + size;
	if (cfi->cie.augmented)
		cursor->at += take_unsigned(cursor);
	return !cursor->failed && cursor->at <= *stop && *end > *start &&
	       *start >= cfi->base;
}

/* Lists all functions; what cannot be read is left out. */
static void list_functions(struct cfi *cfi)
{
	struct cursor cursor = { .bytes = cfi->bytes };

	while (cfi->count < FUNCTIONS_MOST) {
		struct function function = { .record = cursor.at };
		uint64_t id, next, end, stop;
		struct cursor inside;

		if (!take_head(cfi, &cursor, &id, &next)) {
			/* An empty record is the end, or of one of the parts
			 * that the linker put together. */
			if (!cfi->sized || cursor.failed)
				break;
			cursor.at = function.record + 4;
			continue;
		}
		cursor.at = next;
		if (is_cie(cfi, id) ||
		    !read_function(cfi, function.record, &inside,
				   &function.start, &end, &stop))
			continue;
		cfi->functions = memory_grow(cfi->functions, &cfi->capacity,
					     cfi->count + 1,
					     sizeof(*cfi->functions));
		cfi->functions[cfi->count++] = function;
	}
}

static int cmp_function(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start == y->start ? cmp_u64(&x->record, &y->record) :
	       cmp_u64(&x->start, &y->start);
}

static void sort_functions(struct cfi *cfi)
{
	for (size_t i = 1; i < cfi->count; i++)
		if (cfi->functions[i].start < cfi->functions[i - 1].start) {
			qsort(cfi->functions, cfi->count,
			      sizeof(*cfi->functions), cmp_function);
			return;
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
 * say so by having no rule at all.
 */
static void give_entry(struct cfi *cfi, uint64_t entry)
{
	give(cfi, (struct unwind_row){
		.pc = (uint32_t)(entry - cfi->base), .rule = CFA_END,
	});
}

static void give_function(struct cfi *cfi, struct run *run, size_t number)
{
	uint64_t stop;

	run->cfi = cfi;
	run->saved_count = 0;
	if (!read_function(cfi, cfi->functions[number].record, &run->cursor,
			   &run->pc, &run->end, &stop))
		return;
	cfi->limit = number + 1 < cfi->count ?
		     cfi->functions[number + 1].start : UINT64_MAX;
	if (run->end > cfi->limit)
		run->end = cfi->limit;
	run->state = cfi->initial;
	run_until(run, stop);
	if (run->cursor.failed)
		run->state = (struct state){ .cfa = CFA_BAD };
	give_state(cfi, run->pc, run->end, &run->state);
	if (run->end < cfi->limit)
		give_nothing(cfi, run->end);
}

static void give_all(struct cfi *cfi, uint64_t entry)
{
	struct run *run = memory_new(1, sizeof(*run));
	uint64_t end = 0;

	for (size_t i = 0; i < cfi->count && !cfi->stopped; i++) {
		if (entry >= cfi->base && entry >= end &&
		    entry < cfi->functions[i].start) {
			give_entry(cfi, entry);
			entry = 0;
		}
		/* One that begins where another does is a copy of it. */
		if (i + 1 < cfi->count && cfi->functions[i + 1].start ==
		    cfi->functions[i].start)
			continue;
		give_function(cfi, run, i);
		end = run->end;
	}
	if (entry >= cfi->base && entry >= end && !cfi->stopped)
		give_entry(cfi, entry);
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
		struct cfi header = { .address = file->segments[i].address };
		uint8_t bytes[16];
		struct cursor cursor = { { bytes, sizeof(bytes) }, 4, false };
		struct input input;

		/* version 1, encoding of the pointer, of two more */
		if (file->segments[i].type != PT_GNU_EH_FRAME ||
		    !elf_file_at(file, header.address, &input) ||
		    !input_copy(&input, 0, bytes, sizeof(bytes)) ||
		    bytes[0] != 1)
			continue;
		*address = take_encoded(&header, &cursor, bytes[1]);
		return !cursor.failed;
	}
	return false;
}

/* The bytes of the table, to be freed; NULL if there is none. */
static uint8_t *read_table(struct cfi *cfi, const struct elf_file *file)
{
	const struct elf_file_section *section =
		elf_file_section_named(file, ".eh_frame");
	uint8_t *memory = NULL, *copy;
	struct input input;

	if (find_eh_frame(file, &cfi->address) &&
	    elf_file_at(file, cfi->address, &input)) {
		/* Its section tells where it ends, else a record of length 0. */
		if (section && section->address == cfi->address &&
		    section->size <= input.size) {
			input.size = section->size;
			cfi->sized = true;
		}
	} else {
		section = elf_file_section_named(file, ".debug_frame");
		cfi->debug = cfi->sized = true;
		if (!section || elf_packed_open(file, section, TABLE_MOST,
						&input, &memory))
			return NULL;
	}
	copy = input_all(&input, TABLE_MOST);
	cfi->bytes = (struct bytes){ copy, copy ? (size_t)input.size : 0 };
	free(memory);
	return copy;
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
	struct cfi cfi = {
		.base = cfi_base(file), .cie.record = UINT64_MAX,
		.add = add, .context = context,
	};
	uint8_t *table;

	if (!ARCH_ELF_MACHINE || file->machine != ARCH_ELF_MACHINE ||
	    !file->wide || file->swapped)
		return 0;
	table = read_table(&cfi, file);
	if (!table)
		return 0;
	list_functions(&cfi);
	sort_functions(&cfi);
	give_all(&cfi, file->entry);
	free(cfi.functions);
	free(table);
	return cfi.rows;
}
