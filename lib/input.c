/* SPDX-License-Identifier: MIT */
/*
 * input: foreign bytes, copied out piece by piece.
 *
 * A file is read by pread(2) and never mapped: a mapped file that its owner cuts
 * short is a SIGBUS, and one that its owner rewrites can change after a check.
 * Here a file that shrinks gives short reads, which count as "outside".
 */
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/input.h"
#include "lib/memory.h"

enum { TEXT_FIRST = 128 };	/* most names are shorter */

int input_file(struct input *input, int fd)
{
	*input = (struct input){ .fd = fd };
	return file_size(fd, &input->size);
}

struct input input_memory(struct bytes memory)
{
	return (struct input){
		.fd = -1, .memory = memory, .size = memory.size,
	};
}

bool input_part(const struct input *all, uint64_t offset, uint64_t size,
		struct input *part)
{
	*part = (struct input){ .fd = -1 };
	/* Two comparisons, as a sum of foreign numbers can wrap. */
	if (offset > all->size || size > all->size - offset)
		return false;
	*part = *all;
	part->from += offset;
	part->size = size;
	return true;
}

size_t input_some(const struct input *input, uint64_t offset, void *to,
		  size_t size)
{
	if (offset >= input->size)
		return 0;
	if (size > input->size - offset)
		size = input->size - offset;
	if (input->fd >= 0)
		return file_read_at(input->fd, input->from + offset, to, size);
	if (size)
		memcpy(to, input->memory.data + input->from + offset, size);
	return size;
}

bool input_copy(const struct input *input, uint64_t offset, void *to,
		size_t size)
{
	if (offset <= input->size && size <= input->size - offset &&
	    input_some(input, offset, to, size) == size)
		return true;
	if (size)
		memset(to, 0, size);
	return false;
}

uint8_t *input_all(const struct input *input, uint64_t most)
{
	uint8_t *data;

	if (!input->size || input->size > most)
		return NULL;
	data = memory_new(input->size, 1);
	if (input_copy(input, 0, data, input->size))
		return data;
	free(data);
	return NULL;
}

bool input_text(const struct input *input, uint64_t offset, char *text,
		size_t size)
{
	size_t got = 0;

	for (size_t want = TEXT_FIRST; got < size; want *= 8) {
		size_t more, room = (want < size ? want : size) - got;

		more = input_some(input, offset + got, text + got, room);
		if (memchr(text + got, 0, more))
			return true;
		got += more;
		if (more < room)
			break;
	}
	if (size)
		*text = '\0';
	return false;
}

const uint8_t *input_move(struct input_window *window, uint64_t offset,
			  size_t size)
{
	size_t ahead = window->ahead > size ? window->ahead : size;

	if (!window->ahead || ahead > INPUT_WINDOW)
		ahead = INPUT_WINDOW;
	window->from = offset;
	window->size = input_some(window->input, offset, window->data, ahead);
	return size > window->size ? NULL : window->data;
}
