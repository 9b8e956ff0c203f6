/* SPDX-License-Identifier: MIT */
/*
 * Checksums and compressed sections.  Streams of deflate are written here by
 * hand, of RFC 1951's stored and fixed blocks; those of xz are its own program's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/checksum.h"
#include "lib/unpack.h"
#include "test/unit/unit.h"

/* "to be or not to be, that is the question: ", fifty times; 1 MiB of zeroes. */
#ifdef PROF_ZLIB

static const uint8_t zlib_text[] = {
	0x78, 0xda, 0xed, 0xca, 0xd1, 0x0d, 0x00, 0x10, 0x14, 0x43, 0xd1, 0x55,
	0x3a, 0x80, 0x09, 0x6c, 0x43, 0xf2, 0x12, 0x7e, 0xbc, 0xa0, 0xf6, 0x47,
	0x8c, 0xa1, 0x5f, 0xcd, 0x4d, 0x0f, 0x1d, 0xd9, 0xe0, 0x03, 0xcd, 0x09,
	0xde, 0x08, 0x60, 0x49, 0x44, 0x9d, 0x67, 0x0d, 0x7d, 0xd9, 0x64, 0xf5,
	0x16, 0xdf, 0x29, 0x29, 0x29, 0x29, 0x29, 0x29, 0x29, 0xf9, 0xa9, 0xdc,
	0xd8, 0xb5, 0xd2, 0x63,
};

#endif
#ifdef PROF_LZMA

static const uint8_t xz_text[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3,
	0xe0, 0x08, 0x33, 0x00, 0x37, 0x5d, 0x00, 0x3a, 0x1b, 0xc0, 0x05, 0x21,
	0xe5, 0x0a, 0x4d, 0x8c, 0x92, 0x8b, 0x5e, 0xc3, 0x66, 0x40, 0xd7, 0x1d,
	0xbc, 0x6f, 0xc9, 0xad, 0x1c, 0xc6, 0x9e, 0xb5, 0x6f, 0xec, 0x7e, 0x41,
	0xc5, 0xca, 0x91, 0x32, 0x62, 0x84, 0xc3, 0x34, 0xeb, 0xc2, 0x6a, 0x5a,
	0xb5, 0x33, 0x08, 0x39, 0x7f, 0x08, 0x97, 0xec, 0x9c, 0xed, 0x5e, 0x28,
	0xb1, 0x00, 0x00, 0x00, 0x81, 0x8d, 0xda, 0xc5, 0x7a, 0xb2, 0xef, 0x75,
	0x00, 0x01, 0x53, 0xb4, 0x10, 0x00, 0x00, 0x00, 0xcf, 0x57, 0x11, 0xfc,
	0xb1, 0xc4, 0x67, 0xfb, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};

static const uint8_t xz_x86_crc32[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36,
	0x02, 0x01, 0x04, 0x00, 0x21, 0x01, 0x16, 0x00, 0x0d, 0x86, 0x35, 0x1f,
	0xe0, 0x08, 0x33, 0x00, 0x37, 0x5d, 0x00, 0x3a, 0x1b, 0xc0, 0x05, 0x21,
	0xe5, 0x0a, 0x4d, 0x8c, 0x92, 0x8b, 0x5e, 0xc3, 0x66, 0x40, 0xd7, 0x1d,
	0xbc, 0x6f, 0xc9, 0xad, 0x1c, 0xc6, 0x9e, 0xb5, 0x6f, 0xec, 0x7e, 0x41,
	0xc5, 0xca, 0x91, 0x32, 0x62, 0x84, 0xc3, 0x34, 0xeb, 0xc2, 0x6a, 0x5a,
	0xb5, 0x33, 0x08, 0x39, 0x7f, 0x08, 0x97, 0xec, 0x9c, 0xed, 0x5e, 0x28,
	0xb1, 0x00, 0x00, 0x00, 0x16, 0xc3, 0xd9, 0xf9, 0x00, 0x01, 0x4f, 0xb4,
	0x10, 0x00, 0x00, 0x00, 0x2f, 0x95, 0x05, 0x88, 0x3e, 0x30, 0x0d, 0x8b,
	0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
};

