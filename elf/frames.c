/* SPDX-License-Identifier: MIT */
/*
 * frames: the start of each function in .eh_frame.
 *
 * PT_GNU_EH_FRAME points to .eh_frame_hdr, in most files with a sorted table:
 *
 *	version 1 │ enc of next │ enc of count │ enc of table    a byte each
 *	address of .eh_frame │ count │ count x { function, FDE }
 *
 * .eh_frame is a row of records; what the table leaves out is read there:
 *
 *	CIE: length 4 │ 0 4 │ version │ "zPLR" │ factors │ the encodings
 *	FDE: length 4 │ distance to its CIE 4 │ function │ its size │ ...
 *
 * An encoding says how a number is written (low 4 bits: size and sign) and what
 * is to be added (0x10: its own address, 0x30: that of .eh_frame_hdr).
 *
 * Source: Linux Standard Base, "DWARF extensions" and ".eh_frame_hdr";
 * DWARF 5, 6.4.1.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/frames.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/sort.h"

enum {
	ENCODED_NONE = 0xff,
	ENCODED_USUAL = 0x3b,	/* 4 signed bytes, from .eh_frame_hdr on */
	FRAMES_MOST = 2 * 1024 * 1024,
	FRAMES_FEW = 8192,	/* so many are read, whatever is wanted */
	RECORD_SIZE = 256,	/* what is read at once of a single record */
};

#define EH_FRAME_MOST (256ull << 20)

/* A place in the file's memory, read piece by piece. */
struct cursor {
	const struct elf_file *file;
	struct input_window *window, *cies;
	uint64_t address;	/* of the windows' input */
	uint64_t at;		/* where in it */
	uint64_t base;		/* of "datarel" */
	bool failed;
};

static uint64_t take(struct cursor *cursor, size_t size)
{
	const uint8_t *at = input_look(cursor->window, cursor->at, size);
	uint64_t value = 0;

	if (!at) {
		cursor->failed = true;
		return 0;
	}
	cursor->at += size;
	if (size == 1)
		value = *at;
	else if (size == 2)
		value = elf_u16(cursor->file, at);
	else if (size == 4)
		value = elf_u32(cursor->file, at);
	else
		value = elf_u64(cursor->file, at);
	return value;
}

static uint64_t take_leb128(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70 && !cursor->failed;
	     shift += 7) {
		uint64_t byte = take(cursor, 1);

		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

static uint64_t take_encoded(struct cursor *cursor, uint8_t encoding)
{
	uint64_t place = cursor->address + cursor->at, value;

	switch (encoding & 0x0f) {
	case 0x00:
		value = take(cursor, elf_word_size(cursor->file));
		break;
	case 0x02:
		value = take(cursor, 2);
		break;
	case 0x03:
		value = take(cursor, 4);
		break;
	case 0x04:
	case 0x0c:
		value = take(cursor, 8);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)take(cursor, 2);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)take(cursor, 4);
		break;
	default:
		cursor->failed = true;
		return 0;
	}
	switch (encoding & 0xf0) {
	case 0x00:
		break;
	case 0x10:
		value += place;
		break;
	case 0x30:
		value += cursor->base;
		break;
	default:
		cursor->failed = true;
	}
	return cursor->file->wide ? value : (uint32_t)value;
}

/* Two numbers in the encoding that all linkers use for the table. */
static void take_usual(struct cursor *cursor, uint64_t *start, uint64_t *entry)
{
	const uint8_t *at = input_look(cursor->window, cursor->at, 8);
	uint64_t base = cursor->base;

	if (!at) {
		cursor->failed = true;
		return;
	}
	cursor->at += 8;
	*start = base + (uint64_t)(int32_t)elf_u32(cursor->file, at);
	*entry = base + (uint64_t)(int32_t)elf_u32(cursor->file, at + 4);
	if (cursor->file->wide)
		return;
	*start = (uint32_t)*start;
	*entry = (uint32_t)*entry;
}

