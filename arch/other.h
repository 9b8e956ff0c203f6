/* SPDX-License-Identifier: MIT */
/* A CPU that nobody has described yet: all but the details works. */
#define ARCH_INTERRUPT_ENTRIES						\
	"handle_exception", "do_interrupt", "interrupt_return",		\
	"int_return", "__irq_svc", "hardware_interrupt_common"

/* No tables are made for this CPU yet. */
#define ARCH_ELF_MACHINE	0
#define ARCH_DWARF_FP		0
#define ARCH_DWARF_SP		0
#define ARCH_DWARF_RETURN	0
#define ARCH_PLT_EXPRESSION	{ 0 }
#define ARCH_PLT_EXPRESSION_SIZE	0
#define ARCH_SIGRETURNS { "", 0 }
#define ARCH_SIGNAL_FP		(0)	/* as in arch/bpf.h */
#define ARCH_CALLS		{ 0, 0, 1 }	/* none is known */
#define ARCH_CALL_DISTANCE(word)	0
