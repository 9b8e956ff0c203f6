/* SPDX-License-Identifier: MIT */
#ifndef LIB_CHECKSUM_H
#define LIB_CHECKSUM_H

#include <stdint.h>

#include "lib/bytes.h"

/*
 * Each takes what it returned for the bytes before (first: 0, for Adler-32 1),
 * so that a file can be summed up piece by piece.
 */

/* ISO 3309, as in .gnu_debuglink, gzip and xz. */
uint32_t checksum_crc32(uint32_t before, struct bytes bytes);

/* ECMA-182, as in xz. */
uint64_t checksum_crc64(uint64_t before, struct bytes bytes);

/* RFC 1950, as in zlib. */
uint32_t checksum_adler32(uint32_t before, struct bytes bytes);

#endif
