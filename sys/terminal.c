/* SPDX-License-Identifier: MIT */
/* terminal: what can be shown where a text goes to. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/text.h"
#include "sys/terminal.h"

enum {
	COLUMNS = 80, ROWS = 24,	/* of a serial line, which has no idea */
	NARROWEST = 60, WIDEST = 400,
};

/* The locale's name says it; the C library has to know no locales for that. */
static bool has_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]), *dot;

		if (!value || !*value)
			continue;
		dot = strrchr(value, '.');
		return dot && (!strncasecmp(dot, ".utf-8", 6) ||
			       !strncasecmp(dot, ".utf8", 5));
	}
	return false;
}

/* TERM is not set where nobody knows what is at the other end. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

static unsigned int columns_wished(void)
{
	const char *value = getenv("COLUMNS");
	uint64_t columns;

	return value && text_number(value, 10, 1, 100000, &columns) ?
	       (unsigned int)columns : COLUMNS;
}

void terminal_look(struct terminal *terminal, int fd)
{
	const char *no = getenv("NO_COLOR");
	struct winsize size = { 0 };
	bool is = isatty(fd);

	if (is)
		ioctl(fd, TIOCGWINSZ, &size);
	terminal->columns = size.ws_col ? size.ws_col : columns_wished();
	if (terminal->columns < NARROWEST)
		terminal->columns = NARROWEST;
	if (terminal->columns > WIDEST)
		terminal->columns = WIDEST;
	terminal->rows = !is ? 0 : size.ws_row ? size.ws_row : ROWS;
	terminal->colour = is && !is_dumb() && !(no && *no);
	terminal->utf8 = has_utf8();
}

bool terminal_can_redraw(int fd)
{
	pid_t front;

	if (!isatty(fd) || is_dumb())
		return false;
	/* Of a terminal that is not ours nobody tells (the first process). */
	front = tcgetpgrp(fd);
	return front < 0 || front == getpgrp();
}

int terminal_open(int fd)
{
	char path[32];
	int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int own;

	/*
	 * O_NONBLOCK belongs to what was opened, which we share with a shell:
	 * so it is opened once more.
	 */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, flags);
	if (own < 0 && tcgetpgrp(fd) >= 0)
		own = open("/dev/tty", flags);
	return own < 0 ? -errno : own;
}

long terminal_write(int fd, const char *data, size_t length)
{
	ssize_t written = write(fd, data, length);

	if (written >= 0)
		return written;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

void terminal_write_all(int fd, const char *data, size_t length)
{
	while (length) {
		long wrote = terminal_write(fd, data, length);

		if (wrote <= 0)
			return;
		data += wrote;
		length -= (size_t)wrote;
	}
}
