/* SPDX-License-Identifier: MIT */
/* names: each text once, so that the rest of the program compares numbers. */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/names.h"

static bool names_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return !strcmp(((char *const *)array)[position], wanted);
}

uint32_t names_add(struct names *names, const char *text)
{
	uint64_t hash = index_hash(text, strlen(text));
	uint32_t position = index_find(&names->index, hash, names_equal,
				       names->text, text);

	if (position != INDEX_NONE)
		return position;
	names->text = memory_grow(names->text, &names->capacity,
				  names->count + 1, sizeof(*names->text));
	names->text[names->count] = memory_text(text, strlen(text));
	index_add(&names->index, hash, (uint32_t)names->count);
	return (uint32_t)names->count++;
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->text[i]);
	free(names->text);
	index_free(&names->index);
	*names = (struct names){ 0 };
}
