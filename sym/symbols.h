/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMBOLS_H
#define SYM_SYMBOLS_H

#include "elf/symtab.h"
#include "sym/table.h"

/*
 * Adds the functions among the symbols; `texts` is the number under which their
 * names are found later.  How many were added.
 */
size_t symbols_add(struct table *table, struct elf_symtab *symtab,
		   uint8_t texts);

#endif