static const uint8_t xz_bomb[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3,
	0xef, 0xff, 0xff, 0x00, 0xd9, 0x5d, 0x00, 0x00, 0x6f, 0xfd, 0xff, 0xff,
	0xa3, 0xb7, 0xff, 0x47, 0x3e, 0x48, 0x15, 0x72, 0x39, 0x61, 0x51, 0xb8,
	0x92, 0x28, 0xe6, 0xa3, 0x86, 0x07, 0xf9, 0xee, 0xe4, 0x1e, 0x82, 0xd3,
	0x2f, 0xc5, 0x3a, 0x3c, 0x01, 0x4b, 0xb1, 0x7e, 0xc9, 0x8a, 0x8a, 0x4d,
	0x2f, 0xa3, 0x0d, 0xd9, 0x7f, 0xa6, 0xe3, 0x8c, 0x23, 0x11, 0x53, 0xe0,
	0x59, 0x18, 0xc5, 0x75, 0x8a, 0xe2, 0x77, 0xf8, 0xb6, 0x94, 0x7f, 0x0c,
	0x6a, 0xc0, 0xde, 0x74, 0x49, 0x64, 0xe2, 0xe9, 0x5c, 0x53, 0xb2, 0x04,
	0xd8, 0xf7, 0x44, 0x0c, 0xab, 0x5f, 0x0d, 0x6d, 0x46, 0xe9, 0xe5, 0xc3,
	0x76, 0x88, 0xb7, 0x96, 0x57, 0xac, 0xb6, 0x4d, 0xe1, 0x69, 0x1d, 0x6f,
	0xfb, 0x4b, 0x88, 0x10, 0x6c, 0x42, 0xcb, 0x88, 0x3f, 0x5c, 0x00, 0x8f,
	0xd0, 0x4e, 0xaf, 0x26, 0x28, 0x94, 0x71, 0x1f, 0x3d, 0x8f, 0x24, 0xe1,
	0x70, 0x9e, 0xa7, 0x23, 0x5f, 0xec, 0x28, 0xcb, 0x85, 0xd1, 0x95, 0x98,
	0x8a, 0x7e, 0x2a, 0x91, 0xf2, 0x27, 0x75, 0xf7, 0x19, 0xc0, 0x06, 0x98,
	0x4d, 0x98, 0xfd, 0xd8, 0xaf, 0xd5, 0x90, 0x0f, 0xc4, 0x25, 0x53, 0xf8,
	0xf5, 0x91, 0x36, 0x31, 0x05, 0xa5, 0xb0, 0xee, 0x6f, 0xc1, 0x70, 0x4d,
	0x47, 0x0c, 0xd1, 0x91, 0x11, 0xaa, 0xad, 0x60, 0x1d, 0xba, 0xce, 0xb1,
	0x27, 0x18, 0x5c, 0x59, 0x86, 0xe9, 0x66, 0x52, 0x58, 0xbe, 0xe9, 0x76,
	0xac, 0x59, 0xe4, 0xe5, 0x5b, 0x05, 0x08, 0xf9, 0xc7, 0xda, 0xad, 0xfc,
	0xfb, 0x52, 0x2a, 0xf7, 0xe4, 0x95, 0x25, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xc2, 0xf6, 0xba, 0x3e, 0xa2, 0x70, 0x6b, 0x60, 0x00, 0x01, 0xf5, 0x01,
	0x80, 0x80, 0x40, 0x00, 0x79, 0x97, 0x7f, 0x47, 0xb1, 0xc4, 0x67, 0xfb,
	0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};

static const uint8_t xz_empty[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x00, 0x00, 0x00, 0x00, 0x1c, 0xdf, 0x44, 0x21, 0x1f, 0xb6, 0xf3, 0x7d,
	0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};

