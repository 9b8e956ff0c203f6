/* SPDX-License-Identifier: MIT */
#ifndef SYS_COMMAND_H
#define SYS_COMMAND_H

#include <stdbool.h>

/* A program that is started, but held at the door until all is ready. */
struct command {
	int pid;	/* 0: none */
	int gate;	/* a pipe: a byte lets it go, the end ends it */
	int priority;	/* of the process when it was made: the program's */
	int report;	/* a pipe: an errno, if it could not be executed */
	bool ended;
	int status;	/* as a shell has it: 128 + N for signal N */
};

/*
 * Finds argv[0] (in PATH, if it has no slash) and makes a process for it, which
 * waits.  0, or -errno if there is no such program or process.
 */
int command_open(struct command *command, char **argv);

/* Lets it run.  0, or -errno when the kernel will not execute the file. */
int command_go(struct command *command);

/* Whether it has ended; waits for that if told so. */
bool command_ended(struct command *command, bool wait);

/* Ends one that was never let go; forgets others.  Takes one never opened. */
void command_close(struct command *command);

#endif
