/* SPDX-License-Identifier: MIT */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows.  Starts zeroed; `data` ends with a zero byte. */
struct text {
	char *data;
	size_t length, capacity;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void text_vformat(struct text *text, const char *format, va_list args);

/* Appends digits, `width` of them or more (spaces before): quicker than %. */
void text_digits(struct text *text, uint64_t value, unsigned int base,
		 size_t width);
void text_free(struct text *text);

/*
 * Reads the whole of `text` as a number of `base` (10 or 16; no sign, no
 * space) between min and max.  False, and *value untouched, otherwise.
 */
bool text_number(const char *text, int base, uint64_t min, uint64_t max,
		 uint64_t *value);

/*
 * Reads 1 to 16 hexadecimal digits (lower case) at *p, which moves behind them.
 * False, and *p where it was, if there are none or more.
 */
bool text_hex(const char **p, uint64_t *value);

/* As text_number, for a decimal fraction of seconds ("2.5"), in ns. */
bool text_seconds(const char *text, uint64_t *ns);

/*
 * Appends `words` for people to read: valid UTF-8 without control characters.
 * A newline is a space.
 */
void text_safe(struct text *text, const char *words);

/* Appends a word as a shell would want it: quoted, if it needs that. */
void text_word(struct text *text, const char *word);

/*
 * Appends `name` to `text` as one frame of a folded line, safe for every
 * output: no `;`, no control byte, valid UTF-8, never a `<space><number>` at
 * its end (readers take that for a count), never empty.
 */
void text_frame(struct text *text, const char *name);

/*
 * The same for the first frame, a thread's name: no space and no `#` at its begin,
 * but a number may be its end, as frames follow.
 */
void text_comm(struct text *text, const char *comm);

#endif