#endif
#if defined(PROF_ZLIB) || defined(PROF_LZMA)

static const char question[] = "to be or not to be, that is the question: ";

typedef int unpack_fn(struct bytes in, size_t most, uint8_t **out,
		      size_t *size);

static void check_question(unpack_fn *unpack, struct bytes in)
{
	size_t length = strlen(question), size;
	uint8_t *out;

	CHECK_U64(-unpack(in, 50 * length, &out, &size), 0);
	CHECK_U64(size, 50 * length);
	for (size_t i = 0; i < 50; i++)
		CHECK(!memcmp(out + i * length, question, length));
	free(out);
}

/* Refused, with nothing to free. */
static void check_error(unpack_fn *unpack, struct bytes in, size_t most,
			int error)
{
	size_t size = 77;
	uint8_t *out = (uint8_t *)&size;

	CHECK_U64(-unpack(in, most, &out, &size), (uint64_t)error);
	CHECK(!out && !size);
}

#endif

/* ------------------------------------------------------------ checksums */

/* The check values of the catalogues: of "123456789". */
TEST(checksum_values)
{
	struct bytes nine = unit_fenced("123456789", 9);

	CHECK_U64(checksum_crc32(0, nine), 0xcbf43926);
	CHECK_U64(checksum_crc64(0, nine), 0x995dc9bbdf1939fa);
	CHECK_U64(checksum_adler32(1, nine), 0x091e01de);
	CHECK_U64(checksum_crc32(0, (struct bytes){ 0 }), 0);
	CHECK_U64(checksum_crc64(0, (struct bytes){ 0 }), 0);
	CHECK_U64(checksum_adler32(1, (struct bytes){ 0 }), 1);
}

/* The same in one piece, in two, and bit by bit. */
TEST(checksum_pieces)
{
	uint8_t data[70];
	uint64_t state = 3;
	uint32_t slow = UINT32_MAX, crc, adler;
	uint64_t crc64;
	struct bytes all = { data, sizeof(data) };

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)unit_random(&state);
	for (size_t i = 0; i < 8 * sizeof(data); i++) {
		slow ^= data[i / 8] >> i % 8 & 1;
		slow = slow >> 1 ^ (slow & 1 ? 0xedb88320 : 0);
	}
	crc = checksum_crc32(0, all);
	crc64 = checksum_crc64(0, all);
	adler = checksum_adler32(1, all);
	CHECK_U64(crc, (uint32_t)~slow);
	for (size_t cut = 0; cut <= sizeof(data); cut++) {
		struct bytes a = { data, cut };
		struct bytes b = { data + cut, sizeof(data) - cut };

		CHECK_U64(checksum_crc32(checksum_crc32(0, a), b), crc);
		CHECK_U64(checksum_crc64(checksum_crc64(0, a), b), crc64);
		CHECK_U64(checksum_adler32(checksum_adler32(1, a), b), adler);
	}
}

/* Adler's sums do not wrap: all 255, as many as can be. */
TEST(checksum_adler_wraps)
{
	size_t size = 1 << 20;
	uint8_t *data = malloc(size);
	uint64_t a = 1, b = 0;

	CHECK(data);
	memset(data, 255, size);
	for (size_t i = 0; i < size; i++) {
		a = (a + 255) % 65521;
		b = (b + a) % 65521;
	}
	CHECK_U64(checksum_adler32(1, (struct bytes){ data, size }),
		  b << 16 | a);
	free(data);
}

/* ----------------------------------------------------------------- zlib */

#ifdef PROF_ZLIB

/* Deflate's bits, lowest first. */
struct deflate {
	uint8_t data[70000];
	size_t bits;
};

static void put(struct deflate *deflate, uint32_t value, int bits)
{
	for (int i = 0; i < bits; i++, deflate->bits++)
		if (value >> i & 1)
			deflate->data[deflate->bits / 8] |=
				(uint8_t)(1 << deflate->bits % 8);
}

