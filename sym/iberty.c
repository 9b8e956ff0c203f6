/* SPDX-License-Identifier: MIT */
/*
 * iberty: what libiberty's demanglers stand on.
 *
 * The Makefile renames what they call, so that they get
 *
 *	malloc, realloc, xmalloc, xrealloc, free    a bounded piece of memory that
 *			is taken back whole: they can be left in their midst
 *	_sch_istable	kinds of characters, by the bits of safe-ctype.h
 *	__sprintf_chk, __snprintf_chk	of glibc's hardening; musl has none
 *
 * and nothing else of libiberty is linked in.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sym/iberty.h"
#include "sys/limit.h"

/* Behind these names, which no header declares, are the ones above. */
void *iberty_malloc(size_t size);
void *iberty_realloc(void *data, size_t size);
void *iberty_xmalloc(size_t size);
void *iberty_xrealloc(void *data, size_t size);
void iberty_free(void *data);
int iberty_sprintf(char *to, int flag, size_t room, const char *format, ...);
int iberty_snprintf(char *to, size_t most, int flag, size_t room,
		    const char *format, ...);

/* --------------------------------------------------------------- memory */

/*
 * Pieces one behind the other, each with its size before it.  Only the last one
 * grows in place or is given back: names are short.
 */
enum {
	IBERTY_MEMORY = 256 << 10,
	IBERTY_ALIGN = 16,
	IBERTY_LEAST = 2 * IBERTY_ALIGN,	/* before a piece, and to round it up */
};

static struct {
	_Alignas(IBERTY_ALIGN) unsigned char memory[IBERTY_MEMORY];
	size_t used;
	size_t last;		/* where the last piece begins */
} iberty;

static size_t iberty_size(const void *data)
{
	size_t size;

	memcpy(&size, (const unsigned char *)data - IBERTY_ALIGN,
	       sizeof(size));
	return size;
}

void *iberty_malloc(size_t size)
{
	size_t room = IBERTY_MEMORY - iberty.used;
	unsigned char *data = iberty.memory + iberty.used + IBERTY_ALIGN;

	if (room < IBERTY_LEAST || size > room - IBERTY_LEAST)
		limit_leave();
	memcpy(data - IBERTY_ALIGN, &size, sizeof(size));
	iberty.last = iberty.used;
	iberty.used += IBERTY_ALIGN +
		       (size + IBERTY_ALIGN - 1) / IBERTY_ALIGN * IBERTY_ALIGN;
	return data;
}

void *iberty_realloc(void *data, size_t size)
{
	size_t before;
	void *moved;

	if (!data)
		return iberty_malloc(size);
	before = iberty_size(data);
	if (size <= before)
		return data;
	iberty_free(data);
	moved = iberty_malloc(size);
	if (moved != data)
		memcpy(moved, data, before);
	return moved;
}

/* What is in it stays until the next iberty_malloc(). */
void iberty_free(void *data)
{
	unsigned char *begin = data;

	if (begin && begin - IBERTY_ALIGN == iberty.memory + iberty.last)
		iberty.used = iberty.last;
}

/* Those never return NULL; neither do these. */
void *iberty_xmalloc(size_t size)
{
	return iberty_malloc(size);
}

void *iberty_xrealloc(void *data, size_t size)
{
	return iberty_realloc(data, size);
}

/* ----------------------------------------------------------- characters */

unsigned short iberty_kinds[256];

static void fill_kinds(void)
{
	enum {
		BLANK = 1, CNTRL = 2, DIGIT = 4, LOWER = 8, PRINT = 0x10,
		PUNCT = 0x20, SPACE = 0x40, UPPER = 0x80, XDIGIT = 0x100,
		IDST = 0x200, VSP = 0x400, NVSP = 0x800,
	};

	for (int c = 0; c < 128; c++) {
		bool vertical = c == '\n' || c == '\r';

		iberty_kinds[c] = (unsigned short)(
			(isblank(c) ? BLANK : 0) | (iscntrl(c) ? CNTRL : 0) |
			(isdigit(c) ? DIGIT : 0) | (islower(c) ? LOWER : 0) |
			(isprint(c) ? PRINT : 0) | (ispunct(c) ? PUNCT : 0) |
			(isspace(c) ? SPACE : 0) | (isupper(c) ? UPPER : 0) |
			(isxdigit(c) ? XDIGIT : 0) |
			(isalpha(c) || c == '_' ? IDST : 0) |
			(vertical ? VSP : 0) |
			((isspace(c) && !vertical) || !c ? NVSP : 0));
	}
}

void iberty_begin(void)
{
	iberty.used = iberty.last = 0;
	if (!iberty_kinds['0'])
		fill_kinds();
}

/* ------------------------------------------------------------- printing */

int iberty_sprintf(char *to, int flag, size_t room, const char *format, ...)
{
	va_list args;
	int length;

	(void)flag;
	va_start(args, format);
	length = vsnprintf(to, room < INT32_MAX ? room : INT32_MAX, format,
			   args);
	va_end(args);
	return length;
}

int iberty_snprintf(char *to, size_t most, int flag, size_t room,
		    const char *format, ...)
{
	va_list args;
	int length;

	(void)flag;
	va_start(args, format);
	length = vsnprintf(to, most < room ? most : room, format, args);
	va_end(args);
	return length;
}
