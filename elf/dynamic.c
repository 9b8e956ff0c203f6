/* SPDX-License-Identifier: MIT */
/*
 * dynamic: the list that PT_DYNAMIC holds, pairs of a tag and a value, 4 or 8
 * bytes each, up to tag 0.  A file without sections still has it.
 *
 * It has no count of symbols.  DT_HASH has one: nbucket, nchain (as many as
 * symbols), buckets, chains.  DT_GNU_HASH only ends each chain by a bit:
 *
 *	nbuckets  symoffset  bloom_size  bloom_shift     4 bytes each
 *	bloom[bloom_size]                                4 or 8 each
 *	buckets[nbuckets]: the first symbol of a chain   4 each
 *	chain[symbol - symoffset]: a hash; bit 0 = last  4 each
 *
 * so that the last symbol is found at the end of the last chain.
 *
 * Source: System V ABI, chapter 5; glibc's elf/dl-lookup.c for DT_GNU_HASH.
 */
#include <stdlib.h>

#include "elf/dynamic.h"
#include "lib/memory.h"

enum {
	TAGS_MOST = 4096,
	HASH_MOST = 16 * 1024 * 1024,	/* bytes read of a hash table */
};

static void note(struct elf_dynamic *dynamic, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		dynamic->symbols = value;
		break;
	case DT_STRTAB:
		dynamic->texts = value;
		break;
	case DT_STRSZ:
		dynamic->texts_size = value;
		break;
	case DT_HASH:
		dynamic->hash = value;
		break;
	case DT_GNU_HASH:
		dynamic->gnu_hash = value;
		break;
	case DT_RELA:
		dynamic->rela = value;
		break;
	case DT_RELASZ:
		dynamic->rela_size = value;
		break;
	case DT_REL:
		dynamic->rel = value;
		break;
	case DT_RELSZ:
		dynamic->rel_size = value;
		break;
	case DT_JMPREL:
		dynamic->plt = value;
		break;
	case DT_PLTRELSZ:
		dynamic->plt_size = value;
		break;
	case DT_PLTREL:
		dynamic->plt_type = value;
		break;
	case DT_PLTGOT:
		dynamic->got = value;
		break;
	}
}

bool elf_dynamic_open(struct elf_dynamic *dynamic,
		      const struct elf_file *file)
{
	size_t word = elf_word_size(file);
	struct input list = { .fd = -1 };
	uint8_t entry[16];

	*dynamic = (struct elf_dynamic){ 0 };
	for (uint32_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].type == PT_DYNAMIC)
			input_part(&file->input, file->segments[i].offset,
				   file->segments[i].file_size, &list);
	for (uint32_t i = 0; i < TAGS_MOST; i++) {
		uint64_t tag;

		if (!input_copy(&list, 2 * word * i, entry, 2 * word))
			return i;
		tag = elf_word(file, entry);
		if (tag == DT_NULL)
			return i;
		note(dynamic, tag, elf_word(file, entry + word));
	}
	return true;
}

static uint64_t count_by_hash(const struct elf_dynamic *dynamic,
			      const struct elf_file *file)
{
	struct input table;
	uint8_t head[8];

	if (!dynamic->hash || !elf_file_at(file, dynamic->hash, &table) ||
	    !input_copy(&table, 0, head, sizeof(head)))
		return 0;
	return elf_u32(file, head + 4);
}

/* The end of the chain that begins at symbol `last`. */
static uint64_t chain_end(const struct elf_file *file,
			  const struct input *table, uint64_t chains,
			  uint64_t first, uint64_t last)
{
	struct input_window *window = memory_new(1, sizeof(*window));

	window->input = table;
	for (uint64_t read = 0; read < HASH_MOST; read += 4, last++) {
		const uint8_t *at;

		at = input_look(window, chains + (last - first) * 4, 4);
		if (!at) {
			last = 0;
			break;
		}
		if (elf_u32(file, at) & 1)
			break;
	}
	free(window);
	return last ? last + 1 : 0;
}

static uint64_t count_by_gnu_hash(const struct elf_dynamic *dynamic,
				  const struct elf_file *file)
{
	uint64_t buckets, first, bloom, last = 0;
	struct input table, part;
	uint8_t head[16], *data;

	if (!dynamic->gnu_hash ||
	    !elf_file_at(file, dynamic->gnu_hash, &table) ||
	    !input_copy(&table, 0, head, sizeof(head)))
		return 0;
	buckets = elf_u32(file, head);
	first = elf_u32(file, head + 4);
	bloom = 16 + elf_u32(file, head + 8) * (uint64_t)elf_word_size(file);
	if (!input_part(&table, bloom, buckets * 4, &part))
		return 0;
	data = input_all(&part, HASH_MOST);
	if (!data)
		return 0;
	for (uint64_t i = 0; i < buckets; i++)
		if (elf_u32(file, data + i * 4) > last)
			last = elf_u32(file, data + i * 4);
	free(data);
	if (last < first)
		return first;
	return chain_end(file, &table, bloom + buckets * 4, first, last);
}

uint64_t elf_dynamic_symbols(const struct elf_dynamic *dynamic,
			     const struct elf_file *file)
{
	uint64_t count = count_by_hash(dynamic, file);

	return count ? count : count_by_gnu_hash(dynamic, file);
}
