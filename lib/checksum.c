/* SPDX-License-Identifier: MIT */
/*
 * checksum: what files say of themselves to tell damage.
 *
 * A CRC is the remainder of a division of polynomials over bits.  table[0]
 * holds what a byte leaves, table[n] what it leaves n bytes on, so that eight
 * bytes take eight look-ups that do not wait for each other.  The registers are
 * reflected (the lowest bit is the highest power), so the same code serves 32
 * and 64 bits.
 *
 * Tables are made when first asked for: in the file they would take 32 KB, in
 * memory they take nothing until then.  liblzma has such tables in its file, too;
 * as its functions for them are public, the linker takes those here instead.
 */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#ifdef PROF_LZMA
#include <lzma.h>
#endif

#include "lib/checksum.h"

struct crc {
	uint64_t polynomial;	/* reflected, without its highest power */
	uint64_t (*table)[256];	/* of eight; all 0 at first */
};

static uint64_t crc32_table[8][256], crc64_table[8][256];
static const struct crc crc32_ieee = { 0xedb88320, crc32_table };
static const struct crc crc64_ecma = { 0xc96c5795d7870f42, crc64_table };

static void crc_fill(const struct crc *crc)
{
	for (unsigned int byte = 0; byte < 256; byte++) {
		uint64_t rest = byte;

		for (int bit = 0; bit < 8; bit++)
			rest = rest >> 1 ^ (rest & 1 ? crc->polynomial : 0);
		crc->table[0][byte] = rest;
	}
	for (int n = 1; n < 8; n++)
		for (unsigned int byte = 0; byte < 256; byte++) {
			uint64_t rest = crc->table[n - 1][byte];

			crc->table[n][byte] = rest >> 8 ^
					      crc->table[0][rest & 0xff];
		}
}

static uint64_t crc_add(const struct crc *crc, uint64_t rest,
			struct bytes bytes)
{
	const uint8_t *p = bytes.data;
	size_t left = bytes.size;

	if (!crc->table[0][1])
		crc_fill(crc);
	for (; left >= 8; left -= 8, p += 8) {
		uint64_t next;

		memcpy(&next, p, sizeof(next));
		next = le64toh(next) ^ rest;
		rest = 0;
		for (int i = 0; i < 8; i++)
			rest ^= crc->table[7 - i][next >> 8 * i & 0xff];
	}
	for (; left; left--, p++)
		rest = rest >> 8 ^ crc->table[0][(rest ^ *p) & 0xff];
	return rest;
}

uint32_t checksum_crc32(uint32_t before, struct bytes bytes)
{
	return ~(uint32_t)crc_add(&crc32_ieee, ~before, bytes);
}

uint64_t checksum_crc64(uint64_t before, struct bytes bytes)
{
	return ~crc_add(&crc64_ecma, ~before, bytes);
}

uint32_t checksum_adler32(uint32_t before, struct bytes bytes)
{
	enum {
		PRIME = 65521,
		ROUND = 5552,	/* the most before `b` could wrap */
	};
	uint32_t a = before & 0xffff, b = before >> 16;

	while (bytes.size) {
		size_t part = bytes.size < ROUND ? bytes.size : ROUND;

		for (size_t i = 0; i < part; i++) {
			a += bytes.data[i];
			b += a;
		}
		a %= PRIME;
		b %= PRIME;
		bytes.data += part;
		bytes.size -= part;
	}
	return b << 16 | a;
}

#ifdef PROF_LZMA

uint32_t lzma_crc32(const uint8_t *data, size_t size, uint32_t before)
{
	return checksum_crc32(before, (struct bytes){ data, size });
}

uint64_t lzma_crc64(const uint8_t *data, size_t size, uint64_t before)
{
	return checksum_crc64(before, (struct bytes){ data, size });
}

#endif