/* Huffman codes come highest bit first. */
static void put_code(struct deflate *deflate, uint32_t code, int bits)
{
	while (bits--)
		put(deflate, code >> bits, 1);
}

static void put_sum(struct deflate *deflate, uint32_t sum)
{
	deflate->bits = (deflate->bits + 7) / 8 * 8;
	for (int i = 24; i >= 0; i -= 8)
		put(deflate, sum >> i & 0xff, 8);
}

static struct bytes deflate_bytes(const struct deflate *deflate)
{
	return unit_fenced(deflate->data, (deflate->bits + 7) / 8);
}

/* One zero, then `count` times 258 more: 13 bits each. */
static void put_zeroes(struct deflate *deflate, size_t count)
{
	put(deflate, 0x0178, 16);
	put(deflate, 1 | 1 << 1, 3);		/* last block, fixed codes */
	put_code(deflate, 0x30, 8);		/* the byte 0 */
	while (count--) {
		put_code(deflate, 0xc5, 8);	/* 258 bytes... */
		put_code(deflate, 0, 5);	/* from one byte ago */
	}
	put_code(deflate, 0, 7);		/* the end */
}

TEST(unpack_zlib_text)
{
	check_question(unpack_zlib, unit_fenced(zlib_text, sizeof(zlib_text)));
}

TEST(unpack_zlib_cut_anywhere)
{
	for (size_t i = 0; i < sizeof(zlib_text); i++)
		check_error(unpack_zlib, unit_fenced(zlib_text, i), 9999,
			    EINVAL);
}

/* A changed byte is seen, wherever it is. */
TEST(unpack_zlib_damaged)
{
	uint8_t copy[sizeof(zlib_text)];

	for (size_t i = 0; i < sizeof(copy); i++) {
		uint8_t *out;
		size_t size;
		int error;

		memcpy(copy, zlib_text, sizeof(copy));
		copy[i] ^= 0x41;
		error = unpack_zlib(unit_fenced(copy, sizeof(copy)), 99999,
				    &out, &size);
		CHECK((error == -EINVAL || error == -EFBIG) && !out);
	}
}

TEST(unpack_zlib_what_follows)
{
	uint8_t longer[sizeof(zlib_text) + 9];

	memset(longer, 0x55, sizeof(longer));
	memcpy(longer, zlib_text, sizeof(zlib_text));
	check_question(unpack_zlib, unit_fenced(longer, sizeof(longer)));
}

TEST(unpack_zlib_other_formats)
{
	check_error(unpack_zlib, (struct bytes){ 0 }, 99, EINVAL);
	check_error(unpack_zlib, unit_fenced("\x1f\x8b\x08\0", 4), 99, EINVAL);
	/* Asks for a dictionary; window of 64 KB; another method; no sum. */
	check_error(unpack_zlib, unit_fenced("\x78\x20\0\0\0\0\1", 7), 99,
		    EINVAL);
	check_error(unpack_zlib, unit_fenced("\x88\x1c\0\0\0\0\1", 7), 99,
		    EINVAL);
	check_error(unpack_zlib, unit_fenced("\x77\x09\0\0\0\0\1", 7), 99,
		    EINVAL);
	check_error(unpack_zlib, unit_fenced("\x78\x02\0\0\0\0\1", 7), 99,
		    EINVAL);
}

TEST(unpack_zlib_empty)
{
	static struct deflate deflate;
	uint8_t *out;
	size_t size;

	put(&deflate, 0x0178, 16);
	put(&deflate, 1 | 1 << 1, 3);
	put_code(&deflate, 0, 7);
	put_sum(&deflate, 1);
	CHECK(!unpack_zlib(deflate_bytes(&deflate), 0, &out, &size));
	CHECK(out && !size);
	free(out);
}

