/* SPDX-License-Identifier: MIT */
#ifndef SYS_LIMIT_H
#define SYS_LIMIT_H

#include <stdint.h>

enum { LIMIT_STACK = 2 << 20 };		/* bytes */

/*
 * Calls run(argument), for so long of this process's time in user mode at most
 * (the kernel looks at its ticks: up to two of them more).  0 if it came to its end,
 *
 *	-ETIME		the time was up
 *	-ECANCELED	it called limit_leave()
 *	-ENOTSUP	not called: the kernel has no such timers, or the stack
 *			may not grow to LIMIT_STACK
 *
 * It is left where it stands.  So it must not take memory from malloc(3), nor
 * write what others read half-written; and it must not call limit_run().  One
 * thread only.
 */
int limit_run(void (*run)(void *argument), void *argument, uint64_t ns);

/* Called by what limit_run() runs: enough. */
_Noreturn void limit_leave(void);

#endif
