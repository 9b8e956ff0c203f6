/* SPDX-License-Identifier: MIT */
/*
 * wire: protobuf's wire format, which is all of protobuf that a program needs
 * that knows its messages.
 *
 *	message   field...
 *	field     varint: number << 3 | type, then by type
 *	          0 a varint   1 eight bytes   5 four bytes   (little-endian)
 *	          2 a varint n, and n bytes: a text, a message, or numbers
 *	varint    seven bits a byte, the lowest first; bit 7: more follow
 *
 * Negative numbers are their two's complement in 64 bits, ten bytes long.
 * Types 3 and 4 (groups) are not in proto3.
 *
 * Source: protobuf.dev, "Encoding".
 */
#include <errno.h>
#include <string.h>

#include "lib/wire.h"

void wire_put_varint(struct text *to, uint64_t value)
{
	char bytes[10];
	size_t count = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[count++] = (char)((value & 0x7f) | 0x80);
	bytes[count++] = (char)value;
	text_add(to, bytes, count);
}

void wire_put_number(struct text *to, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	wire_put_varint(to, field << 3 | WIRE_VARINT);
	wire_put_varint(to, value);
}

void wire_put_bytes(struct text *to, unsigned int field, const char *data,
		    size_t size)
{
	wire_put_varint(to, field << 3 | WIRE_BYTES);
	wire_put_varint(to, size);
	if (size)
		text_add(to, data, size);
}

void wire_put_text(struct text *to, unsigned int field,
		   const struct text *text)
{
	wire_put_bytes(to, field, text->data, text->length);
}

int wire_next_varint(struct bytes *rest, uint64_t *value)
{
	uint64_t sum = 0;

	if (!rest->size)
		return 0;
	for (size_t i = 0; i < rest->size && i < 10; i++) {
		uint8_t byte = rest->data[i];

		/* Of the tenth byte only one bit is left. */
		if (i == 9 && byte > 1)
			return -EINVAL;
		sum |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		rest->data += i + 1;
		rest->size -= i + 1;
		*value = sum;
		return 1;
	}
	return -EINVAL;
}

static int take_bytes(struct bytes *rest, uint64_t size, struct bytes *part)
{
	if (!bytes_part(*rest, 0, size, part))
		return -EINVAL;
	if (size)
		rest->data += size;
	rest->size -= size;
	return 1;
}

/* Four or eight bytes, little-endian. */
static int take_fixed(struct bytes *rest, size_t size, uint64_t *value)
{
	struct bytes part;

	if (take_bytes(rest, size, &part) < 0)
		return -EINVAL;
	*value = 0;
	while (size-- > 0)
		*value = *value << 8 | part.data[size];
	return 1;
}

static int take_value(struct bytes *rest, struct wire_field *field)
{
	uint64_t size;

	switch (field->type) {
	case WIRE_VARINT:
		/* 0 would be the end, in the midst of a field. */
		return wire_next_varint(rest, &field->value) == 1 ? 1 :
		       -EINVAL;
	case WIRE_64:
		return take_fixed(rest, 8, &field->value);
	case WIRE_32:
		return take_fixed(rest, 4, &field->value);
	case WIRE_BYTES:
		if (wire_next_varint(rest, &size) != 1)
			return -EINVAL;
		return take_bytes(rest, size, &field->bytes);
	default:
		return -EINVAL;
	}
}

int wire_next(struct bytes *rest, struct wire_field *field)
{
	struct bytes after = *rest;
	uint64_t tag;
	int got = wire_next_varint(&after, &tag);

	*field = (struct wire_field){ 0 };
	if (got != 1)
		return got;
	if (tag > UINT32_MAX || !(tag >> 3))
		return -EINVAL;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum wire_type)(tag & 7);
	got = take_value(&after, field);
	if (got == 1)
		*rest = after;
	return got;
}
