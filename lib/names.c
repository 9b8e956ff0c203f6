/* SPDX-License-Identifier: MIT */
/* names: each text once, so that the rest of the program compares numbers. */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/names.h"

struct wanted {
	const char *text;
	size_t length;
};

/* Most of what is compared is equal; eight bytes at a time that is quick. */
static bool same(const char *a, const char *b, size_t size)
{
	uint64_t x, y;

	for (; size >= 8; size -= 8, a += 8, b += 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
	}
	return !memcmp(a, b, size);
}

static bool names_equal(const void *array, uint32_t position,
			const void *wanted)
{
	const struct names *names = array;
	const struct wanted *want = wanted;

	return names->length[position] == want->length &&
	       same(names->text[position], want->text, want->length);
}

uint32_t names_add_part(struct names *names, const char *text, size_t length)
{
	struct wanted wanted = { text, length };
	uint64_t hash = index_hash(text, length);
	uint32_t position = index_find(&names->index, hash, names_equal, names,
				       &wanted);

	if (position != INDEX_NONE)
		return position;
	names->text = memory_grow(names->text, &names->capacity,
				  names->count + 1, sizeof(*names->text));
	names->length = memory_grow(names->length, &names->length_capacity,
				    names->count + 1, sizeof(*names->length));
	names->text[names->count] = memory_text(text, length);
	names->length[names->count] = (uint32_t)length;
	index_add(&names->index, hash, (uint32_t)names->count);
	return (uint32_t)names->count++;
}

uint32_t names_add(struct names *names, const char *text)
{
	return names_add_part(names, text, strlen(text));
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->text[i]);
	free(names->text);
	free(names->length);
	index_free(&names->index);
	*names = (struct names){ 0 };
}
