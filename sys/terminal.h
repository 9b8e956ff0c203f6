/* SPDX-License-Identifier: MIT */
#ifndef SYS_TERMINAL_H
#define SYS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* What can be shown where a text goes to. */
struct terminal {
	unsigned int columns, rows;	/* rows 0: a file, it has no end */
	bool colour;
	bool utf8;
};

/*
 * Looks at what is behind the descriptor.  What is no terminal is as wide as
 * COLUMNS says, 80 without that, and has no colours.  Colours also wait for
 * NO_COLOR to go away, and for a TERM that is not dumb.
 */
void terminal_look(struct terminal *terminal, int fd);

/*
 * Whether a picture can be drawn there again and again: a terminal that knows
 * the cursor's movements, of which we are not in the background.
 */
bool terminal_can_redraw(int fd);

/*
 * A descriptor of the same terminal for writes that do not wait, to be closed;
 * or -errno.
 */
int terminal_open(int fd);

/* Writes what goes without waiting: how many bytes, 0 if none, or -errno. */
long terminal_write(int fd, const char *data, size_t length);

/* The same for a descriptor that waits, until all is written or nothing goes. */
void terminal_write_all(int fd, const char *data, size_t length);

#endif
