/* SPDX-License-Identifier: MIT */
#ifndef META_H
#define META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line about the run, in words for people. */
struct meta_line {
	enum meta_kind {
		META_NOTE,	/* of the balance: where each tick went */
		META_WARNING,	/* what is wrong with the numbers */
		META_ADVICE,	/* what to do about the warning before */
	} kind;
	char *text;
};

/*
 * How a profile came to be: what outputs know beside it.  Of a recording that
 * was read back much is not known: texts are NULL and numbers 0 then.  All
 * texts are valid UTF-8 without control characters, and owned.
 */
struct meta {
	char *program;		/* what sampled: "prof 0.1" */
	char *command;		/* its command line, quoted as for a shell */
	char *host;
	char *kernel;		/* "Linux 6.18.5 x86_64" */
	char *source;		/* the file it was read from; NULL: this run */
	size_t cpus;

	char *event;		/* "cpu-clock": what was sampled */
	bool clock;		/* the event counts ns of CPU time */
	uint64_t hz;		/* samples a second that were asked for */
	uint64_t period;	/* events (ns of a clock) that a sample stands
				   for; 0: not known */
	/*
	 * What profile_stack.samples counts.  "samples" in "count", but what
	 * others recorded can be "cpu" in "nanoseconds" or "space" in "bytes".
	 */
	char *type, *unit;

	uint64_t time;		/* its start, ns since 1970 */
	uint64_t start;		/* the same on the clock of
				   profile_stack.first */
	uint64_t duration;	/* ns */

	bool balanced;		/* the four below are known */
	bool foreseen;		/* so is how many there had to be */
	uint64_t sampled;	/* = all modes + filtered + lost */
	uint64_t expected;	/* = sampled + unaccounted, if foreseen */
	uint64_t lost;		/* could not be stored */
	int64_t unaccounted;

	struct meta_line *lines;	/* in the order to show them in */
	size_t line_count, line_capacity;

	/*
	 * Of the recording that this one is compared with (OLD, as against
	 * NEW), or NULL: then profile_stack.before means something.
	 */
	struct meta *before;
};

/* Sets one of the texts to a copy of `text` (NULL: none), made safe. */
void meta_set(char **to, const char *text);

/* Each adds a line. */
void meta_note(struct meta *meta, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void meta_warning(struct meta *meta, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void meta_advice(struct meta *meta, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Tells all lines on stderr. */
void meta_tell(const struct meta *meta);

/* Frees what is in it; *meta is zeroed then. */
void meta_free(struct meta *meta);

#endif
