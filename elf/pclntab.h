/* SPDX-License-Identifier: MIT */
#ifndef ELF_PCLNTAB_H
#define ELF_PCLNTAB_H

#include "elf/file.h"

/* Go's own table of functions, which `strip` leaves in place. */
struct elf_pclntab {
	const struct elf_file *file;
	struct input table;
	int version;		/* 2, 16, 18, 20: the Go 1.x that began it */
	size_t pointer;		/* bytes of an address */
	uint64_t count, text;	/* functions; what their offsets start from */
	uint64_t names, functions;	/* where in the table they are */
	struct input_window *window;
};

/* 0, -ENOENT, or -ENOEXEC; elf_pclntab_close() is due only with success. */
int elf_pclntab_open(struct elf_pclntab *go, const struct elf_file *file);

/*
 * Function `number`: its first address, the next one's, and what
 * elf_pclntab_name() takes.  False if there is none.
 */
bool elf_pclntab_at(struct elf_pclntab *go, uint64_t number,
		    uint64_t *start, uint64_t *end, uint32_t *name);
bool elf_pclntab_name(const struct elf_pclntab *go, uint32_t name, char *text,
		      size_t size);
void elf_pclntab_close(struct elf_pclntab *go);

#endif
