/* SPDX-License-Identifier: MIT */
/*
 * file: the frame of an ELF file that others made.
 *
 *	┌───────────────┐ 0     e_phoff ──> e_phnum segments: what is mapped where
 *	│ header        │       e_shoff ──> e_shnum sections: what is what
 *	├───────────────┤       e_shstrndx: the section of their names
 *	│ segments and  │
 *	│ sections, in  │       a segment: p_offset, p_filesz: its place here
 *	│ any order     │                  p_vaddr: its address, before the
 *	└───────────────┘                  whole image is moved somewhere
 *
 * The 32-bit class has the same fields, 4 bytes where the 64-bit one has 8 (and
 * p_flags elsewhere).  Sections may be missing or lie: only segments are what
 * the kernel and the dynamic linker went by.
 *
 * Addresses here are the file's own: where a process has it is its mapping's
 * affair.  A mapping is told to lie at some offset of the file, and the PT_LOAD
 * that holds this offset has the address.  Nothing else does: ld writes ET_EXEC
 * for some files that are moved, text may be in any PT_LOAD, and p_vaddr and
 * p_offset may differ.
 *
 * Source: man 5 elf; System V ABI, chapters 4 and 5.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/file.h"
#include "lib/memory.h"

/*
 * Beyond these a table is none.  Programs have 10 segments and 40 sections; some
 * of what follows takes a turn for each of them.
 */
enum {
	SEGMENTS_MOST = 256,
	SECTIONS_MOST = 16 * 1024,
	NAMES_MOST = 1024 * 1024,
	NAME_MOST = 256,
	HEADER_SIZE = 64,
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { ELF_NATIVE = ELFDATA2LSB };
#else
enum { ELF_NATIVE = ELFDATA2MSB };
#endif

uint64_t elf_word(const struct elf_file *file, const uint8_t *at)
{
	return file->wide ? elf_u64(file, at) : elf_u32(file, at);
}

size_t elf_word_size(const struct elf_file *file)
{
	return file->wide ? 8 : 4;
}

static void read_segment(const struct elf_file *file, const uint8_t *at,
			 struct elf_file_segment *segment)
{
	size_t word = elf_word_size(file);
	const uint8_t *field = at + (file->wide ? 8 : 4);

	segment->type = elf_u32(file, at);
	segment->flags = elf_u32(file, file->wide ? at + 4 : at + 24);
	segment->offset = elf_word(file, field);
	segment->address = elf_word(file, field + word);
	segment->file_size = elf_word(file, field + 3 * word);
	segment->memory_size = elf_word(file, field + 4 * word);
	segment->align = elf_word(file, file->wide ? at + 48 : at + 28);
}

static void read_section(const struct elf_file *file, const uint8_t *at,
			 struct elf_file_section *section)
{
	size_t word = elf_word_size(file);
	const uint8_t *links = at + 8 + 4 * word;

	section->name = elf_u32(file, at);
	section->type = elf_u32(file, at + 4);
	section->flags = elf_word(file, at + 8);
	section->address = elf_word(file, at + 8 + word);
	section->offset = elf_word(file, at + 8 + 2 * word);
	section->size = elf_word(file, at + 8 + 3 * word);
	section->link = elf_u32(file, links);
	section->info = elf_u32(file, links + 4);
	section->align = elf_word(file, links + 8);
	section->entry_size = elf_word(file, links + 8 + word);
}

static void read_segments(struct elf_file *file, const uint8_t *header)
{
	size_t word = elf_word_size(file), size = file->wide ? 56 : 32;
	const uint8_t *rest = header + 28 + 3 * word;
	uint32_t count = elf_u16(file, rest + 4);
	struct input part;
	uint8_t *table;

	if (elf_u16(file, rest + 2) != size || count > SEGMENTS_MOST ||
	    !input_part(&file->input, elf_word(file, header + 24 + word),
			(uint64_t)count * size, &part))
		return;
	table = input_all(&part, SEGMENTS_MOST * (uint64_t)size);
	if (!table)
		return;
	file->segments = memory_new(count, sizeof(*file->segments));
	file->segment_count = count;
	for (uint32_t i = 0; i < count; i++)
		read_segment(file, table + i * size, &file->segments[i]);
	free(table);
}

static void read_names(struct elf_file *file, uint32_t number)
{
	const struct elf_file_section *section;
	struct input part;

	section = elf_file_section(file, number);
	if (!section || !elf_file_section_input(file, section, &part))
		return;
	file->names = input_all(&part, NAMES_MOST);
	if (file->names)
		file->names_size = part.size;
}

static void read_sections(struct elf_file *file, const uint8_t *header)
{
	size_t word = elf_word_size(file), size = file->wide ? 64 : 40;
	const uint8_t *rest = header + 28 + 3 * word;
	uint64_t offset = elf_word(file, header + 24 + 2 * word);
	uint64_t count = elf_u16(file, rest + 8);
	uint32_t names = elf_u16(file, rest + 10);
	struct elf_file_section first;
	uint8_t one[HEADER_SIZE], *table;
	struct input part;

	if (!offset || elf_u16(file, rest + 6) != size ||
	    !input_copy(&file->input, offset, one, size))
		return;
	read_section(file, one, &first);
	if (!count)
		count = first.size;
	if (names == SHN_XINDEX)
		names = first.link;
	if (count > SECTIONS_MOST ||
	    !input_part(&file->input, offset, count * size, &part))
		return;
	table = input_all(&part, (uint64_t)SECTIONS_MOST * size);
	if (!table)
		return;
	file->sections = memory_new(count, sizeof(*file->sections));
	file->section_count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++)
		read_section(file, table + i * size, &file->sections[i]);
	free(table);
	read_names(file, names);
}

