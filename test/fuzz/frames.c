/* SPDX-License-Identifier: MIT */
/* .eh_frame, .eh_frame_hdr, stubs and their relocations. */
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t runs = SHF_ALLOC | SHF_EXECINSTR;
	struct bytes unwind, header, stubs, relocs;
	struct image *image;
	struct frame frame;
	struct bytes file;
	unsigned int added;

	unwind = frame_part(&data, &size);
	header = frame_part(&data, &size);
	stubs = frame_part(&data, &size);
	relocs = frame_part(&data, &size);
	frame_begin(&frame);
	frame_add(&frame, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, unwind.data,
		  unwind.size);
	added = frame_add(&frame, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC,
			  header.data, header.size);
	if (header.size)
		frame_segment(&frame, PT_GNU_EH_FRAME, added);
	frame_add(&frame, ".plt", SHT_PROGBITS, runs, stubs.data, stubs.size);
	frame_add(&frame, ".rela.plt", SHT_RELA, SHF_ALLOC, relocs.data,
		  relocs.size);
	added = frame_add(&frame, ".dynstr", SHT_STRTAB, SHF_ALLOC,
			  (const uint8_t *)"\0puts\0exit", 11);
	frame.sections[frame_add(&frame, ".dynsym", SHT_DYNSYM, SHF_ALLOC, data,
				 size)].sh_link = added;
	file = frame_end(&frame);
	image = image_open_memory(file);
	frame_ask(image, file.size);
	image_close(image);
	frame_free(&frame);
	return 0;
}
