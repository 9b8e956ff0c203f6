/* SPDX-License-Identifier: MIT */
/*
 * Lists of symbols: the names are those that a slow and plain search through
 * all lines finds.  The wanted addresses are those of the list and around.
 */
#include <stdbool.h>
#include <string.h>

#include "kallsyms.h"
#include "lib/memory.h"
#include "test/fuzz/fuzz.h"

enum { ROWS_MOST = 96, WANTED_MOST = 5 * ROWS_MOST + 2 };

struct row {
	uint64_t start;
	const char *name, *module;
	int rank;		/* 3 global, 2 weak, 1 local, 0 no text */
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && !strcmp(text + length - size, end);
}

/* The linker's marks; see the head of kallsyms.c. */
static bool marks(const char *name)
{
	static const char *const names[] = {
		"_text", "_stext", "_etext", "_sinittext", "_einittext",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return *name == '_' && (ends_with(name, "text_start") ||
				ends_with(name, "text_end"));
}

/* "ADDRESS TYPE NAME[ [MODULE]]" */
static bool read_row(char *line, struct row *row)
{
	size_t digits = strspn(line, "0123456789abcdef");
	char *name, *rest, type;

	if (!digits || digits > 16 || line[digits] != ' ' ||
	    !line[digits + 1] || line[digits + 2] != ' ')
		return false;
	type = line[digits + 1];
	name = line + digits + 3;
	row->start = strtoull(line, NULL, 16);
	rest = name + strcspn(name, " \t");
	row->module = "";
	if (*rest) {
		*rest++ = '\0';
		rest += strspn(rest, " \t");
		if (*rest == '[') {
			row->module = rest + 1;
			rest[strcspn(rest, "]")] = '\0';
		}
	}
	row->name = name;
	row->rank = type == 'T' ? 3 : type == 'W' || type == 'w' ? 2 :
		    type == 't';
	if (!*row->module && marks(name))
		row->rank = 0;
	return *name && type != 'a' && type != 'A';
}

static bool counts(const struct row *row)
{
	return row->start && *row->name != '$' &&
	       strncmp(row->name, ".L", 2) &&
	       strncmp(row->name, "__pfx_", 6) &&
	       strncmp(row->name, "__cfi_", 6);
}

static bool wins(const struct row *a, const struct row *b)
{
	size_t x = strspn(a->name, "_"), y = strspn(b->name, "_");

	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (x != y)
		return x < y;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name);
	return strcmp(a->name, b->name) < 0;
}

static const struct row *search(const struct row *rows, size_t count,
				uint64_t address)
{
	const struct row *best = NULL, *next = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!counts(&rows[i]))
			continue;
		if (rows[i].start > address) {
			if (!next || rows[i].start < next->start)
				next = &rows[i];
		} else if (!best || rows[i].start > best->start ||
			   (rows[i].start == best->start &&
			    wins(&rows[i], best))) {
			best = &rows[i];
		}
	}
	if (!best || !best->rank)
		return NULL;
	if (next && !strcmp(next->module, best->module))
		return best;
	return address - best->start < 4096 ? best : NULL;
}

static size_t want(struct kallsyms_name *names, const struct row *rows,
		   size_t count)
{
	uint64_t wanted[WANTED_MOST];
	size_t all = 0, kept = 0;

	wanted[all++] = 0;
	wanted[all++] = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		wanted[all++] = rows[i].start - 1;
		wanted[all++] = rows[i].start;
		wanted[all++] = rows[i].start + 1;
		wanted[all++] = rows[i].start + 4095;
		wanted[all++] = rows[i].start + 4096;
	}
	qsort(wanted, all, sizeof(*wanted), cmp_u64);
	for (size_t i = 0; i < all; i++)
		if (!i || wanted[i] != wanted[i - 1])
			names[kept++] = (struct kallsyms_name){
				.address = wanted[i],
			};
	return kept;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms_name names[WANTED_MOST];
	struct row rows[ROWS_MOST];
	struct kallsyms_facts facts;
	char *text = fuzz_text(data, size), *line = text, *end = text + size;
	size_t count = 0, wanted;
	bool all_zero = true;
	int error;

	/* A zero byte ends a line's text, but not the line. */
	while (line < end && count < ROWS_MOST) {
		char *newline = memchr(line, '\n', (size_t)(end - line));

		if (newline)
			*newline = '\0';
		if (read_row(line, &rows[count]))
			all_zero &= !rows[count++].start;
		line = newline ? newline + 1 : end;
	}
	/* What is beyond the rows is not given to the other either. */
	wanted = want(names, rows, count);
	error = kallsyms_find(fuzz_file(data, (size_t)(line - text)), names,
			      wanted, &facts);
	MUST(facts.symbols == count);
	MUST(!error == (count > 0));
	MUST(facts.hidden == (count && all_zero));
	for (size_t i = 0; i < wanted; i++) {
		const struct row *row = search(rows, count, names[i].address);

		MUST(same(names[i].name, row ? row->name : NULL));
		MUST(same(names[i].module, row && *row->module ? row->module :
			  NULL));
		MUST(!row || names[i].start == row->start);
		free(names[i].name);
		free(names[i].module);
	}
	free(text);
	return 0;
}
