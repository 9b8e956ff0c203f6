/* SPDX-License-Identifier: MIT */
/*
 * unpack: compressed sections and files, by the distribution's libraries.
 *
 *	zlib (RFC 1950)                xz (its file format, 1.2.0)
 *
 *	CMF FLG  deflate...  ADLER32   fd 37 7a 58 5a 00 flags  blocks  index
 *	 |   |    RFC 1951   of what                            footer
 *	 |   checks CMF; bit 5:        came out, big-endian
 *	 |   dictionary
 *	low four bits 8, high four at most 7
 *
 *	gzip (RFC 1952): members, each
 *
 *	1f 8b 08 flags time(4) extra system, texts that the flags name,
 *	deflate..., CRC-32 and size of what came out, little-endian
 *
 * zlib's inflateBack() knows nothing of the frame around deflate, and is a third
 * of the size of inflate().
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROF_LZMA
#include <lzma.h>
#endif
#ifdef PROF_ZLIB
#include <zlib.h>
#endif

#include "lib/checksum.h"
#include "lib/memory.h"
#include "lib/unpack.h"

#if defined(PROF_ZLIB) || defined(PROF_LZMA)

struct output {
	uint8_t *data;
	size_t size, capacity, most;
};

/* Hands over what is there, or drops it. */
static int output_give(struct output *output, int error, uint8_t **out,
		       size_t *size)
{
	if (error) {
		free(output->data);
		return error;
	}
	*out = output->data ? output->data : memory_new(1, 1);
	*size = output->size;
	return 0;
}

#endif

/* ----------------------------------------------------------------- zlib */

#ifdef PROF_ZLIB

enum { ZLIB_WINDOW = 1 << 15 };

/* zlib counts in 32 bits. */
static unsigned int zlib_in(void *context, unsigned char **data)
{
	struct bytes *rest = context;
	size_t part = rest->size < INT_MAX ? rest->size : INT_MAX;

	*data = (unsigned char *)rest->data;
	if (part)
		rest->data += part;
	rest->size -= part;
	return (unsigned int)part;
}

static int zlib_out(void *context, unsigned char *data, unsigned int size)
{
	struct output *output = context;

	if (size > output->most - output->size)
		return -1;
	output->data = memory_grow(output->data, &output->capacity,
				   output->size + size, 1);
	memcpy(output->data + output->size, data, size);
	output->size += size;
	return 0;
}

/* Inflates *in, and moves it behind the last byte that belonged to it. */
static int zlib_inflate(struct bytes *in, struct output *output)
{
	uint8_t *window = memory_new(ZLIB_WINDOW, 1);
	z_stream stream = { 0 };
	int result, error;

	if (inflateBackInit(&stream, 15, window) != Z_OK) {
		free(window);
		return -ENOMEM;
	}
	result = inflateBack(&stream, zlib_in, in, zlib_out, output);
	if (result == Z_STREAM_END)
		error = 0;
	else if (result == Z_BUF_ERROR && stream.next_in)
		error = -EFBIG;		/* zlib_out() refused */
	else
		error = -EINVAL;
	inflateBackEnd(&stream);
	free(window);
	in->size += stream.avail_in;
	in->data = stream.next_in;
	return !error && !in->data ? -EINVAL : error;
}

/* *in begins with the sum of what came out. */
static bool zlib_sum_fits(struct bytes in, const struct output *output)
{
	struct bytes whole = { output->data, output->size };
	uint8_t sum[4];

	return bytes_copy(in, 0, sum, sizeof(sum)) &&
	       checksum_adler32(1, whole) ==
	       ((uint32_t)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]);
}

int unpack_zlib(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	struct output output = { .most = most };
	uint8_t head[2];
	int error;

	*out = NULL;
	*size = 0;
	if (!bytes_copy(in, 0, head, sizeof(head)) || (head[0] & 15) != 8 ||
	    head[0] >> 4 > 7 || head[1] & 0x20 ||
	    (head[0] << 8 | head[1]) % 31)
		return -EINVAL;
	in.data += sizeof(head);
	in.size -= sizeof(head);
	error = zlib_inflate(&in, &output);
	if (!error && !zlib_sum_fits(in, &output))
		error = -EINVAL;
	return output_give(&output, error, out, size);
}

