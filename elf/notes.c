/* SPDX-License-Identifier: MIT */
/*
 * notes: what linkers write about a file, in PT_NOTE or SHT_NOTE.
 *
 *	name size 4 │ size 4 │ type 4 │ name, padded │ bytes, padded
 *
 * Padding is to 4 bytes, or to 8 where the segment is aligned so (which the
 * build-id's never is).  Name "GNU", type 3: the build-id.  Name "Go", type 4:
 * Go's own.
 *
 * Source: System V ABI, chapter 5, "Note Section"; Linux's lib/buildid.c.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/notes.h"

enum {
	NOTES_MOST = 16 * 1024,	/* bytes, of one segment or section */
	PLACES_MOST = 64,	/* segments and sections that are looked into */
	NOTE_GO_BUILD_ID = 4,
};

static uint64_t align(uint64_t value, uint64_t to)
{
	return (value + to - 1) & ~(to - 1);
}

/* The bytes of the first such note, to *note. */
static bool find_in(const struct elf_file *file, struct bytes notes,
		    uint64_t to, const char name[4], uint32_t type,
		    struct bytes *note)
{
	uint64_t at = 0;
	struct bytes head, text;

	while (bytes_part(notes, at, 12, &head)) {
		uint64_t name_size = elf_u32(file, head.data);
		uint64_t size = elf_u32(file, head.data + 4);
		uint64_t body = align(at + 12 + name_size, to);

		if (!bytes_part(notes, at + 12, name_size, &text) ||
		    !bytes_part(notes, body, size, note))
			return false;
		if (elf_u32(file, head.data + 8) == type &&
		    name_size == 4 && !memcmp(text.data, name, 4))
			return true;
		at = align(body + size, to);
	}
	return false;
}

/* In one place of the file: what fits of the note, and its size. */
static bool find_at(const struct elf_file *file, uint64_t offset,
		    uint64_t size, uint64_t alignment, const char name[4],
		    uint32_t type, struct elf_build_id *id)
{
	struct bytes note = { 0 };
	struct input part;
	uint8_t *data;
	bool found = false;

	if (!input_part(&file->input, offset, size, &part))
		return false;
	data = input_all(&part, NOTES_MOST);
	if (data)
		found = find_in(file, (struct bytes){ data, size },
				alignment == 8 ? 8 : 4, name, type, &note);
	if (found && note.size) {
		memcpy(id->bytes, note.data,
		       note.size < sizeof(id->bytes) ? note.size :
						       sizeof(id->bytes));
		id->size = note.size;
	}
	free(data);
	return found;
}

static bool find(const struct elf_file *file, const char name[4],
		 uint32_t type, struct elf_build_id *id)
{
	uint32_t places = 0;

	*id = (struct elf_build_id){ 0 };
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *part = &file->segments[i];

		if (part->type == PT_NOTE && places++ < PLACES_MOST &&
		    find_at(file, part->offset, part->file_size, part->align,
			    name, type, id))
			return true;
	}
	for (uint32_t i = 0; i < file->section_count; i++) {
		const struct elf_file_section *part = &file->sections[i];

		if (part->type == SHT_NOTE && places++ < PLACES_MOST &&
		    find_at(file, part->offset, part->size, part->align, name,
			    type, id))
			return true;
	}
	return false;
}

bool elf_build_id(const struct elf_file *file, struct elf_build_id *id)
{
	if (!find(file, "GNU", NT_GNU_BUILD_ID, id) ||
	    id->size > sizeof(id->bytes))
		id->size = 0;
	return id->size;
}

bool elf_is_go(const struct elf_file *file)
{
	struct elf_build_id id;

	return find(file, "Go\0", NOTE_GO_BUILD_ID, &id) ||
	       elf_file_section_named(file, ".go.buildinfo") ||
	       elf_file_section_named(file, ".gopclntab");
}
