/* SPDX-License-Identifier: MIT */
#ifndef LIB_INPUT_H
#define LIB_INPUT_H

#include "lib/bytes.h"

/*
 * Foreign bytes that are copied out before they are looked at: those of a file
 * that others may write to or cut short meanwhile, or those in memory.  What
 * was copied stays what it was, and what is no longer there is "outside", where
 * a mapped file would end the program (SIGBUS), or change between the check of
 * a number and its use.
 *
 * Owns neither the descriptor nor the memory.
 */
struct input {
	int fd;			/* -1: in memory */
	struct bytes memory;
	uint64_t from, size;	/* which part of it; offsets are from there */
};

/* A regular file as large as it is now; 0 or -errno. */
int input_file(struct input *input, int fd);
struct input input_memory(struct bytes memory);

/* The `size` bytes at `offset`; false, *part empty, if not all are there. */
bool input_part(const struct input *all, uint64_t offset, uint64_t size,
		struct input *part);

/* Copies `size` bytes at `offset` to `to`; false, and zeroes, if outside. */
bool input_copy(const struct input *input, uint64_t offset, void *to,
		size_t size);

/* Copies what there is of them; how many bytes that is. */
size_t input_some(const struct input *input, uint64_t offset, void *to,
		  size_t size);

/*
 * A copy of all, for free(); NULL if it is empty, larger than `most` or not all
 * there.
 */
uint8_t *input_all(const struct input *input, uint64_t most);

/*
 * The text at `offset` to text[size].  False, and "", if no zero byte ends it
 * within its first `size` bytes.
 */
bool input_text(const struct input *input, uint64_t offset, char *text,
		size_t size);

/*
 * Reading from front to back, and little skips forward: `ahead` bytes (0:
 * INPUT_WINDOW) are copied at once.  Starts zeroed but for `input` and `ahead`.
 */
enum { INPUT_WINDOW = 8 * 1024 };

struct input_window {
	const struct input *input;
	size_t ahead;
	uint64_t from;
	size_t size;
	uint8_t data[INPUT_WINDOW];
};

/* Moves the window; for input_look() alone. */
const uint8_t *input_move(struct input_window *window, uint64_t offset,
			  size_t size);

/*
 * `size` bytes (at most INPUT_WINDOW) at `offset`, valid until the next call;
 * NULL if outside.  Here, as it is nearly always there already.
 */
static inline const uint8_t *input_look(struct input_window *window,
					uint64_t offset, size_t size)
{
	uint64_t in = offset - window->from;

	if (offset < window->from || in > window->size ||
	    size > window->size - in)
		return input_move(window, offset, size);
	return window->data + in;
}

#endif
