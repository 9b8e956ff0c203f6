/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Source: arch/x86/include/uapi/asm/ptrace.h and asm/segment.h (the selectors
 * of user code: 0x33 of 64 bits, 0x23 of 32), asm/sigcontext.h: r8 to r15, di,
 * si, bp, bx, dx, ax, cx, sp, ip.
 */
#include <asm/ptrace.h>

#include "arch/call_x86_64.h"

#define ARCH_IS_USER(regs)	(((regs).cs & 0xffff) == 0x33)
#define ARCH_IS_OTHER(regs)	(((regs).cs & 3) && !ARCH_IS_USER(regs))
#define ARCH_IP(regs)		((regs).rip)
#define ARCH_SP(regs)		((regs).rsp)
#define ARCH_FP(regs)		((regs).rbp)
#define ARCH_SIGNAL_FP		(-40)

/* Newer kernels have cs in 16 of the 64 bits: only these may be read. */
#define ARCH_TAKE_TASK(at) ({						\
	struct pt_regs *task = bpf_task_pt_regs(			\
		bpf_get_current_task_btf());				\
	bool is_user = *(volatile __u16 *)&task->cs == 0x33;		\
									\
	if (is_user) {							\
		(at).ip = task->rip;					\
		(at).sp = task->rsp;					\
		(at).fp = task->rbp;					\
	}								\
	is_user;							\
})
