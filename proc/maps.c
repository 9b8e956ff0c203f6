/* SPDX-License-Identifier: MIT */
/*
 * maps: where a process has code.
 *
 *	7f3a1c028000-7f3a1c1bd000 r-xp 00028000 fe:00 1234    /usr/lib/libc.so.6
 *	start        end          perm offset   dev   inode   path
 *
 * The path is the process's own: spaces stay in it, a newline is written as
 * \012, and " (deleted)" follows when the file is gone (or when it is called
 * so).  Memory without a file has no path; the kernel's own has one in
 * brackets ([vdso]).
 *
 * Source: man 5 proc_pid_maps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/memory.h"
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

/* Cuts the next word, which ends with spaces or the line. */
static char *skip_word(char *p)
{
	p += strcspn(p, " ");
	return p + strspn(p, " ");
}

/* What is shown of a path: "[vdso]" as "vdso", "/lib/x.so (deleted)" as "x.so" */
static const char *display_name(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), end = sizeof(deleted) - 1;
	char *slash;

	if (length > end && !strcmp(path + length - end, deleted))
		path[length - end] = '\0';
	if (*path == '[') {
		path++;
		path[strcspn(path, "]")] = '\0';
		return path;
	}
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool maps_parse(char *line, struct map *map, const char **file)
{
	char *p = line;

	*map = (struct map){ 0 };
	if (!parse_field(&p, '-', &map->start) || !parse_field(&p, ' ', &map->end))
		return false;
	if (strlen(p) < 5 || p[2] != 'x' || p[4] != ' ')
		return false;
	p += 5;
	if (!parse_field(&p, ' ', &map->offset) || map->end <= map->start)
		return false;
	p = skip_word(skip_word(p));	/* device and inode */
	*file = display_name(p);
	return true;
}

int maps_read(struct maps *maps, uint32_t pid, struct names *names,
	      size_t most, size_t *count)
{
	char path[64], *line;
	struct lines lines;
	int error;

	*count = 0;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	error = lines_open(&lines, path);
	if (error)
		return error;
	while (!error && (line = lines_next(&lines))) {
		const char *file;
		struct map map;

		if (++*count > most)
			error = -E2BIG;
		if (error || !maps_parse(line, &map, &file))
			continue;
		map.file = names_add(names, file);
		maps->map = memory_grow(maps->map, &maps->capacity,
					maps->count + 1, sizeof(map));
		maps->map[maps->count++] = map;
	}
	if (!error)
		error = lines.error;
	lines_close(&lines);
	/* A process without memory of its own (a zombie) reads as empty. */
	if (!error && !maps->count)
		error = -ENOENT;
	if (error)
		maps_free(maps);
	return error;
}

const struct map *maps_find(const struct maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->map[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->count || maps->map[low].start > address)
		return NULL;
	return &maps->map[low];
}

void maps_free(struct maps *maps)
{
	free(maps->map);
	*maps = (struct maps){ 0 };
}
