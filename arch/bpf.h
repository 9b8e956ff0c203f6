/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bpf.h: the registers of a task, for programs in the kernel.  As arch.h, the
 * one place that asks for which CPU they are compiled; each header defines
 *
 *	ARCH_IS_USER(regs)	the tick met user code whose tables we have
 *	ARCH_IS_OTHER(regs)	... or user code of another kind (32 bits)
 *	ARCH_IP, _SP, _FP(regs)	three registers of struct pt_regs
 *	ARCH_TAKE_TASK(at)	takes them from the task that is in the kernel;
 *				false if it has none, or is of another kind
 *	ARCH_SIGNAL_FP		where the frame pointer is among the registers
 *				that a signal saved, from the stack pointer's
 *	ARCH_CALLS, ARCH_CALL_DISTANCE	calls, as in arch/call_x86_64.h
 */
#ifndef ARCH_BPF_H
#define ARCH_BPF_H

/* The target is bpf; what it runs on is said by the Makefile. */
#if defined(BPF_FOR_X86_64)
#include "arch/bpf_x86_64.h"
#else
#include "arch/bpf_other.h"
#endif

#endif
