/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMBOLS_H
#define SYM_SYMBOLS_H

#include "elf/symtab.h"
#include "lib/wanted.h"
#include "sym/table.h"

/* A table of no more entries than these is read whole. */
enum { SYMBOLS_FEW = 4096 };

/*
 * Adds the functions among the symbols; `texts` is the number under which their
 * names are found later.  How many there are.
 *
 * With `wanted` only those are added of a large table that can make a difference
 * at these addresses, and *whole becomes false.  What has no size may then seem to
 * reach further than it does, but not over one of them.
 */
size_t symbols_add(struct table *table, struct elf_symtab *symtab,
		   uint8_t texts, struct wanted *wanted, bool *whole);

#endif
