/* SPDX-License-Identifier: MIT */
/*
 * perfmap: /tmp/perf-PID.map, which runtimes with a JIT compiler write.
 *
 *	7f2a4c001000 1a0 LazyCompile:*fib /srv/app.js:3
 *	start        size name, with spaces, to the end of the line
 *
 * Lines are added while the process runs.  Code moves, and its place is used
 * again: of lines that overlap the last one is right.
 *
 * Anybody can put a file there.  It has to be a regular one, not a link, with one
 * name, owned by the process's user or by root, and written to since the process
 * started: an older one is of an earlier process with this number.
 *
 * Lines are kept in levels, each a sorted list of parts that do not overlap, the
 * newest last.  What is read in one go becomes a level of its own, and is joined
 * with the one before when that is not twice as large: so each line is sorted a
 * few times at most, however often the file grows.
 *
 * Source: Linux's tools/perf/Documentation/jit-interface.txt.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/text.h"
#include "sym/perfmap.h"
#include "sys/regular.h"

enum {
	FILE_MOST = 64 * 1024 * 1024,
	PARTS_MOST = 1000 * 1000,
	LINE_MOST = 8 * 1024,	/* a longer one is none */
	CHUNK = 64 * 1024,
	LEVELS_MOST = 40,
	SLACK = 2,		/* seconds: clocks are coarse */
};

struct part {
	uint64_t start, end;
	uint32_t name;		/* where in names */
	uint32_t order;		/* the later line wins */
};

struct level {
	struct part *parts;
	size_t count, capacity;
};

struct perfmap {
	struct perfmap_task task;
	struct regular file;	/* the one that was read */
	uint64_t read;			/* so much of it, whole lines */
	struct text names;		/* each with a zero byte behind it */
	struct level levels[LEVELS_MOST];
	size_t level_count;
	const char *why;
};

struct perfmap *perfmap_open(const struct perfmap_task *task)
{
	struct perfmap *map = memory_new(1, sizeof(*map));

	map->task = *task;
	return map;
}

static void forget(struct perfmap *map)
{
	for (size_t i = 0; i < map->level_count; i++)
		free(map->levels[i].parts);
	memset(map->levels, 0, sizeof(map->levels));
	map->level_count = 0;
	map->names.length = 0;
	map->read = 0;
}

/* ---------------------------------------------------------------- a line */

