/* SPDX-License-Identifier: MIT */
/*
 * dwarf: numbers as DWARF writes them.
 *
 * Source: DWARF 5, 7.6; Linux Standard Base, "DWARF Exception Header Encoding".
 */
#include <string.h>

#include "unwind/dwarf.h"

uint64_t dwarf_take(struct dwarf *cursor, size_t size)
{
	struct bytes part;
	uint64_t value = 0;

	if (!bytes_part(cursor->bytes, cursor->at, size, &part))
		cursor->failed = true;
	/* Sizes that the compiler knows become one load. */
	else if (size == 4)
		memcpy(&value, part.data, 4);
	else if (size == 8)
		memcpy(&value, part.data, 8);
	else
		memcpy(&value, part.data, size);
	cursor->at += size;
	return value;
}

uint64_t dwarf_unsigned(struct dwarf *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = dwarf_byte(cursor);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80) || cursor->failed)
			return value;
	}
	cursor->failed = true;
	return 0;
}

int64_t dwarf_signed(struct dwarf *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = dwarf_byte(cursor);

		value |= (byte & 0x7f) << shift;
		if (byte & 0x80 && !cursor->failed)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			value |= ~0ull << (shift + 7);
		return (int64_t)value;
	}
	cursor->failed = true;
	return 0;
}

uint64_t dwarf_encoded(struct dwarf *cursor, uint64_t address,
		       uint8_t encoding)
{
	uint64_t place = address + cursor->at, value;

	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = dwarf_take(cursor, 8);
		break;
	case 0x01:
		value = dwarf_unsigned(cursor);
		break;
	case 0x02:
		value = dwarf_take(cursor, 2);
		break;
	case 0x03:
		value = dwarf_take(cursor, 4);
		break;
	case 0x09:
		value = (uint64_t)dwarf_signed(cursor);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)dwarf_take(cursor, 2);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)dwarf_take(cursor, 4);
		break;
	default:
		cursor->failed = true;
		return 0;
	}
	if ((encoding & 0x70) == 0x10)
		value += place;
	else if (encoding & 0x70)
		cursor->failed = true;
	return value;
}

struct bytes dwarf_block(struct dwarf *cursor)
{
	uint64_t size = dwarf_unsigned(cursor);
	struct bytes block;

	if (!bytes_part(cursor->bytes, cursor->at, size, &block))
		cursor->failed = true;
	cursor->at += size;
	return block;
}
