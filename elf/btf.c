/* SPDX-License-Identifier: MIT */
/*
 * btf: the types that the compiler wrote down.
 *
 *	header   hdr_len, type_off, type_len, str_off, str_len
 *	types    struct btf_type (12 bytes) and what its kind adds, and so on
 *	texts    the names, each ended by a zero byte
 *
 * A type has no number of its own: the first is 1, the next 2.  To find one,
 * all before it must be measured, so the offsets are noted once.
 *
 * Source: Documentation/bpf/btf.rst of the kernel.
 */
#include <errno.h>
#include <stdlib.h>

#include "elf/btf.h"
#include "lib/memory.h"

/* Types name types; in a foreign file they may do so in a circle. */
enum { BTF_DEEPEST = 16 };

/* Bytes that follow a struct btf_type; -1 for a kind that is not known. */
static int64_t btf_extra(const struct btf_type *type)
{
	int64_t members = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return members * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return members * 8;
	default:
		return -1;
	}
}

int btf_open(struct btf *btf, struct bytes section)
{
	struct btf_header header;
	size_t capacity = 0;
	uint64_t at = 0;

	*btf = (struct btf){ 0 };
	if (!bytes_copy(section, 0, &header, sizeof(header)) ||
	    header.magic != BTF_MAGIC ||
	    !bytes_part(section, (uint64_t)header.hdr_len + header.type_off,
			header.type_len, &btf->types) ||
	    !bytes_part(section, (uint64_t)header.hdr_len + header.str_off,
			header.str_len, &btf->texts))
		return -ENOEXEC;
	btf->offset = memory_grow(NULL, &capacity, 1, sizeof(uint32_t));
	btf->offset[btf->count++] = 0;
	while (at < btf->types.size) {
		struct btf_type type;
		int64_t extra;

		if (!bytes_copy(btf->types, at, &type, sizeof(type)))
			return -ENOEXEC;
		extra = btf_extra(&type);
		if (extra < 0)
			return -ENOEXEC;
		btf->offset = memory_grow(btf->offset, &capacity,
					  btf->count + 1, sizeof(uint32_t));
		btf->offset[btf->count++] = (uint32_t)at;
		at += sizeof(type) + (uint64_t)extra;
	}
	return 0;
}

void btf_close(struct btf *btf)
{
	free(btf->offset);
	*btf = (struct btf){ 0 };
}

bool btf_type(const struct btf *btf, uint32_t number, struct btf_type *type,
	      uint64_t *extra)
{
	if (!number || number >= btf->count ||
	    !bytes_copy(btf->types, btf->offset[number], type, sizeof(*type)))
		return false;
	*extra = btf->offset[number] + sizeof(*type);
	return true;
}

bool btf_size(const struct btf *btf, uint32_t number, uint32_t *size)
{
	uint64_t count = 1;

	for (int depth = 0; depth < BTF_DEEPEST; depth++) {
		struct btf_type type;
		struct btf_array array;
		uint64_t extra;

		if (!btf_type(btf, number, &type, &extra))
			return false;
		switch (BTF_INFO_KIND(type.info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			number = type.type;
			continue;
		case BTF_KIND_ARRAY:
			if (!bytes_copy(btf->types, extra, &array,
					sizeof(array)))
				return false;
			count *= array.nelems;
			if (count > UINT32_MAX)
				return false;
			number = array.type;
			continue;
		case BTF_KIND_PTR:
			count *= 8;
			break;
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
			count *= type.size;
			break;
		default:
			return false;
		}
		if (count > UINT32_MAX)
			return false;
		*size = (uint32_t)count;
		return true;
	}
	return false;
}

bool btf_length(const struct btf *btf, uint32_t number, uint32_t *length)
{
	struct btf_type type;
	struct btf_array array;
	uint64_t extra;

	if (!btf_type(btf, number, &type, &extra) ||
	    BTF_INFO_KIND(type.info) != BTF_KIND_ARRAY ||
	    !bytes_copy(btf->types, extra, &array, sizeof(array)))
		return false;
	*length = array.nelems;
	return true;
}
