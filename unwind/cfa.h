/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_CFA_H
#define UNWIND_CFA_H

#include "unwind/dwarf.h"

/* What is known at one instruction of a function. */
struct cfa_state {
	uint8_t cfa;		/* CFA_ of bpf/unwind.h; CFA_SP: cfa_register,
				   whichever that is, + cfa_offset */
	uint64_t cfa_register;	/* as DWARF numbers it */
	int64_t cfa_offset;
	uint8_t fp;		/* FP_ of bpf/unwind.h */
	int64_t fp_offset;
	bool root;		/* the return address is undefined */
};

/* What all functions of a CIE have in common. */
struct cfa_common {
	uint64_t address;	/* where the table is loaded */
	uint64_t code;		/* factors of numbers in instructions */
	int64_t data;
	uint64_t return_register;
	uint8_t encoding;	/* of addresses */
};

enum { CFA_SAVED_MOST = 16 };	/* states remembered at once */

/*
 * Runs the instructions of a CIE (without `holds`) or an FDE up to `stop`, and
 * gives to `holds` each state with the addresses between which it holds; the
 * last one, from pc to end, is left to the caller.  cursor.failed: they cannot
 * be understood.
 */
struct cfa {
	struct cfa_common common;
	const struct cfa_state *initial;	/* after the CIE's */
	struct dwarf cursor;			/* at the first of them */
	struct cfa_state state, saved[CFA_SAVED_MOST];
	size_t saved_count;
	uint64_t pc, end;			/* of the function */
	void (*holds)(void *context, uint64_t from, uint64_t to,
		      const struct cfa_state *state);
	void *context;
};

void cfa_run(struct cfa *cfa, uint64_t stop);

#endif
