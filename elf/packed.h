/* SPDX-License-Identifier: MIT */
#ifndef ELF_PACKED_H
#define ELF_PACKED_H

#include "elf/file.h"

/*
 * The bytes of a section, unpacked if they are compressed: 0 and *input, which
 * lies in *memory then (free() it; else NULL); or -ENOEXEC, -ENOTSUP (zstd, or
 * built without zlib), -EFBIG (more than `most` bytes).
 */
int elf_packed_open(const struct elf_file *file,
		    const struct elf_file_section *section, uint64_t most,
		    struct input *input, uint8_t **memory);

#endif
