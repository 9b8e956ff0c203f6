/* SPDX-License-Identifier: MIT */
#ifndef LIB_WIRE_H
#define LIB_WIRE_H

#include <stdint.h>

#include "lib/bytes.h"
#include "lib/text.h"

/* ------------------------------------------------------------------ writing */

/* Appends a number as it stands in a list of numbers. */
void wire_put_varint(struct text *to, uint64_t value);

/* Appends a field; one that is 0 is left out, as proto3 has it. */
void wire_put_number(struct text *to, unsigned int field, uint64_t value);

/* Appends a field that is a text, a message or a list of numbers. */
void wire_put_bytes(struct text *to, unsigned int field, const char *data,
		    size_t size);
void wire_put_text(struct text *to, unsigned int field,
		   const struct text *text);

/* ------------------------------------------------------------------ reading */

struct wire_field {
	uint32_t number;
	enum wire_type {
		WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5,
	} type;
	uint64_t value;		/* of the types that are numbers */
	struct bytes bytes;	/* of WIRE_BYTES, inside what is read */
};

/*
 * Takes the next field off *rest: 1; 0 at the end; -EINVAL if it is damaged
 * (then *rest is as it was).
 */
int wire_next(struct bytes *rest, struct wire_field *field);

/* The same for a list of numbers, as WIRE_BYTES. */
int wire_next_varint(struct bytes *rest, uint64_t *value);

#endif
