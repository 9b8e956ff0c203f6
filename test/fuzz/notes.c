/* SPDX-License-Identifier: MIT */
/* Notes, and .gnu_debuglink: what leads to debug files. */
#include <fcntl.h>
#include <unistd.h>

#include "elf/notes.h"
#include "sym/debug.h"
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"

static void check(struct bytes bytes)
{
	struct input input = input_memory(bytes);
	struct elf_build_id id;
	struct elf_file file;
	const char *why;
	int fd;

	MUST(!elf_file_open(&file, &input, &why));
	MUST(elf_build_id(&file, &id) == (id.size != 0));
	MUST(id.size <= ELF_BUILD_ID_MOST);
	elf_is_go(&file);
	/* Nothing of what this machine has can be it. */
	fd = debug_open(&file, "/nowhere/file", -1);
	if (fd >= 0)
		close(fd);
	elf_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame frame;
	struct bytes note, link;

	frame_begin(&frame);
	note = frame_part(&data, &size);
	link = frame_part(&data, &size);
	frame_segment(&frame, PT_NOTE,
		      frame_add(&frame, ".note", SHT_NOTE, SHF_ALLOC, note.data,
				note.size));
	frame_add(&frame, ".gnu_debuglink", SHT_PROGBITS, 0, link.data,
		  link.size);
	frame_add(&frame, ".note.more", SHT_NOTE, 0, data, size);
	check(frame_end(&frame));
	frame_free(&frame);
	return 0;
}