/* Up to 16 hexadecimal digits of either case, `0x` before them or not. */
static bool parse_hex(const char **p, uint64_t *value)
{
	const char *at = *p;
	int digits = 0;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	*value = 0;
	for (;; at++, digits++) {
		int digit;

		if (*at >= '0' && *at <= '9')
			digit = *at - '0';
		else if ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f')
			digit = (*at | 0x20) - 'a' + 10;
		else
			break;
		if (digits == 16)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	*p = at;
	return digits;
}

static bool parse_line(const char *line, struct part *part, const char **name)
{
	uint64_t size;

	if (!parse_hex(&line, &part->start) || *line != ' ')
		return false;
	line += strspn(line, " ");
	if (!parse_hex(&line, &size) || *line != ' ')
		return false;
	*name = line + strspn(line, " ");
	part->end = part->start + size;
	return **name && part->end > part->start;
}

static void add_line(struct perfmap *map, struct level *level, char *line,
		     size_t length)
{
	struct part part = { .order = (uint32_t)level->count };
	const char *name;

	if (length && line[length - 1] == '\r')
		line[length - 1] = '\0';
	if (!parse_line(line, &part, &name))
		return;
	part.name = (uint32_t)map->names.length;
	text_add(&map->names, name, strlen(name) + 1);
	level->parts = memory_grow(level->parts, &level->capacity,
				   level->count + 1, sizeof(part));
	level->parts[level->count++] = part;
}

/* ------------------------------------------------- parts without overlap */

static int cmp_part(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Those that are open at a place, the latest first: a heap. */
struct heap {
	const struct part **parts;
	size_t count;
};

static void heap_push(struct heap *heap, const struct part *part)
{
	size_t at = heap->count++;

	while (at && heap->parts[(at - 1) / 2]->order < part->order) {
		heap->parts[at] = heap->parts[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->parts[at] = part;
}

static void heap_pop(struct heap *heap)
{
	const struct part *last = heap->parts[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && heap->parts[child + 1]->order >
					       heap->parts[child]->order)
			child++;
		if (heap->parts[child]->order <= last->order)
			break;
		heap->parts[at] = heap->parts[child];
		at = child;
	}
	heap->parts[at] = last;
}

static void emit(struct level *flat, const struct part *part, uint64_t from,
		 uint64_t to)
{
	struct part *last = flat->count ? &flat->parts[flat->count - 1] : NULL;

	if (last && last->name == part->name && last->end == from) {
		last->end = to;
		return;
	}
	flat->parts = memory_grow(flat->parts, &flat->capacity,
				  flat->count + 1, sizeof(*part));
	flat->parts[flat->count++] = (struct part){
		.start = from, .end = to, .name = part->name,
	};
}

/* Sorts a level's parts; where they overlap the one with the higher order stays. */
static void flatten(struct level *level)
{
	struct heap heap = {
		.parts = memory_new(level->count, sizeof(*heap.parts)),
	};
	struct level flat = { 0 };
	uint64_t at = 0, to;
	size_t next = 0;

	if (level->count)
		qsort(level->parts, level->count, sizeof(*level->parts),
		      cmp_part);
	while (heap.count || next < level->count) {
		if (!heap.count && level->parts[next].start > at)
			at = level->parts[next].start;
		while (next < level->count && level->parts[next].start <= at)
			heap_push(&heap, &level->parts[next++]);
		if (heap.parts[0]->end <= at) {
			heap_pop(&heap);
			continue;
		}
		to = heap.parts[0]->end;
		if (next < level->count && level->parts[next].start < to)
			to = level->parts[next].start;
		emit(&flat, heap.parts[0], at, to);
		at = to;
	}
	free(heap.parts);
	free(level->parts);
	*level = flat;
}

/* Joins the two last levels into one. */
static void join(struct perfmap *map)
{
	struct level *newer = &map->levels[--map->level_count];
	struct level *older = newer - 1;

	older->parts = memory_grow(older->parts, &older->capacity,
				   older->count + newer->count,
				   sizeof(*older->parts));
	memcpy(older->parts + older->count, newer->parts,
	       newer->count * sizeof(*newer->parts));
	older->count += newer->count;
	free(newer->parts);
	*newer = (struct level){ 0 };
	for (size_t i = 0; i < older->count; i++)
		older->parts[i].order = (uint32_t)i;
	flatten(older);
}

static void add_level(struct perfmap *map, struct level *level)
{
	if (!level->count)
		return;
	flatten(level);
	map->levels[map->level_count++] = *level;
	*level = (struct level){ 0 };
	while (map->level_count > 1 &&
	       (map->levels[map->level_count - 1].count * 2 >
		map->levels[map->level_count - 2].count ||
		map->level_count == LEVELS_MOST))
		join(map);
}

/* -------------------------------------------------------------- the file */

static size_t count_parts(const struct perfmap *map)
{
	size_t count = 0;

	for (size_t i = 0; i < map->level_count; i++)
		count += map->levels[i].count;
	return count;
}

/* Adds the whole lines among the bytes; how many bytes they are. */
static size_t add_lines(struct perfmap *map, struct level *level, char *data,
			size_t size)
{
	size_t done = 0;
	char *end;

	while ((end = memchr(data + done, '\n', size - done))) {
		*end = '\0';
		add_line(map, level, data + done,
			 (size_t)(end - (data + done)));
		done = (size_t)(end - data) + 1;
	}
	/* What cannot become a line: its end is read and is none, either. */
	if (size - done > LINE_MOST)
		done = size;
	return done;
}

static void read_on(struct perfmap *map, int fd)
{
	size_t before = count_parts(map), got;
	struct level level = { 0 };
	char *data = memory_new(CHUNK, 1);

	map->why = NULL;
	while ((got = file_read_at(fd, map->read, data, CHUNK))) {
		size_t done = add_lines(map, &level, data, got);

		if (!done)
			break;
		map->read += done;
		if (map->read > FILE_MOST ||
		    before + level.count > PARTS_MOST) {
			map->why = "larger than what is read of one";
			break;
		}
	}
	free(data);
	add_level(map, &level);
}

/* NULL if the file is to be believed, or why not. */
static const char *doubts(const struct perfmap *map,
			  const struct regular *file)
{
	if (file->owner != map->task.uid && file->owner)
		return "of another user";
	if (file->links != 1)
		return "has several names";
	if (file->changed + SLACK < map->task.started)
		return "older than the process";
	return NULL;
}

int perfmap_read(struct perfmap *map, int root)
{
	struct regular file;
	char path[64];
	int fd, error;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", map->task.pid);
	fd = regular_open_itself(root, path);
	if (fd == -EBADF || fd == -ELOOP) {
		map->why = "not a regular file";
		return -EPERM;
	}
	if (fd < 0)
		return fd;
	error = regular_stat(fd, &file);
	if (!error && (map->why = doubts(map, &file)))
		error = -EPERM;
	if (!error) {
		if (file.major != map->file.major ||
		    file.minor != map->file.minor ||
		    file.inode != map->file.inode || file.size < map->read)
			forget(map);
		map->file = file;
		if (map->read <= FILE_MOST && count_parts(map) <= PARTS_MOST)
			read_on(map, fd);
	}
	close(fd);
	return error;
}

static const struct part *find_in(const struct level *level, uint64_t address)
{
	size_t low = search_upto_u64(level->parts, level->count,
				     sizeof(*level->parts), address);

	return low && address < level->parts[low - 1].end ?
	       &level->parts[low - 1] : NULL;
}

const char *perfmap_find(const struct perfmap *map, uint64_t address)
{
	for (size_t i = map->level_count; i-- > 0;) {
		const struct part *part = find_in(&map->levels[i], address);

		if (part)
			return map->names.data + part->name;
	}
	return NULL;
}

const char *perfmap_why(const struct perfmap *map)
{
	return map->why;
}

size_t perfmap_memory(const struct perfmap *map)
{
	size_t size = sizeof(*map) + map->names.capacity;

	for (size_t i = 0; i < map->level_count; i++)
		size += map->levels[i].capacity * sizeof(struct part);
	return size;
}

void perfmap_close(struct perfmap *map)
{
	if (!map)
		return;
	forget(map);
	text_free(&map->names);
	free(map);
}
