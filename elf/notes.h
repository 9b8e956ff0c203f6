/* SPDX-License-Identifier: MIT */
#ifndef ELF_NOTES_H
#define ELF_NOTES_H

#include "elf/file.h"

enum { ELF_BUILD_ID_MOST = 64 };

/* An id that a linker gave a file: 20 bytes in most. */
struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MOST];
	size_t size;			/* 0: it has none */
};

/* False, and size 0, if it has none. */
bool elf_build_id(const struct elf_file *file, struct elf_build_id *id);

/* Whether Go's linker left its note. */
bool elf_is_go(const struct elf_file *file);

#endif
