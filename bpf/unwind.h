/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind.h: how user stacks are walked without frame pointers: the contract
 * between bpf/walk.h, which walks in the kernel, and unwind/, which makes the
 * tables and walks copies of stacks.
 *
 * At each instruction, a row says where the caller's frame is (the CFA: the
 * value that the stack pointer had before the call) and where the frame pointer
 * was saved.  The return address is right below the CFA.
 *
 *	spaces[tgid]          ──> a run of mappings, sorted by address
 *	mappings[0].at[]      ──> a run of parts of the mapped file's table
 *	parts[0].at[]         ──> chunks of rows, sorted by address
 *	rows[chunk].at[1024]  ──> the row of the instruction
 *
 * mappings, parts and rows are mapped into prof while it writes them, so that no
 * system call is needed for each element.
 *
 *	     32 bits      16 bits     8 bits        8 bits
 *	┌──────────────┬───────────┬──────────┬──────────────────┐
 *	│ pc           │ cfa / 8   │ fp / 8   │ rule: fp 4, cfa 4│   a row
 *	└──────────────┴───────────┴──────────┴──────────────────┘
 *
 * pc counts from the mapped file's first address; a row holds up to the next.
 */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include <linux/types.h>

/* The lower half of unwind_row.rule: how to find the CFA. */
enum {
	CFA_NONE,	/* nothing is known here: by frame pointer */
	CFA_SP,		/* stack pointer + cfa */
	CFA_FP,		/* frame pointer + cfa */
	CFA_PLT,	/* stack pointer + 8, or + 16 behind the push of a stub
			   of the PLT: from byte `cfa` of its 16 on */
	CFA_SIGNAL,	/* registers saved at stack pointer + cfa by a signal */
	CFA_DEREF,	/* the word at frame pointer + cfa */
	CFA_END,	/* there is no caller: the stack's root */
	CFA_BAD,	/* there is a rule, but none of these */
};

/* The upper half: where the caller's frame pointer is. */
enum {
	FP_SAME = 0x00,	/* still in its register */
	FP_CFA = 0x10,	/* saved at CFA + fp */
	FP_FP = 0x20,	/* saved at frame pointer + fp */
	FP_LOST = 0x30,	/* nowhere; who needs it cannot go on */
};

struct unwind_row {
	__u32 pc;
	__s16 cfa;	/* in words of 8 bytes, but for CFA_PLT */
	__s8 fp;	/* in words of 8 bytes */
	__u8 rule;
};

enum {
	ROWS_IN_CHUNK = 1024,		/* 8 KB; the last ones of a file may be
					   unused: their pc is PC_NONE */
	PARTS_MOST = 32768,		/* chunks, of all files */
	PARTS_OF_FILE = 2048,		/* 2 million rows */
	MAPPINGS_MOST = 32768,		/* of all processes: 1 MB */
	MAPPINGS_OF_SPACE = 8192,	/* of one */
	SPACES_MOST = 4096,		/* processes */
};

#define PC_NONE 0xffffffffu

struct unwind_chunk {
	struct unwind_row at[ROWS_IN_CHUNK];
};

struct unwind_part {
	__u32 pc;		/* of its first row */
	__u32 chunk;
};

struct unwind_parts {
	struct unwind_part at[PARTS_MOST];
};

/* Executable code of a process, between two addresses. */
struct unwind_mapping {
	__u64 start, end;
	__u64 bias;		/* address - bias = pc of rows */
	__u32 part, parts;	/* a run of parts; 0 parts: no table */
};

struct unwind_mappings {
	struct unwind_mapping at[MAPPINGS_MOST];
};

/* What is known about a process: an element of `spaces`, by its tgid. */
struct unwind_space {
	__u32 first, count;	/* a run of mappings */
	__u32 flags;
	__u32 unused;
};

enum {
	SPACE_NO_COPY = 1,	/* copies of its stacks did not help */
};

/*
 * What stands behind the last frame of a stack that did not reach its root: no
 * code is at such addresses.
 */
enum {
	WALK_NO_MAPPING = 1,	/* the address belongs to nothing mapped */
	WALK_NO_ROW = 2,	/* no rule for it, and frame pointers fail */
	WALK_UNREADABLE = 3,	/* the stack's memory is not there */
	WALK_TOO_DEEP = 4,
	WALK_CAUSES = 5,
};

/* Slots of the map `walkers`: programs that call each other. */
enum {
	WALKER_BEGIN,	/* the user's registers, the process's space */
	WALKER_STEPS,	/* some frames; calls itself */
	WALKER_COPY,	/* sends the stack's memory away */
	WALKER_END,	/* stores and counts what was found */
	WALKERS,
};

/* The registers that a walk needs. */
struct unwind_registers {
	__u64 ip, sp, fp;
};

/*
 * Of code without a rule: so many words from the stack pointer on can have its
 * return address.
 */
enum {
	NEAR_WORDS = 4,
	FUNCTION_MOST = 65536,	/* bytes of such code */
};

enum {
	COPY_PAGE = 4096,
	COPY_USUAL = 16384,
	COPY_BYTES = 65536,	/* of a stack that goes on behind that */
};

_Static_assert(sizeof(struct unwind_row) == 8, "unwind_row");
_Static_assert(sizeof(struct unwind_chunk) == 8192, "unwind_chunk");
_Static_assert(sizeof(struct unwind_mapping) == 32, "unwind_mapping");
_Static_assert(sizeof(struct unwind_space) == 16, "unwind_space");

#endif
