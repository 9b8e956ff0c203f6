/* SPDX-License-Identifier: MIT */
/*
 * packed: sections with SHF_COMPRESSED, symbol tables among them.
 *
 *	ch_type   (reserved)  ch_size  ch_addralign   compressed bytes
 *	4 bytes   4: 64-bit   4 or 8   4 or 8         to the section's end
 *
 * sh_size is the compressed size with this header, ch_size the size after.  The
 * older .zdebug_* sections hold debug information alone, never symbols.
 *
 * Source: System V ABI, chapter 4, "Section compression".
 */
#include <errno.h>
#include <stdlib.h>

#include "elf/packed.h"
#include "lib/unpack.h"

enum {
	PACKED_MOST = 64 * 1024 * 1024,
	DEFLATE_MOST = 1040,	/* times: the format packs no tighter */
};

static int unpack(const struct elf_file *file, const struct input *packed,
		  uint64_t most, struct input *input, uint8_t **memory)
{
	size_t size = file->wide ? 24 : 12, got;
	uint8_t header[24];
	uint64_t wanted;
	struct input part;
	uint8_t *data;
	int error;

	if (!input_copy(packed, 0, header, size))
		return -ENOEXEC;
	if (elf_u32(file, header) != ELFCOMPRESS_ZLIB)
		return -ENOTSUP;
	wanted = elf_word(file, header + (file->wide ? 8 : 4));
	if (wanted > most)
		return -EFBIG;
	if (!wanted || wanted / DEFLATE_MOST > packed->size ||
	    !input_part(packed, size, packed->size - size, &part))
		return -ENOEXEC;
	data = input_all(&part, PACKED_MOST);
	if (!data)
		return -ENOEXEC;
	error = unpack_zlib((struct bytes){ data, part.size }, wanted, memory,
			    &got);
	free(data);
	if (error)
		return error == -EINVAL ? -ENOEXEC : error;
	*input = input_memory((struct bytes){ *memory, got });
	return 0;
}

int elf_packed_open(const struct elf_file *file,
		    const struct elf_file_section *section, uint64_t most,
		    struct input *input, uint8_t **memory)
{
	struct input packed;

	*memory = NULL;
	*input = (struct input){ .fd = -1 };
	if (!elf_file_section_input(file, section, &packed))
		return -ENOEXEC;
	if (section->flags & SHF_COMPRESSED)
		return unpack(file, &packed, most, input, memory);
	*input = packed;
	return packed.size <= most ? 0 : -EFBIG;
}
