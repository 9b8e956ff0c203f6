/* SPDX-License-Identifier: MIT */
#ifndef SYM_DEBUG_H
#define SYM_DEBUG_H

#include "elf/file.h"

/*
 * Finds the file with the symbols that were split off another one, by build-id
 * and by .gnu_debuglink, and proves that it is the one: its descriptor, or
 * -errno.  `path` is where the other one lies below `root` (O_PATH, or -1:
 * ours); root is tried first, then our own.
 */
int debug_open(const struct elf_file *file, const char *path, int root);

#endif
