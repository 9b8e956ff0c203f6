/* SPDX-License-Identifier: MIT */
/*
 * text: growing strings, numbers, and the one place where foreign names are
 * made safe.
 *
 * A folded line is `comm;frame;frame count`.  Its readers disagree on all that
 * is not plain: flamegraph.pl takes ` 12` at a name's end for a second count,
 * drops lines with invalid UTF-8, writes control bytes into XML; `;` splits a
 * frame for all of them; a line that begins with `#` is a comment for some.
 * Names belong to whoever named the thread or the symbol, so all of it
 * happens.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/text.h"

void text_add(struct text *text, const char *bytes, size_t length)
{
	text->data = memory_grow(text->data, &text->capacity,
				 text->length + length + 1, 1);
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_vformat(struct text *text, const char *format, va_list args)
{
	va_list again;
	int wanted;

	va_copy(again, args);
	wanted = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (wanted < 0)
		return;
	text->data = memory_grow(text->data, &text->capacity,
				 text->length + (size_t)wanted + 1, 1);
	vsnprintf(text->data + text->length, (size_t)wanted + 1, format, args);
	text->length += (size_t)wanted;
}

void text_format(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vformat(text, format, args);
	va_end(args);
}

void text_digits(struct text *text, uint64_t value, unsigned int base,
		 size_t width)
{
	char digits[64];
	size_t from = sizeof(digits);

	do
		digits[--from] = "0123456789abcdef"[value % base];
	while (value /= base);
	while (sizeof(digits) - from < width && from)
		digits[--from] = ' ';
	text_add(text, digits + from, sizeof(digits) - from);
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

bool text_number(const char *text, int base, uint64_t min, uint64_t max,
		 uint64_t *value)
{
	uint64_t sum = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		uint64_t digit;

		if (*text >= '0' && *text <= '9')
			digit = (uint64_t)(*text - '0');
		else if (base == 16 && *text >= 'a' && *text <= 'f')
			digit = (uint64_t)(*text - 'a') + 10;
		else
			return false;
		if (sum > (UINT64_MAX - digit) / (uint64_t)base)
			return false;
		sum = sum * (uint64_t)base + digit;
	}
	if (sum < min || sum > max)
		return false;
	*value = sum;
	return true;
}

bool text_hex(const char **p, uint64_t *value)
{
	const char *from = *p, *at = from;

	for (*value = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*value = *value << 4 | (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*value = *value << 4 | ((uint64_t)(*at - 'a') + 10);
		else
			break;
	}
	if (at == from || at - from > 16)
		return false;
	*p = at;
	return true;
}

bool text_seconds(const char *text, uint64_t *ns)
{
	const char *dot = strchr(text, '.');
	size_t whole_length = dot ? (size_t)(dot - text) : strlen(text);
	uint64_t whole = 0, fraction = 0, unit = 1000000000;
	char digits[16];

	if (!*text || whole_length >= sizeof(digits) || (dot && !dot[1]))
		return false;
	memcpy(digits, text, whole_length);
	digits[whole_length] = '\0';
	/* A thousand million seconds are 31 years; ns of them fit 64 bits. */
	if (!text_number(whole_length ? digits : "0", 10, 0, 1000000000,
			 &whole))
		return false;
	for (const char *p = dot ? dot + 1 : ""; *p; p++) {
		if (*p < '0' || *p > '9')
			return false;
		unit /= 10;
		fraction += (uint64_t)(*p - '0') * unit;
	}
	*ns = whole * 1000000000 + fraction;
	return true;
}

/*
 * The length of the valid UTF-8 sequence at `s`, or 0.  Surrogates, overlong
 * forms and code points that XML forbids (U+FFFE, U+FFFF) are not valid.
 */
static size_t utf8_length(const unsigned char *s)
{
	uint32_t point;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2, point = s[0] & 0x1f;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		length = 3, point = s[0] & 0x0f;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4, point = s[0] & 0x07;
	else
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3f);
	}
	if ((length == 3 && point < 0x800) ||
	    (length == 4 && (point < 0x10000 || point > 0x10ffff)) ||
	    (point >= 0xd800 && point <= 0xdfff) ||
	    point == 0xfffe || point == 0xffff)
		return 0;
	return length;
}

