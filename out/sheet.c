/* SPDX-License-Identifier: MIT */
/*
 * sheet: text for a terminal.
 *
 * Colours are the eight that every terminal has, as it shows them.  Bars are made
 * of blocks that fonts of a Linux console have: whole and half ones.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/columns.h"
#include "lib/memory.h"
#include "out/sheet.h"

static const char *const colours[] = {
	[SHEET_PLAIN] = "", [SHEET_HEAD] = "\033[1m", [SHEET_DIM] = "\033[2m",
	[SHEET_WARNING] = "\033[1;33m", [SHEET_USER] = "\033[32m",
	[SHEET_KERNEL] = "\033[33m", [SHEET_MODULE] = "\033[35m",
	[SHEET_JIT] = "\033[36m", [SHEET_MORE] = "\033[31m",
	[SHEET_LESS] = "\033[36m",
};

static void add(struct sheet *sheet, const char *text)
{
	text_add(&sheet->text, text, strlen(text));
}

static void begin(struct sheet *sheet, enum sheet_style style)
{
	if (sheet->terminal.colour)
		add(sheet, colours[style]);
}

static void end(struct sheet *sheet, enum sheet_style style)
{
	if (sheet->terminal.colour && *colours[style])
		add(sheet, "\033[0m");
}

const char *sheet_either(const struct sheet *sheet, const char *utf8,
			 const char *ascii)
{
	return sheet->terminal.utf8 ? utf8 : ascii;
}

void sheet_words(struct sheet *sheet, enum sheet_style style,
		 const char *format, ...)
{
	size_t from = sheet->text.length, begun;
	va_list args;

	begin(sheet, style);
	begun = sheet->text.length;
	va_start(args, format);
	text_vformat(&sheet->text, format, args);
	va_end(args);
	if (sheet->text.length == begun)
		sheet->text.length = from;
	else
		end(sheet, style);
}

void sheet_line(struct sheet *sheet)
{
	add(sheet, "\n");
}

void sheet_space(struct sheet *sheet, size_t columns)
{
	while (columns--)
		add(sheet, " ");
}

/* -------------------------------------------------------------------- names */

/* A name as this terminal can show it, in `to`, which was empty. */
static void shown(const struct sheet *sheet, struct text *to, const char *name)
{
	if (sheet->terminal.utf8)
		text_add(to, name, strlen(name));
	else
		columns_ascii(to, name);
}

/* "[libc.so.6+0x1234]", which stands for all of its file, is "[libc.so.6]". */
static void call(struct text *to, enum tree_kind kind, const char *name)
{
	size_t length = kind == TREE_UNNAMED ? tree_file_length(name) : 0;

	if (!length)
		text_add(to, name, strlen(name));
	else if (!strncmp(name, "[0x", 3))
		text_add(to, "[no file]", 9);
	else
		text_format(to, "%.*s]", (int)length, name);
}

size_t sheet_name(struct sheet *sheet, enum sheet_style style,
		  const char *name, size_t most)
{
	struct text text = { 0 };
	size_t columns;

	shown(sheet, &text, name);
	begin(sheet, style);
	columns = columns_name(&sheet->text, text.data, most,
			       sheet_either(sheet, "\xe2\x80\xa6", ".."));
	end(sheet, style);
	text_free(&text);
	return columns;
}

size_t sheet_function(struct sheet *sheet, enum tree_kind kind,
		      const char *name, size_t most)
{
	enum sheet_style style = kind == TREE_THREAD ? SHEET_HEAD :
				 kind == TREE_USER ? SHEET_PLAIN :
				 sheet_bar_style(kind);
	struct text text = { 0 };
	size_t columns;

	call(&text, kind, name);
	columns = sheet_name(sheet, style, text.data, most);
	text_free(&text);
	return columns;
}

