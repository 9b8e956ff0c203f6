/* SPDX-License-Identifier: MIT */
/* frame: an ELF file around what a target makes up. */
#include <string.h>

#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

static void pad(struct text *text, size_t to)
{
	while (text->length % to)
		text_add(text, "", 1);
}

unsigned int frame_add(struct frame *frame, const char *name, uint32_t type,
		       uint64_t flags, const uint8_t *data, size_t size)
{
	Elf64_Shdr *section = &frame->sections[frame->section_count];

	MUST(frame->section_count < FRAME_SECTIONS);
	pad(&frame->file, 16);
	*section = (Elf64_Shdr){
		.sh_name = (uint32_t)frame->names.length, .sh_type = type,
		.sh_flags = flags, .sh_offset = frame->file.length,
		.sh_addr = frame->file.length + FRAME_ADDRESS,
		.sh_size = size, .sh_addralign = 1,
	};
	text_add(&frame->names, name, strlen(name) + 1);
	if (size)
		text_add(&frame->file, (const char *)data, size);
	return frame->section_count++;
}

void frame_begin(struct frame *frame)
{
	static const uint8_t zeros[sizeof(Elf64_Ehdr) + 6 * sizeof(Elf64_Phdr)];
	uint8_t code[256];

	*frame = (struct frame){ .section_count = 1, .segment_count = 1 };
	text_add(&frame->file, (const char *)zeros, sizeof(zeros));
	text_add(&frame->names, "", 1);
	memset(code, 0x90, sizeof(code));
	frame_add(frame, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
		  code, sizeof(code));
}

void frame_segment(struct frame *frame, uint32_t type, unsigned int section)
{
	const Elf64_Shdr *header = &frame->sections[section];

	MUST(frame->segment_count < 6);
	frame->segments[frame->segment_count++] = (Elf64_Phdr){
		.p_type = type, .p_flags = PF_R,
		.p_offset = header->sh_offset, .p_vaddr = header->sh_addr,
		.p_filesz = header->sh_size, .p_memsz = header->sh_size,
		.p_align = 4,
	};
}

struct bytes frame_end(struct frame *frame)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1,
		.e_phoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	struct text names = frame->names;
	size_t size;

	frame->names = (struct text){ 0 };
	text_add(&frame->names, names.data, names.length);
	frame_add(frame, ".shstrtab", SHT_STRTAB, 0,
		  (const uint8_t *)names.data, names.length);
	text_free(&names);
	pad(&frame->file, 16);
	header.e_shoff = frame->file.length;
	header.e_shnum = (uint16_t)frame->section_count;
	header.e_shstrndx = header.e_shnum - 1;
	header.e_phnum = (uint16_t)frame->segment_count;
	text_add(&frame->file, (const char *)frame->sections,
		 frame->section_count * sizeof(Elf64_Shdr));
	size = frame->file.length;
	frame->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_vaddr = FRAME_ADDRESS, .p_filesz = size, .p_memsz = size,
	};
	memcpy(frame->file.data, &header, sizeof(header));
	memcpy(frame->file.data + sizeof(header), frame->segments,
	       sizeof(frame->segments));
	return (struct bytes){ (const uint8_t *)frame->file.data, size };
}

void frame_free(struct frame *frame)
{
	text_free(&frame->file);
	text_free(&frame->names);
}

struct bytes frame_part(const uint8_t **data, size_t *size)
{
	struct bytes part = { 0 };
	size_t wanted;

	if (*size < 2)
		return part;
	wanted = (*data)[0] | (size_t)(*data)[1] << 8;
	*data += 2;
	*size -= 2;
	part.data = *data;
	part.size = wanted < *size ? wanted : *size;
	*data += part.size;
	*size -= part.size;
	return part;
}

static void ask(struct image *image, uint64_t offset)
{
	struct image_name name, again;
	enum image_found how = image_find(image, offset, &name);

	MUST((how == IMAGE_NAME) == (name.name != NULL));
	if (how == IMAGE_NOTHING) {
		MUST(!name.start && !name.size && !name.plt);
		return;
	}
	/* What was found holds what was asked for; no size above 4 GB is told. */
	MUST(name.size && (offset - name.start < name.size ||
			   name.size == UINT32_MAX));
	MUST(!name.name || *name.name);
	MUST(!name.plt || strstr(name.name, "@plt"));
	/* And the same question has the same answer. */
	MUST(image_find(image, offset, &again) == how);
	MUST(again.name == name.name && again.start == name.start &&
	     again.size == name.size);
}

void frame_ask(struct image *image, size_t size)
{
	size_t step = size / 48 + 1;

	for (size_t offset = 0; offset < size; offset += step)
		ask(image, offset);
	ask(image, size);
	ask(image, UINT64_MAX);
	MUST(image_memory(image) < 256u << 20);
	image_why(image);
}
