/* SPDX-License-Identifier: MIT */
#ifndef SYS_SIGNALS_H
#define SYS_SIGNALS_H

#include <stdint.h>

/*
 * SIGINT, SIGTERM and SIGHUP end the run; a second one ends the process.  They
 * can arrive only inside signals_wait().  SIGHUP stays ignored where it was
 * (nohup); SIGPIPE becomes an error of write(2).
 */
void signals_open(void);

/*
 * Waits until `deadline` (CLOCK_MONOTONIC, ns) or until a signal asks for the
 * end.  Returns that signal, or 0.
 */
int signals_wait(uint64_t deadline);

/* From here on (naming, writing) a further signal ends the process. */
void signals_allow(void);

#endif
