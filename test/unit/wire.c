/* SPDX-License-Identifier: MIT */
/* protobuf's wire format, both ways; and gzip files, written and read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pack.h"
#include "lib/unpack.h"
#include "lib/wire.h"
#include "test/unit/unit.h"

static const uint64_t numbers[] = {
	1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 32, INT64_MAX,
	1ull << 63, UINT64_MAX,
};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

TEST(wire_bytes_of_numbers)
{
	struct text text = { 0 };

	wire_put_number(&text, 1, 0);
	CHECK_U64(text.length, 0);
	wire_put_number(&text, 1, 300);
	CHECK(text.length == 3 && !memcmp(text.data, "\x08\xac\x02", 3));
	text.length = 0;
	wire_put_bytes(&text, 16, "ab", 2);
	CHECK(text.length == 5 && !memcmp(text.data, "\x82\x01\x02""ab", 5));
	text.length = 0;
	wire_put_varint(&text, UINT64_MAX);
	CHECK(text.length == 10 &&
	      !memcmp(text.data, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		      10));
	text_free(&text);
}

TEST(wire_comes_back)
{
	struct text text = { 0 };
	struct wire_field field;
	struct bytes rest;

	for (size_t i = 0; i < NUMBERS; i++) {
		wire_put_number(&text, (unsigned int)i + 1, numbers[i]);
		wire_put_bytes(&text, (unsigned int)i + 1, "text", i % 5);
	}
	rest = unit_fenced(text.data, text.length);
	for (size_t i = 0; i < NUMBERS; i++) {
		CHECK(wire_next(&rest, &field) == 1);
		CHECK(field.number == i + 1 && field.type == WIRE_VARINT);
		CHECK_U64(field.value, numbers[i]);
		CHECK(wire_next(&rest, &field) == 1);
		CHECK(field.number == i + 1 && field.type == WIRE_BYTES);
		CHECK_U64(field.bytes.size, i % 5);
	}
	CHECK(wire_next(&rest, &field) == 0);
	text_free(&text);
}

TEST(wire_cut_short)
{
	struct text text = { 0 };

	wire_put_number(&text, 3, UINT64_MAX);
	wire_put_bytes(&text, 2, "hello", 5);
	for (size_t size = 1; size < text.length; size++) {
		struct bytes rest = unit_fenced(text.data, size);
		struct wire_field field;
		int got, count = 0;

		while ((got = wire_next(&rest, &field)) == 1)
			count++;
		CHECK(got == (size == 11 ? 0 : -EINVAL));
		CHECK(count == (size >= 11));
	}
	text_free(&text);
}

TEST(wire_refuses)
{
	static const struct {
		const char *bytes;
		size_t size;
	} bad[] = {
		{ "\x00\x01", 2 },			/* field 0 */
		{ "\x0b\x01", 2 },			/* a group */
		{ "\x0f\x01", 2 },			/* type 7 */
		{ "\x09\1\2\3\4\5\6\7", 8 },		/* 64 bits, cut */
		{ "\x0d\1\2\3", 4 },			/* 32 bits, cut */
		{ "\x08", 1 },				/* no value */
		{ "\x0a", 1 },				/* no size */
		{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11 },
		{ "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12 },
		{ "\x88\x80\x80\x80\x80\x01\x01", 7 },	/* too large a field */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bytes rest = unit_fenced(bad[i].bytes, bad[i].size);
		const uint8_t *data = rest.data;
		struct wire_field field;

		CHECK(wire_next(&rest, &field) == -EINVAL);
		CHECK(rest.data == data && rest.size == bad[i].size);
	}
}

TEST(wire_fixed_sizes)
{
	struct bytes rest = unit_fenced("\x09\1\2\3\4\5\6\7\x88\x15\1\2\3\4",
					14);
	struct wire_field field;

	CHECK(wire_next(&rest, &field) == 1 && field.type == WIRE_64);
	CHECK_U64(field.value, 0x8807060504030201);
	CHECK(wire_next(&rest, &field) == 1 && field.type == WIRE_32);
	CHECK_U64(field.value, 0x04030201);
	CHECK(wire_next(&rest, &field) == 0);
}

/* ----------------------------------------------------------------- gzip */

#ifdef PROF_ZLIB

