/* SPDX-License-Identifier: MIT */
/*
 * frame: an ELF file of 64 bits in which all is right but what a target puts
 * into its sections.  One PT_LOAD that runs holds the whole file, at
 * FRAME_ADDRESS.
 */
#ifndef TEST_FUZZ_FRAME_H
#define TEST_FUZZ_FRAME_H

#include <elf.h>
#include <stdint.h>

#include "lib/text.h"
#include "sym/image.h"

enum { FRAME_ADDRESS = 0x10000, FRAME_SECTIONS = 12 };

struct frame {
	struct text file;
	Elf64_Phdr segments[6];
	Elf64_Shdr sections[FRAME_SECTIONS];
	unsigned int segment_count, section_count;
	struct text names;
};

/* With 256 bytes of .text, which is section 1. */
void frame_begin(struct frame *frame);

/* Its number. */
unsigned int frame_add(struct frame *frame, const char *name, uint32_t type,
		       uint64_t flags, const uint8_t *data, size_t size);

/* A segment with the bytes of a section. */
void frame_segment(struct frame *frame, uint32_t type, unsigned int section);
struct bytes frame_end(struct frame *frame);
void frame_free(struct frame *frame);

/* Cuts the next part off the input: its size stands before it, 2 bytes. */
struct bytes frame_part(const uint8_t **data, size_t *size);

/*
 * Asks the image for offsets all over the file, and says what has to hold of
 * each answer.
 */
void frame_ask(struct image *image, size_t size);

#endif
