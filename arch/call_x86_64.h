/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef ARCH_CALL_X86_64_H
#define ARCH_CALL_X86_64_H

/*
 * What a call looks like in the 8 bytes in front of the address that it returns
 * to, as a little-endian word: { shift, mask, value }.  E8 and 4 bytes; or FF, a
 * byte with 2 in its bits 3 to 5, and 0, 1, 2, 4 or 5 bytes more.
 * Source: Intel SDM, volume 2, CALL and 2.1.5.
 */
#define ARCH_CALLS							\
	{ 24, 0x00ff, 0x00e8 },						\
	{ 48, 0x38ff, 0x10ff }, { 40, 0x38ff, 0x10ff },			\
	{ 32, 0x38ff, 0x10ff },						\
	{ 16, 0x38ff, 0x10ff }, { 8, 0x38ff, 0x10ff }

/* The first of these tells what it calls: so far from where it returns to. */
#define ARCH_CALL_DISTANCE(word)	((__s64)(__s32)((word) >> 32))

#endif
