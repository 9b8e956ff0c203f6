/* SPDX-License-Identifier: MIT */
/* A whole ELF file, in memory and, as others may cut it, on a disk. */
#include <fcntl.h>
#include <unistd.h>

#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_source source = { .path = "/nowhere/file", .root = -1 };
	struct image *image = image_open_memory((struct bytes){ data, size });

	frame_ask(image, size);
	image_close(image);
	if (!size || data[size - 1] % 8)
		return 0;
	source.fd = open(fuzz_file(data, size), O_RDONLY | O_CLOEXEC);
	MUST(source.fd >= 0);
	image = image_open(&source);
	frame_ask(image, size);
	/* Names that were not read yet are not there any more. */
	fuzz_file(data, size / 2);
	frame_ask(image, size);
	image_close(image);
	close(source.fd);
	return 0;
}
