/* SPDX-License-Identifier: MIT */
/*
 * embedded: bpf_prog.c as clang wrote it, from the program's own bytes.
 *
 * It is packed by gzip where the program is built with zlib, a quarter of its
 * size, and unpacked at the first question, which takes a fifth of a
 * millisecond.
 */
#include <stdint.h>

#include "embedded.h"
#include "lib/unpack.h"

/* bpf/embed.S */
extern const unsigned char bpf_object[];
extern const uint64_t bpf_object_size;

enum { OBJECT_MOST = 1 << 20 };

struct bytes embedded_object(void)
{
	static struct bytes object;
	struct bytes inside = { bpf_object, (size_t)bpf_object_size };
	uint8_t *unpacked;
	size_t size;

	if (object.data)
		return object;
	object = inside;
	/* ELF files begin otherwise than gzip's. */
	if (inside.size > 2 && inside.data[0] == 0x1f &&
	    !unpack_gzip(inside, OBJECT_MOST, &unpacked, &size))
		object = (struct bytes){ unpacked, size };
	return object;
}
