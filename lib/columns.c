/* SPDX-License-Identifier: MIT */
/*
 * columns: how wide texts are on a terminal, and how they are cut.
 *
 * Terminals do not agree on every character: widths here are those that most
 * have.  Who draws has to bear a line that is a column longer than thought.
 */
#include <stdint.h>
#include <string.h>

#include "lib/columns.h"

struct range {
	uint32_t first, last;
};

/* Marks that sit on the character before them, and what cannot be seen. */
static const struct range no_column[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd },
	{ 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x900, 0x902 },
	{ 0x93c, 0x93c }, { 0x941, 0x948 }, { 0x94d, 0x94d },
	{ 0xe31, 0xe31 }, { 0xe34, 0xe3a }, { 0xe47, 0xe4e },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },
	{ 0x20d0, 0x20ff }, { 0x302a, 0x302d }, { 0x3099, 0x309a },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef },
};

static const struct range two_columns[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff },
	{ 0x3400, 0x4dbf }, { 0x4e00, 0xa4cf }, { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static bool is_in(const struct range *ranges, size_t count, uint32_t point)
{
	for (size_t i = 0; i < count; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* The character at `s`: how many bytes it has, and its columns. */
static size_t look(const char *s, size_t *columns)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t bytes = *u < 0xc0 ? 1 : *u < 0xe0 ? 2 : *u < 0xf0 ? 3 : 4;
	uint32_t point = *u < 0x80 ? *u : *u & (0x7fu >> bytes);

	*columns = 1;
	for (size_t i = 1; i < bytes; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return i;
		point = point << 6 | (u[i] & 0x3f);
	}
	if (point < 0x300)
		return bytes;
	if (is_in(no_column, sizeof(no_column) / sizeof(*no_column), point))
		*columns = 0;
	else if (is_in(two_columns,
		       sizeof(two_columns) / sizeof(*two_columns), point))
		*columns = 2;
	return bytes;
}

size_t columns_of(const char *text)
{
	size_t sum = 0, columns;

	while (*text) {
		text += look(text, &columns);
		sum += columns;
	}
	return sum;
}

size_t columns_fit(const char *text, size_t most)
{
	size_t length = 0, used = 0;

	while (text[length]) {
		size_t columns, bytes = look(text + length, &columns);

		if (used + columns > most)
			break;
		used += columns;
		length += bytes;
	}
	return length;
}

void columns_ascii(struct text *to, const char *text)
{
	text_add(to, "", 0);
	while (*text) {
		size_t columns, bytes = look(text, &columns);

		if (bytes == 1 && *text > 0)
			text_add(to, text, 1);
		else if (columns)
			text_add(to, "??", columns);
		text += bytes;
	}
}

/* ------------------------------------------------------------------ cutting */

/* Whether a bracket at `at` is part of an operator's name, or of an arrow. */
static bool is_operator(const char *name, size_t at)
{
	static const char word[] = "operator";
	size_t size = sizeof(word) - 1;

	if (at && name[at] == '>' && name[at - 1] == '-')
		return true;
	if (name[at] == '(' && name[at + 1] != ')')
		return false;
	if (name[at] == ')' && at && name[at - 1] == '(')
		at--;
	else if (name[at] == '<' || name[at] == '>')
		while (at && strchr("<>=-", name[at - 1]))
			at--;
	return at >= size && !memcmp(name + at - size, word, size);
}

/* Where the bracket that opens at `open` is closed; 0: nowhere. */
static size_t find_end(const char *name, size_t open, char opens, char closes)
{
	size_t depth = 0;

	for (size_t i = open; name[i]; i++) {
		if (is_operator(name, i))
			continue;
		if (name[i] == opens)
			depth++;
		else if (name[i] == closes && !--depth)
			return i;
	}
	return 0;
}

/* Appends the name with `dots` for what is in its outermost brackets. */
static void collapse(struct text *to, const char *name, char opens,
		     char closes, const char *dots)
{
	size_t from = 0;

	for (size_t i = 0; name[i]; i++) {
		size_t end = name[i] == opens && !is_operator(name, i) ?
			     find_end(name, i, opens, closes) : 0;

		if (end <= i + 1 + strlen(dots))
			continue;
		text_add(to, name + from, i + 1 - from);
		text_add(to, dots, strlen(dots));
		from = i = end;
	}
	text_add(to, name + from, strlen(name + from));
}

/* What is left without so many columns at the beginning, or more. */
static const char *tail_of(const char *name, size_t without)
{
	size_t gone = 0, columns;

	while (*name) {
		size_t bytes = look(name, &columns);

		/* A mark does not stay without its character. */
		if (gone >= without && columns)
			break;
		gone += columns;
		name += bytes;
	}
	return name;
}

/* Of the end more is kept: names differ there. */
static void cut_middle(struct text *to, const char *name, size_t most,
		       const char *dots)
{
	size_t all = columns_of(name), gap = columns_of(dots), head, tail;

	if (most <= gap + 2) {
		text_add(to, name, columns_fit(name, most));
		return;
	}
	head = (most - gap) * 2 / 5;
	tail = most - gap - head;
	text_add(to, name, columns_fit(name, head));
	text_add(to, dots, strlen(dots));
	name = tail_of(name, all - tail);
	text_add(to, name, strlen(name));
}

size_t columns_name(struct text *to, const char *name, size_t most,
		    const char *dots)
{
	size_t columns = columns_of(name);
	struct text shorter = { 0 }, shortest = { 0 };

	if (columns <= most) {
		text_add(to, name, strlen(name));
		return columns;
	}
	collapse(&shorter, name, '(', ')', dots);
	collapse(&shortest, shorter.data, '<', '>', dots);
	if (columns_of(shorter.data) <= most)
		name = shorter.data;
	else
		name = shortest.data;
	columns = to->length;
	if (columns_of(name) <= most)
		text_add(to, name, strlen(name));
	else
		cut_middle(to, name, most, dots);
	text_free(&shorter);
	text_free(&shortest);
	return columns_of(to->data + columns);
}
