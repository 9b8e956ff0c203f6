/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "elf/file.h"

/*
 * The rows of a file's tables, in order of their pc, each up to the next one's.
 *
 * Addresses in them count from the file's lowest one (cfi_base()), so that 32 bits
 * are enough.
 */
typedef bool cfi_add(void *context, const struct unwind_row *row);

/*
 * Gives all rows to `add`, until that returns false.  How many there were; 0 if
 * the file has no table, or one that cannot be read, or is for another CPU.
 * The file is anybody's: what is broken in it costs the rows of one function.
 */
size_t cfi_rows(const struct elf_file *file, cfi_add *add, void *context);

/* The lowest address that the file is loaded at. */
uint64_t cfi_base(const struct elf_file *file);

#endif
