/* SPDX-License-Identifier: MIT */
#ifndef LIB_UNPACK_H
#define LIB_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bytes.h"

/*
 * Unpacks `in`, of which the first stream counts and what follows it does not.
 * 0: *out is the caller's to free(), *size bytes long, and never NULL.
 * Otherwise *out is NULL, and it is
 *
 *	-ENOTSUP	built without the library
 *	-EINVAL		damaged, cut short, or another format
 *	-EFBIG		more than `most` bytes: given up there
 *	-ENOMEM		the decoder wants more memory than UNPACK_MEMORY
 *
 * Memory grows with what really comes out, so a short bomb costs its `most` at
 * worst.  `in` is read along the way: it has to stay readable until the end (of
 * a mapped file that others can shorten, give a copy).
 */
int unpack_zlib(struct bytes in, size_t most, uint8_t **out, size_t *size);
int unpack_xz(struct bytes in, size_t most, uint8_t **out, size_t *size);

/* The same for all members of a gzip file, one after the other. */
int unpack_gzip(struct bytes in, size_t most, uint8_t **out, size_t *size);

/* xz -9 wants 65 MiB; a decoder touches no more of it than comes out. */
#define UNPACK_MEMORY (80u << 20)

#endif
