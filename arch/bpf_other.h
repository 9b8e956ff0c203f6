/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A CPU for which nobody has made tables yet: stacks are by frame pointers. */
#define ARCH_IS_USER(regs)	false
#define ARCH_IS_OTHER(regs)	true
#define ARCH_IP(regs)		0
#define ARCH_SP(regs)		0
#define ARCH_FP(regs)		0
#define ARCH_SIGNAL_FP		0
#define ARCH_TAKE_TASK(at)	false
#define ARCH_CALLS		{ 0, 0, 1 }
#define ARCH_CALL_DISTANCE(word)	0
