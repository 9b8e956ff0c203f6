/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_DWARF_H
#define UNWIND_DWARF_H

#include <stdbool.h>

#include "lib/bytes.h"

/*
 * Numbers as DWARF writes them, one after the other.  What would be outside is
 * 0, and sets `failed`, which is looked at when it matters.
 */
struct dwarf {
	struct bytes bytes;
	uint64_t at;
	bool failed;
};

/* Of one byte: what tables mostly consist of, so it is inline. */
static inline uint8_t dwarf_byte(struct dwarf *cursor)
{
	uint64_t at = cursor->at++;

	if (at < cursor->bytes.size)
		return cursor->bytes.data[at];
	cursor->failed = true;
	return 0;
}

/* Of `size` bytes, at most 8. */
uint64_t dwarf_take(struct dwarf *cursor, size_t size);

/* LEB128: 7 bits a byte, the lowest first. */
uint64_t dwarf_unsigned(struct dwarf *cursor);
int64_t dwarf_signed(struct dwarf *cursor);

/*
 * As its encoding (DW_EH_PE_) says: in how many bytes, and whether it counts
 * from where it stands; `address`: where the bytes are loaded.
 */
uint64_t dwarf_encoded(struct dwarf *cursor, uint64_t address,
		       uint8_t encoding);

/* A block: its length, then its bytes. */
struct bytes dwarf_block(struct dwarf *cursor);

#endif
