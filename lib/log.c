/* SPDX-License-Identifier: MIT */
/*
 * log: every message of the program passes here, so that all look alike:
 *
 *	prof: OBJECT: what failed: why
 *	      what to do about it
 *
 * A message is formatted whole and written by one write(2), or more if stderr
 * takes it in parts, so that lines of several processes on one terminal do not
 * mix.  Control bytes of foreign names (a path, a comm) are shown as `?`: a
 * message must not be able to drive the terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"

static enum log_level log_level = LOG_NORMAL;
static int log_progress_shown;
static void (*log_before)(void *context);
static void *log_context;
static int log_last_shown;	/* whether advice has a message to follow */

void log_open(enum log_level level)
{
	log_level = level;
}

void log_watch(void (*before)(void *context), void *context)
{
	log_before = before;
	log_context = context;
}

/* `prefix` may hold control bytes of our own; the rest may not. */
static void log_line(const char *prefix, const char *format, va_list args,
		     const char *end)
{
	char line[2048];
	size_t from = (size_t)snprintf(line, sizeof(line), "%s%s",
				       log_progress_shown ? "\r\033[K" : "",
				       prefix);
	size_t room = sizeof(line) - from - 8;
	int wanted = vsnprintf(line + from, room, format, args);
	size_t length = wanted < 0 ? 0 : (size_t)wanted;

	if (length >= room)
		length = room - 1;
	for (size_t i = from; i < from + length; i++) {
		const unsigned char *byte = (unsigned char *)line + i;

		/* U+0080 to U+009F are control characters, too. */
		if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] <= 0x9f)
			line[i] = line[i + 1] = '?';
		else if (byte[0] < ' ' || byte[0] == 0x7f)
			line[i] = '?';
	}
	length += from;
	memcpy(line + length, end, strlen(end) + 1);
	length += strlen(end);
	log_progress_shown = 0;
	log_last_shown = 1;
	if (log_before)
		log_before(log_context);
	/* Nowhere is left to complain when stderr cannot be written. */
	file_put(STDERR_FILENO, line, length);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("prof: ", format, args, "\n");
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	log_last_shown = 0;
	if (log_level < LOG_NORMAL)
		return;
	va_start(args, format);
	log_line("prof: warning: ", format, args, "\n");
	va_end(args);
}

void log_advice(const char *format, ...)
{
	va_list args;

	if (!log_last_shown)
		return;
	va_start(args, format);
	log_line("      ", format, args, "\n");
	va_end(args);
}

void log_note(const char *format, ...)
{
	va_list args;

	log_last_shown = 0;
	if (log_level < LOG_NORMAL)
		return;
	va_start(args, format);
	log_line("prof: ", format, args, "\n");
	va_end(args);
}

void log_detail(const char *format, ...)
{
	va_list args;

	if (log_level < LOG_VERBOSE)
		return;
	va_start(args, format);
	log_line("prof: ", format, args, "\n");
	va_end(args);
}

/* Colours only where somebody sees them: https://no-color.org */
static int log_coloured(void)
{
	static int known = -1;
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (known < 0)
		known = isatty(STDERR_FILENO) && !(no && *no) && term &&
			strcmp(term, "dumb");
	return known;
}

static void log_format(const char *prefix, const char *end,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void log_format(const char *prefix, const char *end,
		       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(prefix, format, args, end);
	va_end(args);
}

void log_explain(enum log_style style, const char *line)
{
	static const char *const colours[] = {
		[LOG_STAGE] = "\033[1m", [LOG_WHY] = "\033[32m",
		[LOG_CALL] = "\033[36m", [LOG_REFUSED] = "\033[31m",
		[LOG_TOLD] = "",
	};
	const char *colour = log_coloured() ? colours[style] : "";

	log_format(colour, *colour ? "\033[0m\n" : "\n", "%s", line);
}

void log_progress(const char *format, ...)
{
	va_list args;

	log_last_shown = 0;
	if (log_level < LOG_NORMAL)
		return;
	va_start(args, format);
	log_line("prof: ", format, args, "");
	va_end(args);
	log_progress_shown = 1;
}
