/* SPDX-License-Identifier: MIT */
/* memory: growable arrays and copies, with one answer to "none left". */
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/memory.h"

static void memory_none(size_t count, size_t size)
{
	log_error("memory: %zu x %zu bytes: none left", count, size);
	log_advice("a lower -F or --memory needs less; see also ulimit -v");
	file_out_abandon();
	exit(1);
}

void *memory_new(size_t count, size_t size)
{
	void *data = calloc(count ? count : 1, size ? size : 1);

	if (!data)
		memory_none(count, size);
	return data;
}

void *memory_grow(void *data, size_t *capacity, size_t need, size_t size)
{
	size_t room = *capacity ? *capacity : 16;

	if (need <= *capacity)
		return data;
	while (room < need && room <= SIZE_MAX / 2)
		room *= 2;
	if (room < need || room > SIZE_MAX / size)
		memory_none(need, size);
	data = realloc(data, room * size);
	if (!data)
		memory_none(room, size);
	*capacity = room;
	return data;
}

char *memory_text(const char *text, size_t length)
{
	char *copy = memory_new(length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}
