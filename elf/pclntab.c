/* SPDX-License-Identifier: MIT */
/*
 * pclntab: names of Go's functions, of stripped programs, too.
 *
 * It begins with a magic, 2 zero bytes, the size of the shortest instruction (1,
 * 2, 4) and that of an address, all in the file's byte order.  Then, each as
 * wide as an address:
 *
 *	1.2	fffffffb  functions
 *	1.16	fffffffa  functions files NAMES cu files pc TABLE
 *	1.18	fffffff0  functions files TEXT NAMES cu files pc TABLE
 *	1.20	fffffff1  the same
 *
 * NAMES and TABLE count from the magic (1.2: NAMES is 0, TABLE is behind the
 * header).  The table has a pair for each function, then the end of the last:
 *
 *	1.2, 1.16	address │ where in TABLE (1.2: from the magic)
 *	1.18, 1.20	address - TEXT │ where in TABLE    4 bytes each
 *
 * There, behind the function's address (1.18: 4 bytes) stand 4 bytes that say
 * where in NAMES its name is.
 *
 * TEXT is the address of runtime.text, not of .text, which with cgo begins with
 * C code.  In a PIE a relocation writes it, and the file may have 0 there; the
 * same goes for the addresses of 1.2 and 1.16.
 *
 * Sources: Go's runtime/symtab.go and debug/gosym/pclntab.go; "Go 1.2 Runtime
 * Symbol Information".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/notes.h"
#include "elf/pclntab.h"
#include "elf/relocs.h"
#include "lib/memory.h"

enum {
	HEADER_MOST = 8 + 8 * 8,
	FUNCTIONS_MOST = 4 * 1024 * 1024,
	ENTRY_MOST = 64 * 1024,	/* functions among which is the first to run */
	ALIGNMENT = 16,		/* of the table, where it is searched for */
	TRIES_MOST = 8,		/* of what begins like one */
};

#define SEARCH_MOST (256ull << 20)	/* bytes of all places */

struct search {
	uint64_t read;
	int tries;
};

static int version_of(const struct elf_file *file, const uint8_t *at)
{
	switch (elf_u32(file, at)) {
	case 0xfffffffb:
		return 2;
	case 0xfffffffa:
		return 16;
	case 0xfffffff0:
		return 18;
	case 0xfffffff1:
		return 20;
	default:
		return 0;
	}
}

/* Whether a table may begin with these 8 bytes. */
static bool is_header(const struct elf_file *file, const uint8_t *at)
{
	return version_of(file, at) && !at[4] && !at[5] &&
	       (at[6] == 1 || at[6] == 2 || at[6] == 4) &&
	       at[7] == elf_word_size(file);
}

static size_t pair_size(const struct elf_pclntab *go)
{
	return go->version >= 18 ? 8 : 2 * go->pointer;
}

/* A number of a pair or its half. */
static uint64_t half(const struct elf_pclntab *go, const uint8_t *at,
		     bool second)
{
	if (go->version >= 18)
		return elf_u32(go->file, at + (second ? 4 : 0));
	return elf_word(go->file, at + (second ? go->pointer : 0));
}

/* The address of runtime.text, if the header does not say it. */
static uint64_t find_text(struct elf_pclntab *go, uint64_t field)
{
	static const char entry[] = "_rt0_";
	uint64_t start, end, text;
	char name[64];
	uint32_t at;

	if (field && elf_relocs_relative(go->file, field, &text))
		return text;
	/* The program's first instruction is a function of Go's, if no cgo. */
	for (uint64_t i = 0; i < go->count && i < ENTRY_MOST; i++)
		if (elf_pclntab_at(go, i, &start, &end, &at) &&
		    elf_pclntab_name(go, at, name, sizeof(name)) &&
		    !strncmp(name, entry, strlen(entry)) &&
		    start <= go->file->entry)
			return go->file->entry - start;
	return 0;
}

