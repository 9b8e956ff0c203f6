/* SPDX-License-Identifier: MIT */
#ifndef LIB_PACK_H
#define LIB_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/file.h"

/*
 * Writing a file in the gzip format:
 *
 *	pack_open ── pack_write, as often as needed ──> pack_close
 *
 * Errors are those of the file, told when it is closed.
 */
struct pack;

struct pack *pack_open(struct file_out *out);
void pack_write(struct pack *pack, const void *data, size_t size);

/* Writes what is left and the end, and frees. */
void pack_close(struct pack *pack);

#endif