/* Packs in parts of `part` bytes and unpacks; returns the packed size. */
static size_t pack_round(const uint8_t *data, size_t size, size_t part)
{
	size_t packed_size, again_size;
	struct file_out out;
	struct pack *pack;
	uint8_t *again;
	char *packed;

	CHECK(!file_out_open(&out, "x.gz"));
	pack = pack_open(&out);
	for (size_t done = 0; done < size; done += part)
		pack_write(pack, data + done,
			   size - done < part ? size - done : part);
	pack_close(pack);
	CHECK(!file_out_close(&out));
	packed = unit_read("x.gz", &packed_size);
	CHECK(packed);
	CHECK(!unpack_gzip((struct bytes){ (uint8_t *)packed, packed_size },
			   size, &again, &again_size));
	CHECK_U64(again_size, size);
	CHECK(!size || !memcmp(again, data, size));
	free(again);
	free(packed);
	return packed_size;
}

TEST(pack_comes_back)
{
	static const size_t sizes[] = {
		0, 1, 2, 3, 4, 5, 257, 258, 259, 32767, 32768, 32769, 131071,
		131072, 131073, 400000,
	};
	uint8_t *data = malloc(400000);

	CHECK(data);
	for (int kind = 0; kind < 4; kind++) {
		uint32_t word = 1;

		/* All the same, words of a few, text-like, and noise. */
		for (size_t i = 0; i < 400000; i++) {
			word = word * 1664525 + 1013904223;
			data[i] = kind == 0 ? 'x' :
				  kind == 1 ? (uint8_t)(i / 7 % 5 + i % 300) :
				  kind == 2 ? (uint8_t)(word >> 30) :
				  (uint8_t)(word >> 24);
		}
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			pack_round(data, sizes[i], i % 2 ? 1000 : 100000);
	}
	free(data);
}

TEST(pack_saves_room)
{
	static uint8_t data[100000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i % 1000 * 7919 >> 3);
	CHECK(pack_round(data, sizeof(data), sizeof(data)) <
	      sizeof(data) / 10);
}

/* ----------------------------------------------------------- reading gzip */

static const uint8_t gzip_text[] = {
	/* FTEXT, FHCRC, FEXTRA, FNAME, FCOMMENT; a stored block "hi". */
	0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3, 2, 0, 'x', 'y', 'n', 0, 'c', 0,
	0xaa, 0xbb, 1, 2, 0, 0xfd, 0xff, 'h', 'i',
	0xac, 0x2a, 0x93, 0xd8, 2, 0, 0, 0,
};

static int gunzip(const uint8_t *data, size_t size, size_t most,
		  const char *want)
{
	struct bytes in = unit_fenced((const char *)data, size);
	size_t out_size;
	uint8_t *out;
	int error = unpack_gzip(in, most, &out, &out_size);

	CHECK(!error == (out != NULL));
	if (!error)
		CHECK(out_size == strlen(want) &&
		      !memcmp(out, want, out_size));
	free(out);
	return error;
}

TEST(gzip_heads_and_members)
{
	uint8_t two[2 * sizeof(gzip_text) + 3];

	CHECK(!gunzip(gzip_text, sizeof(gzip_text), 2, "hi"));
	CHECK(gunzip(gzip_text, sizeof(gzip_text), 1, "") == -EFBIG);
	memcpy(two, gzip_text, sizeof(gzip_text));
	memcpy(two + sizeof(gzip_text), gzip_text, sizeof(gzip_text));
	memset(two + 2 * sizeof(gzip_text), 0, 3);
	CHECK(!gunzip(two, sizeof(two), 4, "hihi"));
	CHECK(gunzip(two, sizeof(two), 3, "") == -EFBIG);
	CHECK(gunzip(two, sizeof(two) - 4, 9, "") == -EINVAL);
}

TEST(gzip_damaged)
{
	for (size_t size = 0; size < sizeof(gzip_text); size++)
		CHECK(gunzip(gzip_text, size, 9, "") == -EINVAL);
	/* Time, system, extra, its own names and their sum tell nothing. */
	for (size_t i = 0; i < sizeof(gzip_text); i++) {
		uint8_t copy[sizeof(gzip_text)];

		memcpy(copy, gzip_text, sizeof(copy));
		copy[i] ^= 0x80;
		if (i < 4 || i >= 21 || i == 11)
			CHECK(gunzip(copy, sizeof(copy), 9, "hi"));
	}
}

#endif
