/* SPDX-License-Identifier: MIT */
/* Source: arch/arm64/kernel/entry.S (el1_irq until Linux 5.13). */
#define ARCH_INTERRUPT_ENTRIES						\
	"el1h_64_", "el1t_64_", "el0t_64_irq", "el0t_64_fiq",		\
	"el0t_64_error", "el1_irq", "el1_sync", "el1_error", "el0_irq"

/* No tables are made for this CPU yet. */
#define ARCH_ELF_MACHINE	0
#define ARCH_DWARF_FP		0
#define ARCH_DWARF_SP		0
#define ARCH_DWARF_RETURN	0
#define ARCH_PLT_EXPRESSION	{ 0 }
#define ARCH_PLT_EXPRESSION_SIZE	0
/* mov x8, #139; svc #0 */
#define ARCH_SIGRETURNS							\
	{ "\x68\x11\x80\xd2\x01\0\0\xd4", 8 }, { "", 0 }
#define ARCH_SIGNAL_FP		(0)	/* as in arch/bpf.h */
#define ARCH_CALLS		{ 0, 0, 1 }	/* none is known */
#define ARCH_CALL_DISTANCE(word)	0
