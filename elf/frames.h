/* SPDX-License-Identifier: MIT */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H

#include "elf/file.h"
#include "lib/wanted.h"

/*
 * Where functions begin and end, by the unwind table (.eh_frame), which stripped
 * files keep.
 */
struct elf_frames {
	const struct elf_file *file;
	struct elf_frame {
		uint64_t start;
		uint64_t entry;		/* the address of its FDE */
	} *frames;
	size_t count, capacity;
	uint64_t base;			/* of "datarel" numbers */
	struct input_window *windows;	/* on FDEs and on their CIEs */
	struct wanted *wanted;		/* while it is read; NULL: all */
	bool part;			/* only what was wanted */
};

/*
 * Empty if the file has none that can be read.  With `wanted`, not NULL, of a large
 * table only what elf_frames_find() tells of these addresses.
 */
void elf_frames_open(struct elf_frames *frames, const struct elf_file *file,
		     struct wanted *wanted);

/*
 * The last function that begins at or below the address: where it begins and
 * ends (which may be below the address, too).  False if there is none.
 */
bool elf_frames_find(struct elf_frames *frames, uint64_t address,
		     uint64_t *start, uint64_t *end);
void elf_frames_close(struct elf_frames *frames);

#endif
