/* SPDX-License-Identifier: MIT */
#ifndef LIB_LOG_H
#define LIB_LOG_H

/* How much is told on stderr.  Errors are always told. */
enum log_level {
	LOG_QUIET,	/* -q: errors alone */
	LOG_NORMAL,
	LOG_VERBOSE,	/* -v: what was planned and measured, too */
};

/* Sets the level for the rest of the run; LOG_NORMAL until then. */
void log_open(enum log_level level);

/* `prof: OBJECT: what failed: why`, one line, always written. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As an error, but the run goes on.  Not with -q. */
void log_warning(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/*
 * One indented line below the message just told: what the user can do about
 * it.  Not told if that message was not.
 */
void log_advice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of the report on the run (the balance).  Not with -q. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only with -v. */
void log_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a line of --explain is; a terminal shows it by its colour. */
enum log_style {
	LOG_STAGE,	/* a heading */
	LOG_WHY,	/* what a call is for */
	LOG_CALL,	/* a system call */
	LOG_REFUSED,	/* one that failed */
	LOG_TOLD,	/* what is in it, and what happens between */
};

/* A line of --explain, as it is. */
void log_explain(enum log_style style, const char *line);

/* A line that the next one overwrites; for terminals.  Not with -q. */
void log_progress(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/*
 * Before each message `before` is called, for whoever draws on the same
 * terminal; NULL: nobody does any more.
 */
void log_watch(void (*before)(void *context), void *context);

#endif
