/* SPDX-License-Identifier: MIT */
/* .symtab or .dynsym and its texts, and .hash or .gnu.hash without sections. */
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int table, texts, hash, list;
	struct bytes symbols, names;
	struct image *image;
	struct frame frame;
	struct bytes file;
	uint8_t kind;

	if (!size)
		return 0;
	kind = *data++;
	size--;
	frame_begin(&frame);
	names = frame_part(&data, &size);
	symbols = frame_part(&data, &size);
	texts = frame_add(&frame, ".strtab", SHT_STRTAB, SHF_ALLOC, names.data,
			  names.size);
	table = frame_add(&frame, ".symtab",
			  kind & 1 ? SHT_DYNSYM : SHT_SYMTAB, SHF_ALLOC,
			  symbols.data, symbols.size);
	frame.sections[table].sh_link = texts;
	if (kind & 2) {
		hash = frame_add(&frame, ".hash", SHT_HASH, SHF_ALLOC, data,
				 size);
		const Elf64_Dyn tags[] = {
			{ DT_SYMTAB, { frame.sections[table].sh_addr } },
			{ DT_STRTAB, { frame.sections[texts].sh_addr } },
			{ DT_STRSZ, { names.size } },
			{ kind & 4 ? DT_GNU_HASH : DT_HASH,
			  { frame.sections[hash].sh_addr } },
			{ DT_NULL, { 0 } },
		};

		list = frame_add(&frame, ".dynamic", SHT_DYNAMIC, SHF_ALLOC,
				 (const uint8_t *)tags, sizeof(tags));
		frame_segment(&frame, PT_DYNAMIC, list);
		frame.sections[table].sh_type = SHT_PROGBITS;
	}
	file = frame_end(&frame);
	image = image_open_memory(file);
	frame_ask(image, file.size);
	image_close(image);
	frame_free(&frame);
	return 0;
}
