/* SPDX-License-Identifier: MIT */
/* A CPU that nobody has described yet: all but the details works. */
#define ARCH_INTERRUPT_ENTRIES						\
	"handle_exception", "do_interrupt", "interrupt_return",		\
	"int_return", "__irq_svc", "hardware_interrupt_common"
