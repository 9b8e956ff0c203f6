/* SPDX-License-Identifier: MIT */
/* Source: arch/x86/include/asm/idtentry.h. */
#define ARCH_INTERRUPT_ENTRIES						\
	"asm_exc_", "asm_sysvec_", "asm_common_interrupt",		\
	"asm_spurious_interrupt", "asm_fred_", "common_interrupt_return", \
	"ret_from_intr", "apic_timer_interrupt", "error_entry"
