/* SPDX-License-Identifier: MIT */
/*
 * index: open addressing with linear probing, at most two thirds full.
 *
 * The array, not the index, owns the elements: they stay dense and in order of
 * their arrival, and the index can be thrown away and made again.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "lib/random.h"

uint32_t index_find(const struct index *index, uint64_t hash,
		    index_equal *equal, const void *array, const void *wanted)
{
	if (!index->size)
		return INDEX_NONE;
	for (size_t i = hash & (index->size - 1); index->slots[i].position;
	     i = (i + 1) & (index->size - 1)) {
		uint32_t position = index->slots[i].position - 1;

		if (index->slots[i].hash == hash &&
		    equal(array, position, wanted))
			return position;
	}
	return INDEX_NONE;
}

static void index_put(struct index *index, struct index_slot slot)
{
	size_t i = slot.hash & (index->size - 1);

	while (index->slots[i].position)
		i = (i + 1) & (index->size - 1);
	index->slots[i] = slot;
}

void index_add(struct index *index, uint64_t hash, uint32_t position)
{
	if (3 * (index->used + 1) > 2 * index->size) {
		struct index old = *index;

		index->size = old.size ? old.size * 2 : 64;
		index->slots = memory_new(index->size, sizeof(*index->slots));
		for (size_t i = 0; i < old.size; i++)
			if (old.slots[i].position)
				index_put(index, old.slots[i]);
		free(old.slots);
	}
	index_put(index, (struct index_slot){ hash, position + 1 });
	index->used++;
}

void index_clear(struct index *index)
{
	if (index->size)
		memset(index->slots, 0, index->size * sizeof(*index->slots));
	index->used = 0;
}

void index_free(struct index *index)
{
	free(index->slots);
	*index = (struct index){ 0 };
}

static uint64_t index_seed(void)
{
	static uint64_t seed;

	if (!seed) {
		random_fill(&seed, sizeof(seed));
		seed |= 1;
	}
	return seed;
}

uint64_t index_hash(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t hash = index_seed() ^ size, word;

	for (; size >= 8; size -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		hash = __builtin_bswap64((hash ^ word) * 0x9fb21c651e98df25);
		hash *= index_seed();
	}
	word = 0;
	if (size)
		memcpy(&word, bytes, size);
	hash = (hash ^ word) * 0x9fb21c651e98df25;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	return hash ^ hash >> 29;
}