/* How the FDEs of the CIE at `cursor` write addresses. */
static uint8_t read_cie(struct cursor *cursor)
{
	uint8_t encoding = 0, version;
	char text[8] = "";
	size_t length;

	version = (uint8_t)take(cursor, 1);
	for (length = 0; length < sizeof(text); length++) {
		text[length] = (char)take(cursor, 1);
		if (!text[length])
			break;
	}
	/* No augmentation: plain addresses. */
	if (!*text)
		return 0;
	if (length == sizeof(text) || *text != 'z')
		cursor->failed = true;
	if (cursor->failed)
		return 0;
	if (version == 4)
		take(cursor, 2);
	take_leb128(cursor);
	take_leb128(cursor);
	if (version == 1)
		take(cursor, 1);
	else
		take_leb128(cursor);
	take_leb128(cursor);
	for (size_t i = 1; i < length; i++) {
		if (text[i] == 'R')
			encoding = (uint8_t)take(cursor, 1);
		else if (text[i] == 'L')
			take(cursor, 1);
		else if (text[i] == 'P')
			take_encoded(cursor, take(cursor, 1) & 0x0f);
		else if (text[i] != 'S' && text[i] != 'B' && text[i] != 'G')
			break;
	}
	return encoding;
}

/* The length of a record; what follows it begins at cursor->at. */
static uint64_t take_length(struct cursor *cursor)
{
	uint64_t length = take(cursor, 4);

	return length == UINT32_MAX ? take(cursor, 8) : length;
}

/*
 * Reads the FDE behind its length and CIE distance.  `cie`: where in the
 * cursor's input its CIE is.
 */
static bool read_fde(struct cursor *cursor, uint64_t cie, uint64_t *start,
		     uint64_t *end)
{
	struct cursor head = *cursor;
	uint8_t encoding;
	uint64_t size;

	/* Most FDEs have one CIE: a window of its own stays there. */
	head.window = cursor->cies;
	head.at = cie;
	take_length(&head);
	if (take(&head, 4) || head.failed)
		return false;
	encoding = read_cie(&head);
	if (head.failed)
		return false;
	*start = take_encoded(cursor, encoding);
	size = take_encoded(cursor, encoding & 0x0f);
	*end = *start + size;
	return !cursor->failed && *end > *start;
}

static void add(struct elf_frames *frames, uint64_t start, uint64_t entry)
{
	if (frames->wanted) {
		wanted_note(frames->wanted, start, entry);
		return;
	}
	frames->frames = memory_grow(frames->frames, &frames->capacity,
				     frames->count + 1,
				     sizeof(*frames->frames));
	frames->frames[frames->count++] = (struct elf_frame){ start, entry };
}

/* Without a table: all records of .eh_frame, from its first. */
static void walk(struct elf_frames *frames, struct cursor *cursor)
{
	for (size_t i = 0; i < FRAMES_MOST; i++) {
		uint64_t record = cursor->at, start, end, id;
		uint64_t length = take_length(cursor), body = cursor->at;

		if (cursor->failed || !length || length > EH_FRAME_MOST ||
		    body > EH_FRAME_MOST)
			return;
		id = take(cursor, 4);
		/* A CIE that lies elsewhere ruins one record, no more. */
		if (id && id <= body &&
		    read_fde(cursor, body - id, &start, &end))
			add(frames, start, cursor->address + record);
		cursor->failed = false;
		cursor->at = body + length;
	}
}

/* The table of .eh_frame_hdr; false if there is none. */
static bool read_table(struct elf_frames *frames, struct cursor *cursor,
		       uint8_t count_encoding, uint8_t encoding)
{
	uint64_t count;

	if (count_encoding == ENCODED_NONE || encoding == ENCODED_NONE)
		return false;
	count = take_encoded(cursor, count_encoding);
	if (cursor->failed || !count || count > FRAMES_MOST)
		return false;
	if (count <= FRAMES_FEW)
		frames->wanted = NULL;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t start, entry;

		if (encoding == ENCODED_USUAL) {
			take_usual(cursor, &start, &entry);
		} else {
			start = take_encoded(cursor, encoding);
			entry = take_encoded(cursor, encoding);
		}
		if (cursor->failed)
			return false;
		add(frames, start, entry);
	}
	return true;
}