/* What the header says; false if it cannot be so. */
static bool read_header(struct elf_pclntab *go, uint64_t address)
{
	uint8_t header[HEADER_MOST] = { 0 };
	size_t word = elf_word_size(go->file), field;
	const uint8_t *fields = header + 8;
	uint64_t last;

	if (input_some(&go->table, 0, header, sizeof(header)) < 8 ||
	    !is_header(go->file, header))
		return false;
	go->version = version_of(go->file, header);
	go->pointer = word;
	go->count = elf_word(go->file, fields);
	if (!go->count || go->count > FUNCTIONS_MOST)
		return false;
	field = go->version >= 18 ? 3 : 2;
	go->names = 0;
	go->functions = 8 + word;
	if (go->version >= 16) {
		go->names = elf_word(go->file, fields + field * word);
		go->functions = elf_word(go->file, fields +
					 (field + 4) * word);
	}
	last = go->count * pair_size(go);
	if (go->names >= go->table.size || go->functions >= go->table.size ||
	    last > go->table.size - go->functions)
		return false;
	if (go->version < 18)
		return true;
	go->text = elf_word(go->file, fields + 2 * word);
	if (!go->text)
		go->text = find_text(go, address ? address + 8 + 2 * word : 0);
	return go->text;
}

static bool try(struct elf_pclntab *go, const struct input *table,
		uint64_t address)
{
	go->table = *table;
	go->window->size = 0;
	return read_header(go, address);
}

/* In a section that has other things, too, or in a segment. */
static bool search(struct elf_pclntab *go, struct search *search,
		   const struct input *place, uint64_t address)
{
	struct input_window *window = memory_new(1, sizeof(*window));
	bool found = false;

	window->input = place;
	for (uint64_t at = 0; search->read < SEARCH_MOST && !found;
	     at += ALIGNMENT, search->read += ALIGNMENT) {
		const uint8_t *head = input_look(window, at, 8);
		struct input table;

		if (!head)
			break;
		found = is_header(go->file, head) &&
			search->tries++ < TRIES_MOST &&
			input_part(place, at, place->size - at, &table) &&
			try(go, &table, address + at);
	}
	free(window);
	return found;
}

static bool find(struct elf_pclntab *go)
{
	static const char *const names[] = {
		".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro",
		".rodata",
	};
	const struct elf_file *file = go->file;
	struct search all = { 0 };
	struct input part;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct elf_file_section *section;

		section = elf_file_section_named(file, names[i]);
		if (section && elf_file_section_input(file, section, &part) &&
		    search(go, &all, &part, section->address))
			return true;
	}
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *segment = &file->segments[i];

		if (segment->type == PT_LOAD && !file->section_count &&
		    input_part(&file->input, segment->offset,
			       segment->file_size, &part) &&
		    search(go, &all, &part, segment->address))
			return true;
	}
	return false;
}

int elf_pclntab_open(struct elf_pclntab *go, const struct elf_file *file)
{
	*go = (struct elf_pclntab){ .file = file };
	if (!elf_is_go(file))
		return -ENOENT;
	go->window = memory_new(1, sizeof(*go->window));
	go->window->input = &go->table;
	if (find(go))
		return 0;
	elf_pclntab_close(go);
	return -ENOEXEC;
}

bool elf_pclntab_at(struct elf_pclntab *go, uint64_t number,
		    uint64_t *start, uint64_t *end, uint32_t *name)
{
	size_t size = pair_size(go), word = size / 2;
	const uint8_t *pair;

	if (number >= go->count)
		return false;
	pair = input_look(go->window, go->functions + number * size,
			  size + word);
	if (!pair)
		return false;
	*start = go->text + half(go, pair, false);
	*name = (uint32_t)half(go, pair, true);
	*end = go->text + half(go, pair + size, false);
	return true;
}

bool elf_pclntab_name(const struct elf_pclntab *go, uint32_t name, char *text,
		      size_t size)
{
	uint64_t function = name, skip = go->version >= 18 ? 4 : go->pointer;
	uint8_t field[4];

	if (go->version >= 16)
		function += go->functions;
	return input_copy(&go->table, function + skip, field, 4) &&
	       input_text(&go->table, go->names + elf_u32(go->file, field),
			  text, size);
}

void elf_pclntab_close(struct elf_pclntab *go)
{
	free(go->window);
	go->window = NULL;
}
