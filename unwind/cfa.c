/* SPDX-License-Identifier: MIT */
/*
 * cfa: the instructions of .eh_frame and .debug_frame, which describe a table by its
 * changes:
 *
 *	DW_CFA_def_cfa rsp+8        at the first instruction the CFA is rsp + 8
 *	DW_CFA_advance_loc 1        one byte further ...
 *	DW_CFA_def_cfa_offset 16    ... it is rsp + 16: after `push rbp`
 *	DW_CFA_offset rbp, -16      and there the caller's rbp is
 *	DW_CFA_advance_loc 3
 *	DW_CFA_def_cfa_register rbp    after `mov rbp, rsp`
 *
 * Of all registers only three matter here: the CFA, the caller's frame pointer,
 * the return address.
 *
 * Source: DWARF 5, 6.4.2 and 7.24.
 */
#include <string.h>

#include "arch/arch.h"
#include "bpf/unwind.h"
#include "unwind/cfa.h"

/*
 * An expression for the CFA: of all that could stand there, three kinds do.
 *
 *	sp + 8 + ((ip & 15) >= N) * 8		a PLT's
 *	the word at sp + N			a signal's frame
 *	the word at fp + N			a stack that was aligned anew
 */
static void cfa_expression(struct bytes expression, struct cfa_state *state)
{
	static const uint8_t plt[] = ARCH_PLT_EXPRESSION;
	struct dwarf cursor = { .bytes = expression, .at = 1 };
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
	offset = dwarf_signed(&cursor);
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
static void fp_expression(struct bytes expression, struct cfa_state *state)
{
	struct dwarf cursor = { .bytes = expression, .at = 1 };

	state->fp = FP_LOST;
	if (expression.size < 2 || *expression.data != 0x70 + ARCH_DWARF_FP)
		return;
	state->fp_offset = dwarf_signed(&cursor);
	if (!cursor.failed && cursor.at == expression.size)
		state->fp = FP_FP;
}

static void set_fp(struct cfa_state *state, uint64_t which, uint8_t rule,
		   int64_t offset)
{
	if (which != ARCH_DWARF_FP)
		return;
	state->fp = rule;
	state->fp_offset = offset;
}

static void advance(struct cfa *run, uint64_t to)
{
	uint64_t stop = to < run->end ? to : run->end;

	if (run->holds && run->pc < stop)
		run->holds(run->context, run->pc, stop, &run->state);
	/* Backwards would make rows out of order. */
	if (to >= run->pc)
		run->pc = to;
	else
		run->cursor.failed = true;
}

/* Whether an instruction tells where a register was saved. */
static bool tells_of_register(uint8_t code)
{
	return (code >= 0x05 && code <= 0x09) || code == 0x10 ||
	       code == 0x11 || (code >= 0x14 && code <= 0x16);
}

static void run_register(struct cfa *run, uint8_t code)
{
	struct dwarf *cursor = &run->cursor;
	struct cfa_state *state = &run->state;
	uint64_t which = dwarf_unsigned(cursor);
	int64_t data = run->common.data;
	struct bytes block;

	switch (code) {
	case 0x05:	/* DW_CFA_offset_extended */
		set_fp(state, which, FP_CFA,
		       (int64_t)(dwarf_unsigned(cursor) * (uint64_t)data));
		break;
	case 0x11:	/* DW_CFA_offset_extended_sf */
		set_fp(state, which, FP_CFA, (int64_t)
		       ((uint64_t)dwarf_signed(cursor) * (uint64_t)data));
		break;
	case 0x06:	/* DW_CFA_restore_extended */
		set_fp(state, which, run->initial->fp,
		       run->initial->fp_offset);
		break;
	case 0x07:	/* DW_CFA_undefined */
		set_fp(state, which, FP_LOST, 0);
		if (which == run->common.return_register)
			state->root = true;
		break;
	case 0x08:	/* DW_CFA_same_value */
		set_fp(state, which, FP_SAME, 0);
		break;
	case 0x09:	/* DW_CFA_register */
	case 0x14:	/* DW_CFA_val_offset */
		dwarf_unsigned(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	case 0x15:	/* DW_CFA_val_offset_sf */
		dwarf_signed(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	case 0x10:	/* DW_CFA_expression */
		block = dwarf_block(cursor);
		if (which == ARCH_DWARF_FP)
			fp_expression(block, state);
		break;
	case 0x16:	/* DW_CFA_val_expression */
		dwarf_block(cursor);
		set_fp(state, which, FP_LOST, 0);
		break;
	default:
		break;
	}
}

/* Of a register; an expression has none, and stays what it is. */
static void set_offset(struct cfa_state *state, int64_t offset)
{
	if (state->cfa == CFA_SP)
		state->cfa_offset = offset;
}

/* Instructions that tell what the CFA is. */
static bool run_cfa(struct cfa *run, uint8_t code)
{
	struct dwarf *cursor = &run->cursor;
	struct cfa_state *state = &run->state;
	int64_t data = run->common.data;

	switch (code) {
	case 0x0c:	/* DW_CFA_def_cfa */
	case 0x12:	/* DW_CFA_def_cfa_sf */
		state->cfa = CFA_SP;
		state->cfa_register = dwarf_unsigned(cursor);
		state->cfa_offset = code == 0x0c ?
			(int64_t)dwarf_unsigned(cursor) : (int64_t)
			((uint64_t)dwarf_signed(cursor) * (uint64_t)data);
		return true;
	case 0x0d:	/* DW_CFA_def_cfa_register */
		state->cfa = CFA_SP;
		state->cfa_register = dwarf_unsigned(cursor);
		return true;
	case 0x0e:	/* DW_CFA_def_cfa_offset */
		set_offset(state, (int64_t)dwarf_unsigned(cursor));
		return true;
	case 0x13:	/* DW_CFA_def_cfa_offset_sf */
		set_offset(state, (int64_t)((uint64_t)dwarf_signed(cursor) *
					    (uint64_t)data));
		return true;
	case 0x0f:	/* DW_CFA_def_cfa_expression */
		cfa_expression(dwarf_block(cursor), state);
		return true;
	default:
		return false;
	}
}

static void run_other(struct cfa *run, uint8_t code)
{
	struct dwarf *cursor = &run->cursor;
	uint64_t factor = run->common.code;

	switch (code) {
	case 0x00:	/* DW_CFA_nop */
		break;
	case 0x01:	/* DW_CFA_set_loc */
		advance(run, dwarf_encoded(cursor, run->common.address,
					   run->common.encoding));
		break;
	case 0x02:	/* DW_CFA_advance_loc1, 2, 4 */
		advance(run, run->pc + dwarf_byte(cursor) * factor);
		break;
	case 0x03:
		advance(run, run->pc + dwarf_take(cursor, 2) * factor);
		break;
	case 0x04:
		advance(run, run->pc + dwarf_take(cursor, 4) * factor);
		break;
	case 0x0a:	/* DW_CFA_remember_state */
		if (run->saved_count == CFA_SAVED_MOST)
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
		dwarf_unsigned(cursor);
		break;
	default:
		cursor->failed = true;
		break;
	}
}

void cfa_run(struct cfa *run, uint64_t end)
{
	const struct cfa_common *cie = &run->common;

	while (run->cursor.at < end && !run->cursor.failed) {
		uint8_t code = dwarf_byte(&run->cursor);
		uint8_t low = code & 0x3f;

		switch (code & 0xc0) {
		case 0x40:	/* DW_CFA_advance_loc */
			advance(run, run->pc + low * cie->code);
			break;
		case 0x80:	/* DW_CFA_offset */
			set_fp(&run->state, low, FP_CFA, (int64_t)
			       (dwarf_unsigned(&run->cursor) *
				(uint64_t)cie->data));
			break;
		case 0xc0:	/* DW_CFA_restore */
			set_fp(&run->state, low, run->initial->fp,
			       run->initial->fp_offset);
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