int elf_file_open(struct elf_file *file, const struct input *input,
		  const char **why)
{
	uint8_t header[HEADER_SIZE];

	*file = (struct elf_file){ .input = *input };
	*why = "not an ELF file";
	if (input_some(input, 0, header, sizeof(header)) < 52 ||
	    memcmp(header, ELFMAG, SELFMAG))
		return -ENOEXEC;
	*why = "of an unknown class or byte order";
	if ((header[EI_CLASS] != ELFCLASS64 &&
	     header[EI_CLASS] != ELFCLASS32) ||
	    (header[EI_DATA] != ELFDATA2LSB &&
	     header[EI_DATA] != ELFDATA2MSB))
		return -ENOEXEC;
	file->wide = header[EI_CLASS] == ELFCLASS64;
	file->swapped = header[EI_DATA] != ELF_NATIVE;
	*why = "cut short";
	if (file->wide && input->size < sizeof(header))
		return -ENOEXEC;
	file->type = elf_u16(file, header + 16);
	file->machine = elf_u16(file, header + 18);
	file->entry = elf_word(file, header + 24);
	read_segments(file, header);
	read_sections(file, header);
	*why = "without segments and sections";
	return file->segment_count || file->section_count ? 0 : -ENOEXEC;
}

void elf_file_close(struct elf_file *file)
{
	free(file->segments);
	free(file->sections);
	free(file->names);
	*file = (struct elf_file){ 0 };
}

const char *elf_file_section_name(const struct elf_file *file,
				  const struct elf_file_section *section)
{
	struct bytes names = { file->names, file->names_size };
	const char *name;

	/* One that does not end costs no more than another. */
	if (section->name < names.size &&
	    names.size - section->name > NAME_MOST)
		names.size = section->name + NAME_MOST;
	name = bytes_text(names, section->name);
	return name ? name : "";
}

const struct elf_file_section *
elf_file_section_named(const struct elf_file *file, const char *name)
{
	for (uint32_t i = 1; i < file->section_count; i++)
		if (!strcmp(elf_file_section_name(file, &file->sections[i]),
			    name))
			return &file->sections[i];
	return NULL;
}

const struct elf_file_section *
elf_file_section_of_type(const struct elf_file *file, uint32_t type)
{
	for (uint32_t i = 1; i < file->section_count; i++)
		if (file->sections[i].type == type)
			return &file->sections[i];
	return NULL;
}

const struct elf_file_section *elf_file_section(const struct elf_file *file,
						uint64_t number)
{
	return number && number < file->section_count ?
	       &file->sections[number] : NULL;
}

bool elf_file_section_input(const struct elf_file *file,
			    const struct elf_file_section *section,
			    struct input *input)
{
	*input = (struct input){ .fd = -1 };
	return section->type != SHT_NOBITS && section->type != SHT_NULL &&
	       input_part(&file->input, section->offset, section->size, input);
}

bool elf_file_at(const struct elf_file *file, uint64_t address,
		 struct input *input)
{
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *segment = &file->segments[i];
		uint64_t in = address - segment->address;
		struct input whole;

		if (segment->type != PT_LOAD || address < segment->address ||
		    in >= segment->file_size ||
		    !input_part(&file->input, segment->offset,
				segment->file_size, &whole))
			continue;
		return input_part(&whole, in, whole.size - in, input);
	}
	*input = (struct input){ .fd = -1 };
	return false;
}

bool elf_file_address(const struct elf_file *file, uint64_t offset,
		      uint64_t *address)
{
	bool found = false;

	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *segment = &file->segments[i];
		bool runs = segment->flags & PF_X;

		if (segment->type != PT_LOAD || offset < segment->offset ||
		    offset - segment->offset >= segment->file_size ||
		    (found && !runs))
			continue;
		*address = segment->address + (offset - segment->offset);
		found = true;
		if (runs)
			break;
	}
	return found;
}

uint64_t elf_file_code(const struct elf_file *file, uint64_t address)
{
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *part = &file->segments[i];

		if (part->type == PT_LOAD && part->flags & PF_X &&
		    address >= part->address &&
		    address - part->address < part->memory_size)
			return part->memory_size - (address - part->address);
	}
	return 0;
}
