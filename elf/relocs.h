/* SPDX-License-Identifier: MIT */
#ifndef ELF_RELOCS_H
#define ELF_RELOCS_H

#include "elf/file.h"

/*
 * Relocations that name what a slot of the global offset table holds, sorted by
 * the slot's address.
 */
struct elf_relocs {
	struct elf_reloc {
		uint64_t slot;
		uint32_t symbol;	/* of .dynsym; 0: none */
		uint64_t resolver;	/* the function that is asked, then */
	} *relocs;
	size_t count, capacity;
	struct elf_reloc *plt;		/* as numbered by the PLT's stubs */
	size_t plt_count, plt_capacity;
};

void elf_relocs_open(struct elf_relocs *relocs, const struct elf_file *file);

/* NULL if nothing is known of the slot. */
const struct elf_reloc *elf_relocs_find(const struct elf_relocs *relocs,
					uint64_t slot);
void elf_relocs_close(struct elf_relocs *relocs);

/*
 * What the dynamic linker writes to `address`, before the image is moved: by a
 * "relative" relocation.  False if there is none.
 */
bool elf_relocs_relative(const struct elf_file *file, uint64_t address,
			 uint64_t *value);

#endif
