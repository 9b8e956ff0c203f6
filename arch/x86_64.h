/* SPDX-License-Identifier: MIT */
#include "arch/call_x86_64.h"

/* Source: arch/x86/include/asm/idtentry.h. */
#define ARCH_INTERRUPT_ENTRIES						\
	"asm_exc_", "asm_sysvec_", "asm_common_interrupt",		\
	"asm_spurious_interrupt", "asm_fred_", "common_interrupt_return", \
	"ret_from_intr", "apic_timer_interrupt", "error_entry"

/*
 * mov $15,%rax; syscall.  In 32-bit programs: mov $173,%eax; int $0x80 and
 * pop %eax; mov $119,%eax; int $0x80.
 */
#define ARCH_SIGRETURNS							\
	{ "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9 },			\
	{ "\xb8\xad\0\0\0\xcd\x80", 7 },					\
	{ "\x58\xb8\x77\0\0\0\xcd\x80", 8 }, { "", 0 }

/*
 * Registers as DWARF numbers them, and DWARF expressions that compilers and
 * linkers write where a register and an offset are not enough.
 * Source: System V ABI, AMD64 supplement, "DWARF Register Number Mapping";
 * sysdeps/unix/sysv/linux/x86_64/sigaction.c of glibc; elfxx-x86.c of binutils.
 */
#define ARCH_ELF_MACHINE	62	/* EM_X86_64 */
#define ARCH_DWARF_FP		6
#define ARCH_DWARF_SP		7
#define ARCH_DWARF_RETURN	16
/* rsp + 8 + ((rip & 15) >= N) * 8: how far a stub of the PLT has come. */
#define ARCH_PLT_EXPRESSION						\
	{ 0x77, 8, 0x80, 0, 0x3f, 0x1a }
#define ARCH_PLT_EXPRESSION_SIZE	11
#define ARCH_SIGNAL_FP		(-40)	/* as in arch/bpf.h */
