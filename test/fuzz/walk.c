/* SPDX-License-Identifier: MIT */
/*
 * A walk of a copy of a stack, with made-up rows and mappings.  What walk.c
 * calls of others is here: code at CODE has the rows of the input, one for 16
 * bytes of it each, code at BARE has none.
 *
 *	│ sp, ip, fp: 2 bytes each │ number of rows │ rows │ stack │
 *
 * Words of the stack are made of 2 bytes: 0x01.. an address in CODE, 0x02.. in
 * BARE, 0x03.. in the stack, others as they are.
 */
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "unwind/walk.h"

#define CODE	0x400000ull
#define BARE	0x500000ull
#define STACK	0x7fff00000000ull

static struct unwind_row rows[64];
static size_t row_count;

struct place spaces_find(struct spaces *spaces, struct space_view *view,
			 uint64_t address)
{
	struct place place = { .note = SPACE_UNMAPPED };

	(void)spaces;
	(void)view;
	if (address - CODE < 0x10000)
		place = (struct place){ .file = 1, .offset = address - CODE };
	else if (address - BARE < 0x10000)
		place = (struct place){ .file = 2, .offset = address - BARE };
	return place;
}

const struct table *tables_get(struct tables *tables, uint32_t file,
			       const struct file_user *user)
{
	static const struct table with = { .file = 1, .parts = 1 };
	static const struct table without = { .file = 2 };

	(void)tables;
	(void)user;
	return file == 1 && row_count ? &with : &without;
}

bool table_bias(const struct table *table, uint64_t start, uint64_t offset,
		uint64_t *bias)
{
	(void)table;
	*bias = start - offset;
	return true;
}

bool tables_row(struct tables *tables, const struct table *table, uint32_t pc,
		struct unwind_row *row)
{
	(void)tables;
	(void)table;
	*row = rows[pc / 16 % row_count];
	return true;
}

/* A call stands in front of every other address. */
bool tables_code(struct tables *tables, uint32_t file,
		 const struct file_user *user, uint64_t end, uint64_t *word)
{
	(void)tables;
	(void)file;
	(void)user;
	*word = end & 1 ? 0xe8ull << 24 : 0;
	return end >= 8;
}

static uint64_t word(const uint8_t *data)
{
	static const uint64_t bases[] = { 0, CODE, BARE, STACK };
	uint64_t low = data[0] | (uint64_t)(data[1] & 0x0f) << 8;

	switch (data[1] >> 4) {
	case 1:
	case 2:
		return bases[data[1] >> 4] + low;
	case 3:
		return STACK + low * 8 % COPY_BYTES;
	default:
		return low | (uint64_t)(data[1] & 0xf0) << 56;
	}
}

static void fill(struct copied *copy, const uint8_t *data, size_t size)
{
	uint64_t within, room, at;

	copy->start.sp = STACK + word(data) % COPY_PAGE / 8 * 8;
	copy->start.ip = word(data + 2);
	copy->start.fp = word(data + 4);
	within = copy->start.sp & (COPY_PAGE - 1);
	room = COPY_BYTES - within;
	row_count = data[6] % 64;
	data += 7;
	size -= 7;
	if (row_count > size / sizeof(*rows))
		row_count = size / sizeof(*rows);
	memcpy(rows, data, row_count * sizeof(*rows));
	data += row_count * sizeof(*rows);
	size -= row_count * sizeof(*rows);
	for (at = 0; size >= 2 && at + 8 <= room; at += 8) {
		uint64_t value = word(data);

		memcpy(copy->stack + within + at, &value, 8);
		data += 2;
		size -= 2;
	}
	copy->bytes = (uint32_t)(size ? room : at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct copied copy;
	struct walk_world world = { 0 };
	uint64_t ip[STACK_DEPTH], again[STACK_DEPTH];
	struct space_view view = { 0 };
	size_t depth;

	if (size < 7)
		return 0;
	memset(&copy, 0, sizeof(copy));
	fill(&copy, data, size);
	depth = walk_copy(&world, &view, &copy, ip);
	MUST(depth >= 1 && depth <= STACK_DEPTH);
	MUST(ip[0] == copy.start.ip);
	/* A full stack says so; 0 is no caller's address. */
	MUST(depth < STACK_DEPTH || ip[depth - 1] == WALK_TOO_DEEP ||
	     ip[depth - 1] < WALK_CAUSES);
	MUST(walk_copy(&world, &view, &copy, again) == depth);
	MUST(!memcmp(ip, again, depth * sizeof(*ip)));
	return 0;
}