/* Where .eh_frame_hdr is; false if there is none. */
static bool find_header(const struct elf_file *file, uint64_t *address)
{
	const struct elf_file_section *section;

	for (uint32_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].type == PT_GNU_EH_FRAME) {
			*address = file->segments[i].address;
			return true;
		}
	section = elf_file_section_named(file, ".eh_frame_hdr");
	if (section)
		*address = section->address;
	return section;
}

static bool open_at(struct cursor *cursor, struct input *input,
		    uint64_t address)
{
	cursor->address = address;
	cursor->at = 0;
	cursor->failed = false;
	cursor->window->size = cursor->cies->size = 0;
	cursor->window->input = cursor->cies->input = input;
	return elf_file_at(cursor->file, address, input);
}

static void read_all(struct elf_frames *frames, struct cursor *cursor)
{
	const struct elf_file_section *section;
	uint64_t address = 0;
	struct input input;
	uint8_t head[4];

	if (find_header(frames->file, &address) &&
	    open_at(cursor, &input, address)) {
		cursor->base = frames->base = address;
		for (size_t i = 0; i < sizeof(head); i++)
			head[i] = (uint8_t)take(cursor, 1);
		address = take_encoded(cursor, head[1]);
		if (head[0] == 1 && !cursor->failed &&
		    read_table(frames, cursor, head[2], head[3]))
			return;
		if (head[0] != 1)
			address = 0;
	}
	frames->count = 0;
	if (frames->wanted)
		wanted_clear(frames->wanted);
	section = elf_file_section_named(frames->file, ".eh_frame");
	if (section)
		address = section->address;
	if (address && open_at(cursor, &input, address))
		walk(frames, cursor);
}

/* What was noted of the wanted addresses. */
static void add_noted(struct elf_frames *frames)
{
	struct wanted *wanted = frames->wanted;

	wanted_finish(wanted);
	frames->wanted = NULL;
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->below[i].is)
			add(frames, wanted->below[i].start,
			    wanted->below[i].value);
}

void elf_frames_open(struct elf_frames *frames, const struct elf_file *file,
		     struct wanted *wanted)
{
	struct cursor cursor = { .file = file };

	*frames = (struct elf_frames){
		.file = file, .wanted = wanted,
		.windows = memory_new(2, sizeof(*frames->windows)),
	};
	cursor.window = &frames->windows[0];
	cursor.cies = &frames->windows[1];
	cursor.cies->ahead = RECORD_SIZE;
	if (wanted)
		wanted_clear(wanted);
	read_all(frames, &cursor);
	frames->part = frames->wanted;
	if (frames->part)
		add_noted(frames);
	sort_by_u64(frames->frames, frames->count, sizeof(*frames->frames));
	cursor.window->ahead = RECORD_SIZE;
}

/*
 * An FDE that is read alone.  Its CIE lies somewhere before it, so the input
 * begins there.
 */
static bool read_one(struct elf_frames *frames, uint64_t entry,
		     uint64_t *start, uint64_t *end)
{
	struct cursor cursor = {
		.file = frames->file, .base = frames->base,
		.window = &frames->windows[0], .cies = &frames->windows[1],
	};
	uint64_t field, back;
	struct input input;

	if (!open_at(&cursor, &input, entry) || !take_length(&cursor))
		return false;
	field = cursor.at;
	/* From the FDE's first byte to the CIE's; the file counts from here. */
	back = take(&cursor, 4) - field;
	if (cursor.failed || back > entry ||
	    !open_at(&cursor, &input, entry - back))
		return false;
	cursor.at = back + field + 4;
	return read_fde(&cursor, 0, start, end);
}

bool elf_frames_find(struct elf_frames *frames, uint64_t address,
		     uint64_t *start, uint64_t *end)
{
	size_t low = search_upto_u64(frames->frames, frames->count,
				     sizeof(*frames->frames), address);

	if (!low || !read_one(frames, frames->frames[low - 1].entry, start, end))
		return false;
	/* A table that says something else than its FDE is not to be had. */
	return *start == frames->frames[low - 1].start;
}

void elf_frames_close(struct elf_frames *frames)
{
	free(frames->frames);
	free(frames->windows);
	*frames = (struct elf_frames){ 0 };
}
