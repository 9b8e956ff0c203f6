/* SPDX-License-Identifier: MIT */
/*
 * unpack: compressed sections, by the distribution's libraries.
 *
 *	zlib (RFC 1950)                xz (its file format, 1.2.0)
 *
 *	CMF FLG  deflate...  ADLER32   fd 37 7a 58 5a 00 flags  blocks  index
 *	 |   |    RFC 1951   of what                            footer
 *	 |   checks CMF; bit 5:        came out, big-endian
 *	 |   dictionary
 *	low four bits 8, high four at most 7
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

/* What `stream` and `in` have left begins with the sum of what came out. */
static bool zlib_sum_fits(const z_stream *stream, struct bytes in,
			  const struct output *output)
{
	struct bytes whole = { output->data, output->size };
	uint8_t sum[4];

	if (!stream->next_in)
		return false;
	in.size += stream->avail_in;
	in.data = stream->next_in;
	return bytes_copy(in, 0, sum, sizeof(sum)) &&
	       checksum_adler32(1, whole) ==
	       ((uint32_t)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]);
}

static int zlib_inflate(struct bytes in, uint8_t *window,
			struct output *output)
{
	z_stream stream = { 0 };
	int result, error;

	if (inflateBackInit(&stream, 15, window) != Z_OK)
		return -ENOMEM;
	result = inflateBack(&stream, zlib_in, &in, zlib_out, output);
	if (result == Z_STREAM_END)
		error = zlib_sum_fits(&stream, in, output) ? 0 : -EINVAL;
	else if (result == Z_BUF_ERROR && stream.next_in)
		error = -EFBIG;		/* zlib_out() refused */
	else
		error = -EINVAL;
	inflateBackEnd(&stream);
	return error;
}

int unpack_zlib(struct bytes in, size_t most, uint8_t **out, size_t *size)
{
	struct output output = { .most = most };
	uint8_t head[2], *window;
	int error;

	*out = NULL;
	*size = 0;
	if (!bytes_copy(in, 0, head, sizeof(head)) || (head[0] & 15) != 8 ||
	    head[0] >> 4 > 7 || head[1] & 0x20 ||
	    (head[0] << 8 | head[1]) % 31)
		return -EINVAL;
	in.data += sizeof(head);
	in.size -= sizeof(head);
	window = memory_new(ZLIB_WINDOW, 1);
	error = zlib_inflate(in, window, &output);
	free(window);
	return output_give(&output, error, out, size);
}

#else

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