const char *sheet_origin(struct text *text, enum tree_kind kind,
			  const char *image)
{
	static const char *const origins[TREE_KINDS] = {
		[TREE_USER] = "user", [TREE_UNNAMED] = "no symbols",
		[TREE_KERNEL] = "kernel", [TREE_JIT] = "JIT",
		[TREE_NOTE] = "", [TREE_THREAD] = "thread",
		[TREE_MODULE] = "module",
	};

	text->length = 0;
	if (kind == TREE_USER && *image)
		text_format(text, "%s", image);
	else if (kind == TREE_MODULE && *image)
		text_format(text, "%s (module)", image);
	else
		text_format(text, "%s", origins[kind]);
	return text->data;
}

void sheet_cut(struct sheet *sheet, enum sheet_style style, const char *text,
	       size_t most)
{
	struct text safe = { 0 };

	shown(sheet, &safe, text);
	begin(sheet, style);
	text_add(&sheet->text, safe.data, columns_fit(safe.data, most));
	end(sheet, style);
	text_free(&safe);
}

size_t sheet_columns(const char *line)
{
	struct text plain = { 0 };
	size_t columns;

	text_add(&plain, "", 0);
	while (*line) {
		size_t length = strcspn(line, "\033");

		text_add(&plain, line, length);
		line += length;
		/* Colours are the only sequences here, and end so. */
		if (*line)
			line += strcspn(line, "m");
		line += *line == 'm';
	}
	columns = columns_of(plain.data);
	text_free(&plain);
	return columns;
}

size_t sheet_name_columns(const struct sheet *sheet, const char *name)
{
	struct text text = { 0 };
	size_t columns;

	shown(sheet, &text, name);
	columns = columns_of(text.data);
	text_free(&text);
	return columns;
}

size_t sheet_function_columns(const struct sheet *sheet, enum tree_kind kind,
			      const char *name)
{
	struct text text = { 0 };
	size_t columns;

	call(&text, kind, name);
	columns = sheet_name_columns(sheet, text.data);
	text_free(&text);
	return columns;
}

enum sheet_style sheet_bar_style(enum tree_kind kind)
{
	static const enum sheet_style styles[TREE_KINDS] = {
		[TREE_USER] = SHEET_USER, [TREE_UNNAMED] = SHEET_USER,
		[TREE_KERNEL] = SHEET_KERNEL, [TREE_MODULE] = SHEET_MODULE,
		[TREE_JIT] = SHEET_JIT, [TREE_NOTE] = SHEET_DIM,
		[TREE_THREAD] = SHEET_DIM,
	};

	return styles[kind];
}

/* --------------------------------------------------------------------- bars */

void sheet_bar(struct sheet *sheet, enum sheet_style style, double share,
	       size_t columns)
{
	size_t halves = share <= 0 ? 0 : share >= 1 ? 2 * columns :
			(size_t)(share * 2 * (double)columns + 0.5);
	bool utf8 = sheet->terminal.utf8;
	size_t whole = utf8 ? halves / 2 : (halves + 1) / 2;

	if (halves)
		begin(sheet, style);
	for (size_t i = 0; i < whole; i++)
		add(sheet, utf8 ? "\xe2\x96\x88" : "#");
	if (utf8 && halves % 2) {
		add(sheet, "\xe2\x96\x8c");
		whole++;
	}
	if (halves)
		end(sheet, style);
	sheet_space(sheet, columns - whole);
}

/* -------------------------------------------------------------------- lines */

void sheet_lines(struct sheet *sheet, enum sheet_style style, const char *text,
		 size_t first, size_t indent)
{
	struct text safe = { 0 };
	size_t used = first;
	const char *word;

	shown(sheet, &safe, text);
	sheet_space(sheet, first);
	begin(sheet, style);
	for (word = safe.data + strspn(safe.data, " "); *word;) {
		size_t length = strcspn(word, " ");
		char *copy = memory_text(word, length);
		size_t columns = columns_of(copy);
		bool begun = word > safe.data + strspn(safe.data, " ");

		free(copy);
		if (begun && used + 1 + columns > sheet->terminal.columns) {
			add(sheet, "\n");
			sheet_space(sheet, indent);
			used = indent;
		} else if (begun) {
			add(sheet, " ");
			used++;
		}
		text_add(&sheet->text, word, length);
		used += columns;
		word += length;
		word += strspn(word, " ");
	}
	end(sheet, style);
	add(sheet, "\n");
	text_free(&safe);
}