/* The size of the texts and fields before the deflated data, or 0. */
static size_t gzip_head(struct bytes in)
{
	enum { CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, UNKNOWN = 0xe0 };
	uint8_t head[10], length[2];
	uint64_t size = sizeof(head);

	if (!bytes_copy(in, 0, head, sizeof(head)) || head[0] != 0x1f ||
	    head[1] != 0x8b || head[2] != 8 || head[3] & UNKNOWN)
		return 0;
	if (head[3] & EXTRA) {
		if (!bytes_copy(in, size, length, sizeof(length)))
			return 0;
		size += 2 + (length[0] | length[1] << 8);
	}
	for (unsigned int flag = NAME; flag <= COMMENT; flag *= 2) {
		const char *text;

		if (!(head[3] & flag))
			continue;
		text = bytes_text(in, size);
		if (!text)
			return 0;
		size += strlen(text) + 1;
	}
	if (head[3] & CRC)
		size += 2;
	return size < in.size ? (size_t)size : 0;
}

static uint32_t little32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* One member; *in moves behind it. */
static int gzip_member(struct bytes *in, struct output *output)
{
	size_t head = gzip_head(*in), from = output->size;
	struct bytes out;
	uint8_t tail[8];
	int error;

	if (!head)
		return -EINVAL;
	in->data += head;
	in->size -= head;
	error = zlib_inflate(in, output);
	if (error)
		return error;
	out.size = output->size - from;
	out.data = out.size ? output->data + from : NULL;
	if (!bytes_copy(*in, 0, tail, sizeof(tail)) ||
	    little32(tail) != checksum_crc32(0, out) ||
	    little32(tail + 4) != (uint32_t)out.size)
		return -EINVAL;
	in->data += sizeof(tail);
	in->size -= sizeof(tail);
	return 0;
}

int unpack_gzip(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	struct output output = { .most = most };
	int error;

	*out = NULL;
	*size = 0;
	do
		error = gzip_member(&in, &output);
	while (!error && in.size >= 2 && in.data[0] == 0x1f &&
	       in.data[1] == 0x8b);
	return output_give(&output, error, out, size);
}

#else

int unpack_gzip(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	(void)in;
	(void)most;
	*out = NULL;
	*size = 0;
	return -ENOTSUP;
}

int unpack_zlib(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	(void)in;
	(void)most;
	*out = NULL;
	*size = 0;
	return -ENOTSUP;
}

#endif

/* ------------------------------------------------------------------- xz */

#ifdef PROF_LZMA

enum { XZ_FIRST = 1 << 16 };

/* Room for as much again, not beyond `most` but for the byte that is too many. */
static bool xz_room(struct output *output, lzma_stream *stream)
{
	size_t want = output->size + XZ_FIRST;

	if (output->size > output->most)
		return false;
	if (want > output->most - output->size)
		want = output->most - output->size + 1;
	output->data = memory_grow(output->data, &output->capacity,
				   output->size + want, 1);
	stream->next_out = output->data + output->size;
	stream->avail_out = want;
	return true;
}

static int xz_error(lzma_ret result)
{
	switch (result) {
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return -ENOMEM;
	default:
		return -EINVAL;
	}
}

int unpack_xz(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	struct output output = { .most = most };
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result;
	int error;

	*out = NULL;
	*size = 0;
	result = lzma_stream_decoder(&stream, UNPACK_MEMORY, 0);
	stream.next_in = in.data;
	stream.avail_in = in.size;
	while (result == LZMA_OK && xz_room(&output, &stream)) {
		result = lzma_code(&stream, LZMA_FINISH);
		output.size = (size_t)(stream.next_out - output.data);
	}
	lzma_end(&stream);
	error = output.size > most ? -EFBIG : xz_error(result);
	return output_give(&output, error, out, size);
}

#else

int unpack_xz(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	(void)in;
	(void)most;
	*out = NULL;
	*size = 0;
	return -ENOTSUP;
}

#endif
