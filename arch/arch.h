/* SPDX-License-Identifier: MIT */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

/*
 * The one place that asks which CPU this is.  Each header defines
 *
 *	ARCH_INTERRUPT_ENTRIES	beginnings of the names of functions through
 *				which interrupts and exceptions come in; the
 *				frame they interrupted is not a call
 *	ARCH_ELF_MACHINE	whose files unwind/ can make tables of; 0: none
 *	ARCH_DWARF_...		what unwind/cfi.c has to know of registers
 *	ARCH_SIGRETURNS		instructions that a signal's handler returns
 *				to, { bytes, how many }, the last one { "", 0 }
 *	ARCH_CALLS, ARCH_CALL_DISTANCE	calls, as in arch/call_x86_64.h
 */
#if defined(__x86_64__)
#include "arch/x86_64.h"
#elif defined(__aarch64__)
#include "arch/arm64.h"
#else
#include "arch/other.h"
#endif

#endif
