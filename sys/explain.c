/* SPDX-License-Identifier: MIT */
/*
 * explain: what each system call is for, what it is given, what comes back.
 *
 *	# a clock on CPU 0: a tick every 10101010 ns, whatever runs there
 *	perf_event_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC) = 21
 *	    type=PERF_TYPE_SOFTWARE  size=PERF_ATTR_SIZE_VER7
 *	    config=PERF_COUNT_SW_CPU_CLOCK  sample_period=10101010
 *	    read_format=PERF_FORMAT_TOTAL_TIME_ENABLED  disabled=1
 *
 * Here: how such lines are written.  What is in them: explain_bpf.c for bpf(2),
 * explain_perf.c for perf events.
 *
 * Names are those of the kernel's headers.  Members that are zero are left out,
 * as zero is what the kernel takes for "not wanted" everywhere.  In parentheses
 * stands what a number means or a pointer leads to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "sys/explain.h"
#include "sys/explain_lines.h"

enum { COLUMNS = 80 };

static enum explain_level explain_level;

void explain_open(enum explain_level level)
{
	explain_level = level;
	explain("How to read: key=0x7ffd0010 (5) is an address, and what is "
		"there; members of a");
	explain("struct that are 0 are left out; %zu is sizeof(union "
		"bpf_attr).", sizeof(union bpf_attr));
}

bool explain_calls(void)
{
	return explain_level >= EXPLAIN_CALLS;
}

bool explain_code(void)
{
	return explain_level >= EXPLAIN_CODE;
}

void explain_stage(const char *name, const char *what)
{
	struct text line = { 0 };

	if (!explain_calls())
		return;
	text_format(&line, "== %s: %s ", name, what);
	while (line.length < COLUMNS - 1)
		text_add(&line, "=", 1);
	log_explain(LOG_TOLD, "");
	log_explain(LOG_STAGE, line.data);
	text_free(&line);
}

/* Breaks a line at words; what goes on is indented. */
static void tell(const char *line)
{
	const char *indent = "";
	char part[COLUMNS + 1];

	do {
		size_t room = COLUMNS - strlen(indent), end = strlen(line);

		if (end > room)
			for (end = room; end && line[end] != ' ';)
				end--;
		if (!end)
			end = strnlen(line, room);
		snprintf(part, sizeof(part), "%s%.*s", indent, (int)end, line);
		log_explain(LOG_TOLD, part);
		line += end;
		line += strspn(line, " ");
		indent = "        ";
	} while (*line);
}

void explain(const char *format, ...)
{
	struct text line = { 0 };
	va_list args;

	if (!explain_calls())
		return;
	va_start(args, format);
	text_vformat(&line, format, args);
	va_end(args);
	tell(line.data);
	text_free(&line);
}

/* ----------------------------------------------------- numbers and names */

static const struct word errors[] = {
	WORD(EPERM), WORD(ENOENT), WORD(EINTR), WORD(E2BIG), WORD(EBADF),
	WORD(EAGAIN), WORD(ENOMEM), WORD(EACCES), WORD(EFAULT), WORD(EBUSY),
	WORD(EEXIST), WORD(ENODEV), WORD(EINVAL), WORD(ENFILE), WORD(EMFILE),
	WORD(ENOSPC), WORD(ENOSYS), WORD(EOPNOTSUPP), WORD(ENXIO), WORD(ENOTTY),
	WORD(EIO),
	{ 524, "ENOTSUPP" },	/* the kernel's own; in no header of ours */
};

const char *name_of(const struct word *words, size_t count, uint64_t number)
{
	static char digits[24];

	for (size_t i = 0; i < count; i++)
		if (words[i].number == number)
			return words[i].name;
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return digits;
}

/* ------------------------------------------------- descriptors and names */

static struct explain_made *made;
static size_t made_count, made_capacity;

void explain_remember(const struct explain_made *new)
{
	made = memory_grow(made, &made_capacity, made_count + 1, sizeof(*new));
	made[made_count++] = *new;
}

const struct explain_made *explain_made(int fd)
{
	static const struct explain_made nothing = { .name = "?" };

	for (size_t i = made_count; i-- > 0;)
		if (made[i].fd == fd)
			return &made[i];
	return &nothing;
}

/* ------------------------------------------------------- a call in lines */

void tell_member(struct text *line, const char *format, ...)
{
	struct text item = { 0 };
	va_list args;

	va_start(args, format);
	text_vformat(&item, format, args);
	va_end(args);
	if (line->length && line->length + item.length + 2 > COLUMNS) {
		log_explain(LOG_TOLD, line->data);
		line->length = 0;
	}
	text_format(line, "%s%s", line->length ? "  " : "    ", item.data);
	text_free(&item);
}

void tell_end(struct text *line)
{
	if (line->length)
		log_explain(LOG_TOLD, line->data);
	text_free(line);
}

void tell_number(struct text *line, const char *name, uint64_t value)
{
	if (value)
		tell_member(line, "%s=%" PRIu64, name, value);
}

void tell_bits(struct text *line, const char *name, const struct word *words,
	       size_t count, uint64_t value)
{
	struct text text = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!(value & words[i].number))
			continue;
		text_format(&text, "%s%s", text.length ? "|" : "",
			    words[i].name);
		value &= ~words[i].number;
	}
	if (value)
		text_format(&text, "%s%#" PRIx64, text.length ? "|" : "", value);
	if (text.length)
		tell_member(line, "%s=%s", name, text.data);
	text_free(&text);
}

void tell_call(const char *why, const char *what, long result)
{
	struct text line = { 0 };

	text_format(&line, "# %s", why);
	log_explain(LOG_WHY, line.data);
	line.length = 0;
	if (result < 0)
		text_format(&line, "%s = -1 %s", what,
			    name_of(WORDS(errors), (uint64_t)-result));
	else
		text_format(&line, result > INT32_MAX ? "%s = %#lx" :
			    "%s = %ld", what, result);
	log_explain(result < 0 ? LOG_REFUSED : LOG_CALL, line.data);
	text_free(&line);
}
