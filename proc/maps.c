/* SPDX-License-Identifier: MIT */
/*
 * maps: what a process has mapped, as /proc tells it.
 *
 *	7f3a1c028000-7f3a1c1bd000 r-xp 00028000 fe:00 1234    /usr/lib/libc.so.6
 *	start        end          perm offset   dev   inode   path
 *
 * The path is as the reader sees it: spaces stay in it, a newline is written as
 * \012, and " (deleted)" follows when the file is gone (or when it is called
 * so).  Memory without a file has no path; the kernel's own has one in
 * brackets ([vdso]).  Device and inode are those of the kernel's inside, which
 * stat(2) need not give (overlayfs, btrfs).
 *
 * Source: man 5 proc_pid_maps.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "lib/text.h"
#include "proc/maps.h"

/* A number in hex and the character behind it. */
static bool parse_field(char **p, char end, uint64_t *value)
{
	const char *at = *p;

	if (!text_hex(&at, value) || *at != end)
		return false;
	*p += at + 1 - *p;
	return true;
}

/* The decimal number that ends with a space or the line. */
static bool parse_inode(char **p, uint64_t *inode)
{
	size_t length = strcspn(*p, " ");
	char *end = *p + length;
	bool last = !*end;

	*end = '\0';
	if (!text_number(*p, 10, 0, UINT64_MAX, inode))
		return false;
	*p = last ? end : end + 1;
	return true;
}

/* "\012" is a newline: in place, as texts only get shorter. */
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

bool maps_parse(char *line, struct map *map)
{
	uint64_t major, minor;
	char *p = line;

	*map = (struct map){ 0 };
	if (!parse_field(&p, '-', &map->start) ||
	    !parse_field(&p, ' ', &map->end) || strlen(p) < 5 || p[4] != ' ')
		return false;
	map->executable = p[2] == 'x';
	p += 5;
	if (!parse_field(&p, ' ', &map->offset) ||
	    !parse_field(&p, ':', &major) || !parse_field(&p, ' ', &minor) ||
	    !parse_inode(&p, &map->inode) || map->end <= map->start)
		return false;
	map->major = (uint32_t)major;
	map->minor = (uint32_t)minor;
	/* The kernel fills up to a column; what else there is, is the path's. */
	p += strspn(p, " ");
	unescape(p);
	map->path = p;
	return true;
}

int maps_read(uint32_t pid, size_t most, size_t *count, maps_fn *each,
	      void *context)
{
	char path[64], *line;
	struct lines lines;
	bool any = false;
	int error;

	*count = 0;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	error = lines_open(&lines, path);
	if (error)
		return error;
	while (!error && (line = lines_next(&lines))) {
		struct map map;

		if (++*count > most) {
			error = -E2BIG;
		} else if (maps_parse(line, &map)) {
			any = true;
			if (map.executable)
				each(context, &map);
		}
	}
	if (!error)
		error = lines.error;
	lines_close(&lines);
	return !error && !any ? -ENOENT : error;
}

bool maps_locate(const char *pid, struct map *wanted)
{
	char path[64], *line;
	struct lines lines;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	if (lines_open(&lines, path))
		return false;
	while (!found && (line = lines_next(&lines))) {
		struct map map;

		if (!maps_parse(line, &map))
			continue;
		if (wanted->inode)
			found = map.inode == wanted->inode &&
				map.major == wanted->major &&
				map.minor == wanted->minor;
		else
			found = map.start == wanted->start;
		if (!found)
			continue;
		*wanted = map;
		wanted->path = NULL;
	}
	lines_close(&lines);
	return found;
}
