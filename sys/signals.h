/* SPDX-License-Identifier: MIT */
#ifndef SYS_SIGNALS_H
#define SYS_SIGNALS_H

#include <stddef.h>
#include <stdint.h>

/*
 * SIGINT, SIGTERM and SIGHUP end the run; a second one ends the process.  They
 * can arrive only inside signals_wait().  SIGHUP stays ignored where it was
 * (nohup); SIGPIPE becomes an error of write(2).
 */
void signals_open(void);

/*
 * Waits until `deadline` (CLOCK_MONOTONIC, ns), until one of `count`
 * descriptors can be read, a child ended, or a signal asks for the end.
 * Returns that signal, 0, or -errno.
 */
int signals_wait(uint64_t deadline, const int *fds, size_t count);

/*
 * From here on a first signal is passed on to this child, and does not end the
 * run.  Not one that a terminal sent: the child had it from there, too.
 */
void signals_pass_on(int pid);

/* In a child that becomes another program: all as it was before. */
void signals_undo(void);

/* From here on (naming, writing) a further signal ends the process. */
void signals_allow(void);

#endif
