/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lanes: two 64-bit hashes of a stack in one pass.
 *
 * For each word x:
 *
 *	t = (a ^ x) * m0
 *	b = (b ^ t) * m1
 *	a = byteswap(t) * m2
 *
 * Lane a is the key of the stack, lane b is compared when a key is found.  All
 * three multipliers and the start are secret and drawn anew in each run; the
 * lanes share them (a begins at start, b at ~start) and differ in how they mix.
 * Why the byte swap: a multiplication carries differences upwards only, and a
 * difference in the highest bit stays exactly that; with xor and shifts alone
 * two words can be chosen so that their differences cancel whatever the seed
 * is.  Here the highest bits come down and are multiplied again by a number
 * that the chooser does not know.  Each step can be undone when x is known, so
 * two stacks that differ in one word never share lane a.
 *
 * Compiled for the kernel by bpf_prog.c and for this machine by the tests.
 */
#ifndef BPF_LANES_H
#define BPF_LANES_H

#include <linux/types.h>

/* Secret and new in every run, so that nobody can build stacks that collide. */
struct seeds {
	__u64 start;
	__u64 multiply[3];	/* odd */
};

struct lanes {
	__u64 a, b;
};

static inline __attribute__((always_inline))
void lanes_add(struct lanes *lanes, const struct seeds *seeds, __u64 word)
{
	__u64 t = (lanes->a ^ word) * seeds->multiply[0];

	lanes->b = (lanes->b ^ t) * seeds->multiply[1];
	lanes->a = __builtin_bswap64(t) * seeds->multiply[2];
}

/*
 * `kind` tells apart what has the same words.  It is a word of its own: were it
 * xored to the first one, a longer stack could undo it there, and frames of 0
 * behind (frame pointers end so) would not show.
 */
static inline __attribute__((always_inline))
void lanes_start(struct lanes *lanes, const struct seeds *seeds, __u64 kind)
{
	lanes->a = seeds->start;
	lanes->b = ~seeds->start;
	lanes_add(lanes, seeds, kind);
}

static inline __attribute__((always_inline))
__u64 lanes_end(__u64 lane)
{
	lane ^= lane >> 32;
	lane *= 0xd6e8feb86659fd93ull;
	lane ^= lane >> 29;
	lane *= 0x9fb21c651e98df25ull;
	return lane ^ lane >> 32;
}

#endif
