/* SPDX-License-Identifier: MIT */
/* Go's table: in its own section, or to be searched for. */
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t note[] = "\4\0\0\0\4\0\0\0\4\0\0\0Go\0\0abc";
	struct image *image;
	struct frame frame;
	struct bytes file;

	if (!size)
		return 0;
	frame_begin(&frame);
	frame_add(&frame, ".note.go.buildid", SHT_NOTE, SHF_ALLOC, note,
		  sizeof(note));
	frame_add(&frame, data[0] & 1 ? ".gopclntab" : ".rodata", SHT_PROGBITS,
		  SHF_ALLOC, data + 1, size - 1);
	file = frame_end(&frame);
	image = image_open_memory(file);
	frame_ask(image, file.size);
	image_close(image);
	frame_free(&frame);
	return 0;
}