/*
 * C1 control characters (U+0080 to U+009F) drive terminals as ESC does.  Those
 * of U+2028 to U+202E break lines for some readers and turn the direction of
 * writing, as U+200E, U+200F, U+2066 to U+2069 do; U+FEFF cannot be seen.
 */
static bool is_control(const unsigned char *s)
{
	if (s[0] == 0xe2 && s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f ||
		       (s[2] >= 0xa8 && s[2] <= 0xae);
	if (s[0] == 0xe2 && s[1] == 0x81)
		return s[2] >= 0xa6 && s[2] <= 0xa9;
	return s[0] < 0x20 || s[0] == 0x7f ||
	       (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f) ||
	       (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf);
}

/* U+00A0, U+1680, U+2000 to U+200A, U+202F, U+205F, U+3000 count as well. */
static bool is_space(const unsigned char *s)
{
	if (s[0] == 0xe2 && s[1] == 0x80)
		return (s[2] >= 0x80 && s[2] <= 0x8a) || s[2] == 0xaf;
	return s[0] == ' ' || (s[0] == 0xc2 && s[1] == 0xa0) ||
	       (s[0] == 0xe1 && s[1] == 0x9a && s[2] == 0x80) ||
	       (s[0] == 0xe2 && s[1] == 0x81 && s[2] == 0x9f) ||
	       (s[0] == 0xe3 && s[1] == 0x80 && s[2] == 0x80);
}

/*
 * ` 12` or ` 12.5` at the end: returns where its space is, or NULL.  Other
 * spaces of Unicode were made plain ones before.
 */
static char *count_like_end(char *from, char *end)
{
	char *p = end;
	int dots = 0;

	while (p > from && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '.')) {
		dots += p[-1] == '.';
		p--;
	}
	if (p == from || p == end || p[-1] != ' ' || dots > 1 || *p == '.')
		return NULL;
	return p - 1;
}

/* What stands for the character at `s`, or NULL: it can stay. */
typedef const char *instead_of(const unsigned char *s);

static void add_safe(struct text *text, const char *name, instead_of *instead)
{
	const unsigned char *s = (const unsigned char *)name;

	while (*s) {
		size_t length = utf8_length(s);
		const char *other = length ? instead(s) : "\xef\xbf\xbd";

		if (other)
			text_add(text, other, strlen(other));
		else
			text_add(text, (const char *)s, length);
		s += length ? length : 1;	/* U+FFFD for each bad byte */
	}
}

static const char *instead_in_words(const unsigned char *s)
{
	return *s == '\n' || *s == '\t' ? " " : is_control(s) ? "?" : NULL;
}

static const char *instead_in_frame(const unsigned char *s)
{
	return is_control(s) ? "?" : is_space(s) ? " " : *s == ';' ? ":" :
	       NULL;
}

void text_safe(struct text *text, const char *words)
{
	add_safe(text, words, instead_in_words);
}

void text_word(struct text *text, const char *word)
{
	bool plain = *word && !strpbrk(word, " \t\n|&;<>()$`\\\"'*?[]#~!{}");

	if (plain) {
		text_add(text, word, strlen(word));
		return;
	}
	text_add(text, "'", 1);
	for (; *word; word++) {
		if (*word == '\'')
			text_add(text, "'\\''", 4);
		else
			text_add(text, word, 1);
	}
	text_add(text, "'", 1);
}

void text_frame(struct text *text, const char *name)
{
	size_t from = text->length;
	char *space;

	add_safe(text, name, instead_in_frame);
	if (text->length == from) {
		text_add(text, "[unknown]", 9);
		return;
	}
	/* White space at the end would be lost, or part of the count. */
	if (text->data[text->length - 1] == ' ')
		text->data[text->length - 1] = '_';
	space = count_like_end(text->data + from, text->data + text->length);
	if (space)
		*space = '_';
}

void text_comm(struct text *text, const char *comm)
{
	size_t from = text->length;

	add_safe(text, comm, instead_in_frame);
	if (text->length == from)
		text_add(text, "[unknown]", 9);
	if (text->data[from] == '#' || text->data[from] == ' ')
		text->data[from] = '_';
	if (text->data[text->length - 1] == ' ')
		text->data[text->length - 1] = '_';
}
