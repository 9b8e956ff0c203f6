/* SPDX-License-Identifier: MIT */
#ifndef OUT_SHEET_H
#define OUT_SHEET_H

#include "lib/text.h"
#include "out/tree.h"
#include "sys/terminal.h"

/*
 * Text for a terminal, as it can show it: without colours or without UTF-8 the
 * same calls give less.  Starts with `terminal` set and all else zeroed.
 */
struct sheet {
	struct text text;
	struct terminal terminal;
};

enum sheet_style {
	SHEET_PLAIN,
	SHEET_HEAD,
	SHEET_DIM,
	SHEET_WARNING,
	SHEET_USER,
	SHEET_KERNEL,
	SHEET_MODULE,
	SHEET_JIT,
	SHEET_MORE,
	SHEET_LESS,
};

/* What is for terminals with UTF-8, and what stands for it on others. */
const char *sheet_either(const struct sheet *sheet, const char *utf8,
			 const char *ascii);

/* Appends our own words (no foreign names, which are not ASCII). */
void sheet_words(struct sheet *sheet, enum sheet_style style,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));
void sheet_space(struct sheet *sheet, size_t columns);

/* Ends the line. */
void sheet_line(struct sheet *sheet);

/*
 * Appends a foreign name, cut to `most` columns; returns how many it took.  As
 * a function of a kind, it has that kind's colour, and is called by its file if
 * it has no name of its own.
 */
size_t sheet_name(struct sheet *sheet, enum sheet_style style,
		  const char *name, size_t most);
size_t sheet_function(struct sheet *sheet, enum tree_kind kind,
		      const char *name, size_t most);

/* Where code of this kind comes from: "libc.so.6", "kernel"; owned by `text`. */
const char *sheet_origin(struct text *text, enum tree_kind kind,
			 const char *image);

/* How many columns these would take uncut. */
size_t sheet_name_columns(const struct sheet *sheet, const char *name);
size_t sheet_function_columns(const struct sheet *sheet, enum tree_kind kind,
			      const char *name);

/* Appends a foreign text, of which what is behind `most` columns is left out. */
void sheet_cut(struct sheet *sheet, enum sheet_style style, const char *text,
	       size_t most);

/* How many columns a line of a sheet takes. */
size_t sheet_columns(const char *line);

/* Appends a bar for a share from 0 to 1, and spaces, `columns` in all. */
void sheet_bar(struct sheet *sheet, enum sheet_style style, double share,
	       size_t columns);

/* The colour of bars of this kind. */
enum sheet_style sheet_bar_style(enum tree_kind kind);

/*
 * Appends a text for people, broken into lines, of which the first one is
 * indented by `first`, the others by `indent`.  It can have foreign names in it.
 */
void sheet_lines(struct sheet *sheet, enum sheet_style style, const char *text,
		 size_t first, size_t indent);

#endif
