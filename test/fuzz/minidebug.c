/* SPDX-License-Identifier: MIT */
/*
 * .gnu_debugdata: an ELF file inside an xz file inside an ELF file.  What is
 * made up is either the xz file or what is in it, stored; and .symtab with
 * SHF_COMPRESSED the same way.
 */
#include "lib/checksum.h"
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

static void number(struct text *text, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_add(text, &(char){ (char)(value >> 8 * i) }, 1);
}

static void sum(struct text *text, size_t from)
{
	number(text, checksum_crc32(0, (struct bytes){
		(const uint8_t *)text->data + from, text->length - from }), 4);
}

/* An xz file with one stored chunk, of up to 64 KB, and no check. */
static void store(struct text *text, const uint8_t *data, size_t size)
{
	uint8_t tail[6] = { 0 };
	size_t block, index;

	text_add(text, "\xfd" "7zXZ\0\0\0", 8);
	sum(text, 6);
	block = text->length;
	text_add(text, "\2\0\x21\1\x08\0\0\0", 8);
	sum(text, block);
	number(text, 1, 1);
	number(text, (size - 1) >> 8, 1);
	number(text, size - 1, 1);
	text_add(text, (const char *)data, size);
	number(text, 0, 1);
	index = text->length - block;
	while (text->length % 4)
		number(text, 0, 1);
	block = text->length;
	number(text, 0x0100, 2);
	for (int i = 0; i < 2; i++) {
		size_t value = i ? size : index;

		for (; value > 0x7f; value >>= 7)
			number(text, (value & 0x7f) | 0x80, 1);
		number(text, value, 1);
	}
	while (text->length % 4)
		number(text, 0, 1);
	index = text->length - block;
	sum(text, block);
	/* The sum of the last 6 bytes stands before them. */
	tail[0] = (uint8_t)(index / 4);
	number(text, checksum_crc32(0, (struct bytes){ tail, 6 }), 4);
	text_add(text, (const char *)tail, 6);
	text_add(text, "YZ", 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text packed = { 0 };
	struct image *image;
	struct frame frame;
	struct bytes file;
	unsigned int table;
	uint8_t kind;

	if (size < 2)
		return 0;
	kind = *data++;
	size--;
	if (kind & 1)
		store(&packed, data, size);
	else
		text_add(&packed, (const char *)data, size);
	frame_begin(&frame);
	if (kind & 2) {
		table = frame_add(&frame, ".symtab", SHT_SYMTAB, SHF_COMPRESSED,
				  data, size);
		frame.sections[table].sh_link = table + 1;
		frame_add(&frame, ".strtab", SHT_STRTAB, 0,
			  (const uint8_t *)"\0one\0two", 9);
	} else {
		frame_add(&frame, ".gnu_debugdata", SHT_PROGBITS, 0,
			  (const uint8_t *)packed.data, packed.length);
	}
	file = frame_end(&frame);
	image = image_open_memory(file);
	frame_ask(image, file.size);
	image_close(image);
	frame_free(&frame);
	text_free(&packed);
	return 0;
}
