/* SPDX-License-Identifier: MIT */
#ifndef SYM_PLT_H
#define SYM_PLT_H

#include "elf/relocs.h"

enum { PLT_SECTIONS = 8 };

/* The stubs through which a file calls others (x86, arm64). */
struct plt {
	const struct elf_file *file;
	struct elf_relocs relocs;
	uint64_t got;		/* what i386's %ebx points to */
	const struct elf_file_section *sections[PLT_SECTIONS];
	size_t section_count;
	bool opened;
};

/* A stub and what it leads to: a symbol of .dynsym, or a resolver's address. */
struct plt_stub {
	uint64_t start, size;
	uint32_t symbol;
	uint64_t resolver;
};

/* Nothing is read yet. */
void plt_open(struct plt *plt, const struct elf_file *file);

/*
 * The stub at the address; false if there is none, or what it leads to cannot be
 * told (stub->size is 0, or not).  `anywhere`: also where no section says so.
 */
bool plt_find(struct plt *plt, uint64_t address, bool anywhere,
	      struct plt_stub *stub);
void plt_close(struct plt *plt);

#endif