/* 13 MB out of 80 KB; one byte less is too few. */
TEST(unpack_zlib_long)
{
	static struct deflate deflate;
	size_t count = 40000, want = 1 + 258 * count, size;
	uint8_t *out;

	put_zeroes(&deflate, count);
	/* a stays 1, so b is the number of bytes. */
	put_sum(&deflate, (uint32_t)(want % 65521) << 16 | 1);
	CHECK(!unpack_zlib(deflate_bytes(&deflate), want, &out, &size));
	CHECK_U64(size, want);
	for (size_t i = 0; i < size; i++)
		CHECK(!out[i]);
	free(out);
	check_error(unpack_zlib, deflate_bytes(&deflate), want - 1, EFBIG);
	check_error(unpack_zlib, deflate_bytes(&deflate), 0, EFBIG);
}

#endif

/* ------------------------------------------------------------------- xz */

#ifdef PROF_LZMA

TEST(unpack_xz_text)
{
	check_question(unpack_xz, unit_fenced(xz_text, sizeof(xz_text)));
	check_question(unpack_xz, unit_fenced(xz_x86_crc32,
					      sizeof(xz_x86_crc32)));
}

TEST(unpack_xz_cut_anywhere)
{
	for (size_t i = 0; i < sizeof(xz_text); i++)
		check_error(unpack_xz, unit_fenced(xz_text, i), 9999, EINVAL);
}

TEST(unpack_xz_damaged)
{
	uint8_t copy[sizeof(xz_text)];

	for (size_t i = 0; i < sizeof(copy); i++) {
		uint8_t *out;
		size_t size;

		memcpy(copy, xz_text, sizeof(copy));
		copy[i] ^= 0x41;
		CHECK(unpack_xz(unit_fenced(copy, sizeof(copy)), 99999, &out,
				&size) && !out);
	}
}

TEST(unpack_xz_what_follows)
{
	uint8_t longer[sizeof(xz_text) + 9];

	memset(longer, 0x55, sizeof(longer));
	memcpy(longer, xz_text, sizeof(xz_text));
	check_question(unpack_xz, unit_fenced(longer, sizeof(longer)));
}

TEST(unpack_xz_empty)
{
	uint8_t *out;
	size_t size;

	CHECK(!unpack_xz(unit_fenced(xz_empty, sizeof(xz_empty)), 0, &out,
			 &size));
	CHECK(out && !size);
	free(out);
	check_error(unpack_xz, (struct bytes){ 0 }, 99, EINVAL);
}

TEST(unpack_xz_bomb)
{
	struct bytes bomb = unit_fenced(xz_bomb, sizeof(xz_bomb));
	uint8_t *out;
	size_t size;

	CHECK(!unpack_xz(bomb, 1 << 20, &out, &size));
	CHECK_U64(size, 1 << 20);
	free(out);
	check_error(unpack_xz, bomb, (1 << 20) - 1, EFBIG);
	check_error(unpack_xz, bomb, 1000, EFBIG);
	check_error(unpack_xz, bomb, 0, EFBIG);
	CHECK(!unpack_xz(bomb, SIZE_MAX, &out, &size));
	free(out);
}

/*
 * The header of a block says how large its dictionary is: byte 16, from 0
 * (4 KiB) to 40 (4 GiB).  Its own CRC is in bytes 20 to 23.
 */
TEST(unpack_xz_dictionary)
{
	uint8_t copy[sizeof(xz_text)];
	uint32_t crc;

	memcpy(copy, xz_text, sizeof(copy));
	CHECK(copy[14] == 0x21 && copy[15] == 1 && copy[16] == 22);
	copy[16] = 40;
	crc = checksum_crc32(0, (struct bytes){ copy + 12, 8 });
	for (int i = 0; i < 4; i++)
		copy[20 + i] = (uint8_t)(crc >> 8 * i);
	check_error(unpack_xz, unit_fenced(copy, sizeof(copy)), 9999, ENOMEM);
}

#endif
