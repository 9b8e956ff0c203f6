/* SPDX-License-Identifier: MIT */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/text.h"
#include "sys/events.h"

/* What the command line asks for. */
struct options {
	uint64_t hz;
	struct event_kind event;
	uint64_t duration;	/* ns; 0: until a signal */
	uint64_t memory;	/* bytes that the maps may take */
	enum option_engine {
		OPTION_AUTO, OPTION_HASH, OPTION_STACKID,
	} engine;
	enum option_unwind {
		OPTION_UNWIND_AUTO, OPTION_FP, OPTION_CFI,
	} unwind;
	const char *cpus;	/* a list, or NULL for all on line */
	const char *kallsyms;	/* a file, or NULL */
	uint32_t *pids, *tids;	/* asked for */
	size_t pid_count, tid_count, pid_capacity, tid_capacity;
	const char *cgroup;	/* a directory, or NULL */
	char **words;		/* the whole command line, NULL behind it */
	char **command;		/* after --, or NULL */
	const char **outputs;	/* files */
	size_t output_count, output_capacity;
	const char *format;	/* for stdout, or NULL */
	const char *read;	/* a recording to look at, or NULL */
	const char *old, *new;	/* two to compare, or NULL */
	const char *sampling;	/* an option that is for sampling, or NULL */
	bool kernel, user;	/* only these stacks; both: both */
	bool no_idle, no_demangle, quiet, verbose;
	unsigned int explain;	/* how often -x was given */
	bool help, version, check;
};

/*
 * Fills *options; texts stay those of argv.  0, or -EINVAL after a message.
 * options_free() is owed in both cases.
 */
int options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

/* Appends the text of --help: the same table that is parsed. */
void options_help(struct text *text);

/*
 * An option.  The name of its argument tells what that is: FILE, a file; PATH,
 * a directory; PID,... and TID,..., numbers of tasks; NAME, one of the words.
 */
struct option_row {
	int letter;		/* above 255: has no short form */
	const char *name;
	const char *argument;	/* NULL: takes none */
	const char *help;
	/* Takes the argument, or a reason why it does not. */
	const char *(*set)(struct options *options, const char *argument);
	const char *words;	/* that it can be, or NULL */
};

/* The i-th row of the table, or NULL behind the last. */
const struct option_row *options_row(size_t i);

#endif
