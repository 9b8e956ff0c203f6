/* SPDX-License-Identifier: MIT */
/*
 * tables: the rows of files, put where the walker in the kernel finds them.
 *
 *	file 7 ──> parts[part .. part + parts)     { pc of its first row, chunk }
 *	                          │
 *	                          └──> rows[chunk].at[0..1023]
 *
 * A file's rows come in the order of their pc and fill chunk after chunk; what
 * is left of the last one is filled with a pc that none is behind.  Chunks and
 * parts are given out one after the other, and none is given back alone: a file's
 * table does not change, and is wanted again.  When there is no more room, all are
 * forgotten, and those that are still wanted are made anew.
 *
 * The map `rows` begins small, as its memory is taken when it is made.  When it
 * is full a larger one is made, the chunks are copied, and the walker is loaded
 * anew with the new map in its instructions.
 *
 * Of this memory only what is read or written is mapped here, for as long as
 * that takes: mapped pages count as ours.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/file.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "sys/ringbuf.h"
#include "sys/system.h"
#include "unwind/cfi.h"
#include "unwind/tables.h"

enum {
	WINDOW_CHUNKS = 8,	/* mapped at once: 64 KB */
	WINDOWS = 16,
	PAGE = 4096,
};

#define WINDOW_BYTES (WINDOW_CHUNKS * sizeof(struct unwind_chunk))

struct tables {
	struct loader *loader;
	struct files *files;
	uint32_t chunks, chunks_most, chunks_used;
	int (*grow)(void *context);
	void *context;

	struct table *tables;
	size_t count, capacity;
	uint32_t *of_file;	/* position + 1 in tables[]; 0: none */
	size_t of_file_capacity;

	struct unwind_part *parts;	/* a copy of the map's */
	size_t part_count, part_capacity;

	struct window {
		struct unwind_chunk *chunks;	/* NULL: not mapped */
		uint32_t first;
	} windows[WINDOWS];
	bool full, tight;	/* no room: ever; since all was forgotten */
	size_t rows;
	uint64_t ns;

	/* The table that is being made. */
	struct table making;
	uint32_t fill;		/* rows in its last chunk */
	bool failed;
};

struct tables *tables_new(struct loader *loader, struct files *files,
			  uint32_t chunks, int (*grow)(void *context),
			  void *context)
{
	struct tables *tables = memory_new(1, sizeof(*tables));

	tables->loader = loader;
	tables->files = files;
	tables->chunks = loader_entries(loader, "rows");
	tables->chunks_most = chunks;
	tables->grow = grow;
	tables->context = context;
	return tables;
}

/* ---------------------------------------------------------------- memory */

static void close_window(struct window *window)
{
	array_unmap(window->chunks, WINDOW_BYTES);
	window->chunks = NULL;
}

void tables_release(struct tables *tables)
{
	for (size_t i = 0; i < WINDOWS; i++)
		close_window(&tables->windows[i]);
}

/* A chunk, valid until another one is asked for; NULL if it cannot be mapped. */
static struct unwind_chunk *chunk_at(struct tables *tables, uint32_t number)
{
	uint32_t first = number / WINDOW_CHUNKS * WINDOW_CHUNKS;
	struct window *window =
		&tables->windows[number / WINDOW_CHUNKS % WINDOWS];

	if (window->chunks && window->first != first)
		close_window(window);
	if (!window->chunks) {
		window->first = first;
		window->chunks = array_map(
			loader_map_fd(tables->loader, "rows"),
			first * sizeof(struct unwind_chunk), WINDOW_BYTES);
	}
	return window->chunks ? &window->chunks[number - first] : NULL;
}

/* From the map behind `old` to the one that took its place. */
static bool copy_chunks(struct tables *tables, int old)
{
	for (uint32_t i = 0; i < tables->chunks_used; i += WINDOW_CHUNKS) {
		void *from = array_map(old, i * sizeof(struct unwind_chunk),
				       WINDOW_BYTES);
		struct unwind_chunk *to = chunk_at(tables, i);

		if (from && to)
			memcpy(to, from, WINDOW_BYTES);
		array_unmap(from, WINDOW_BYTES);
		if (!from || !to)
			return false;
	}
	return true;
}

/* Twice as many chunks.  The old ones are used until the new ones are there. */
static bool make_room(struct tables *tables)
{
	uint32_t more = tables->chunks * 2;
	int old;

	if (more > tables->chunks_most)
		more = tables->chunks_most;
	if (more <= tables->chunks)
		return false;
	tables_release(tables);
	old = dup(loader_map_fd(tables->loader, "rows"));
	if (old < 0)
		return false;
	if (loader_renew(tables->loader, "rows", more) ||
	    !copy_chunks(tables, old) || tables->grow(tables->context)) {
		close(old);
		tables_release(tables);
		return false;
	}
	close(old);
	tables->chunks = more;
	return true;
}

/* Writes parts[from .. part_count) to the map. */
static bool write_parts(struct tables *tables, size_t from)
{
	size_t first = from * sizeof(struct unwind_part) / PAGE * PAGE;
	size_t end = tables->part_count * sizeof(struct unwind_part);
	size_t bytes = (end - first + PAGE - 1) / PAGE * PAGE;
	char *data = array_map(loader_map_fd(tables->loader, "parts"), first,
			       bytes);

	if (!data)
		return false;
	memcpy(data + (from * sizeof(struct unwind_part) - first),
	       tables->parts + from,
	       (tables->part_count - from) * sizeof(struct unwind_part));
	array_unmap(data, bytes);
	return true;
}

/* ----------------------------------------------------------- making a table */

static bool begin_chunk(struct tables *tables, uint32_t pc)
{
	if (tables->part_count == PARTS_MOST ||
	    tables->making.parts == PARTS_OF_FILE ||
	    (tables->chunks_used == tables->chunks && !make_room(tables)))
		return false;
	tables->parts = memory_grow(tables->parts, &tables->part_capacity,
				    tables->part_count + 1,
				    sizeof(*tables->parts));
	tables->parts[tables->part_count++] = (struct unwind_part){
		.pc = pc, .chunk = tables->chunks_used++,
	};
	tables->making.parts++;
	tables->fill = 0;
	return true;
}

/* The chunk that is being filled. */
static struct unwind_chunk *last_chunk(struct tables *tables)
{
	return chunk_at(tables, tables->parts[tables->part_count - 1].chunk);
}

/* A cfi_add. */
static bool add_row(void *context, const struct unwind_row *row)
{
	struct tables *tables = context;
	struct unwind_chunk *chunk;

	if ((!tables->making.parts || tables->fill == ROWS_IN_CHUNK) &&
	    !begin_chunk(tables, row->pc)) {
		tables->failed = true;
		return false;
	}
	chunk = last_chunk(tables);
	if (!chunk) {
		tables->failed = true;
		return false;
	}
	chunk->at[tables->fill++] = *row;
	tables->making.rows++;
	return true;
}

static void end_chunk(struct tables *tables)
{
	struct unwind_chunk *chunk = last_chunk(tables);

	if (!chunk) {
		tables->failed = true;
		return;
	}
	while (tables->fill < ROWS_IN_CHUNK)
		chunk->at[tables->fill++] = (struct unwind_row){ .pc = PC_NONE };
}

static void take_segments(struct table *table, const struct elf_file *file)
{
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct elf_file_segment *segment = &file->segments[i];

		if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
		    table->segment_count == 8)
			continue;
		table->segments[table->segment_count++] =
			(struct table_segment){
				segment->offset, segment->file_size,
				segment->address,
			};
	}
}

static void make(struct tables *tables, const struct elf_file *file)
{
	size_t part = tables->part_count;
	uint32_t chunks = tables->chunks_used;

	tables->failed = false;
	tables->making.part = (uint32_t)part;
	tables->making.base = cfi_base(file);
	take_segments(&tables->making, file);
	cfi_rows(file, add_row, tables);
	if (tables->making.parts && !tables->failed)
		end_chunk(tables);
	if (tables->making.parts && !tables->failed &&
	    !write_parts(tables, part))
		tables->failed = true;
	if (tables->failed) {
		tables->part_count = part;
		tables->chunks_used = chunks;
		tables->making.parts = 0;
		tables->making.rows = 0;
		tables->full = tables->tight = true;
	}
	tables->rows += tables->making.rows;
}

static void remember(struct tables *tables, uint32_t file)
{
	size_t before = tables->of_file_capacity;

	tables->of_file = memory_grow(tables->of_file,
				      &tables->of_file_capacity, file + 1,
				      sizeof(*tables->of_file));
	memset(tables->of_file + before, 0,
	       (tables->of_file_capacity - before) * sizeof(*tables->of_file));
	tables->tables = memory_grow(tables->tables, &tables->capacity,
				     tables->count + 1,
				     sizeof(*tables->tables));
	tables->tables[tables->count++] = tables->making;
	tables->of_file[file] = (uint32_t)tables->count;
}

const struct table *tables_get(struct tables *tables, uint32_t file,
			       const struct file_user *user)
{
	uint64_t begin = system_cpu_time();
	struct elf_file elf;
	struct input input;
	const char *why;
	int fd;

	if (file < tables->of_file_capacity && tables->of_file[file])
		return &tables->tables[tables->of_file[file] - 1];
	if (files_kind(tables->files, file) == FILE_MEMORY ||
	    files_open(tables->files, file, user) != FILE_OPEN)
		return NULL;
	fd = files_fd(tables->files, file);
	if (fd < 0 || input_file(&input, fd))
		return NULL;
	/* Its number has to stay its own. */
	files_pin(tables->files, file);
	tables->making = (struct table){ .file = file };
	if (!elf_file_open(&elf, &input, &why))
		make(tables, &elf);
	elf_file_close(&elf);
	remember(tables, file);
	tables->ns += system_cpu_time() - begin;
	return &tables->tables[tables->count - 1];
}

/* ------------------------------------------------------------------ reading */

bool table_bias(const struct table *table, uint64_t start, uint64_t offset,
		uint64_t *bias)
{
	for (size_t i = 0; i < table->segment_count; i++) {
		const struct table_segment *segment = &table->segments[i];
		uint64_t page = segment->offset & ~(uint64_t)(PAGE - 1);

		/* Mappings begin at whole pages, segments anywhere. */
		if (offset < page || offset >= segment->offset + segment->size)
			continue;
		*bias = start - offset +
			(segment->offset - segment->address) + table->base;
		return true;
	}
	return false;
}

/* The last part that begins at or before pc. */
static const struct unwind_part *part_of(const struct tables *tables,
					 const struct table *table,
					 uint32_t pc)
{
	const struct unwind_part *parts = tables->parts + table->part;
	size_t low = search_upto_u32(parts, table->parts, sizeof(*parts), pc);

	return low ? &parts[low - 1] : NULL;
}

bool tables_row(struct tables *tables, const struct table *table, uint32_t pc,
		struct unwind_row *row)
{
	const struct unwind_part *part = part_of(tables, table, pc);
	const struct unwind_chunk *chunk;
	size_t low;

	if (!part || !(chunk = chunk_at(tables, part->chunk)))
		return false;
	low = search_upto_u32(chunk->at, ROWS_IN_CHUNK, sizeof(*chunk->at), pc);
	if (!low)
		return false;
	*row = chunk->at[low - 1];
	return true;
}

bool tables_code(struct tables *tables, uint32_t file,
		 const struct file_user *user, uint64_t end, uint64_t *word)
{
	struct input input;

	return files_kind(tables->files, file) == FILE_PLAIN &&
	       files_open(tables->files, file, user) == FILE_OPEN &&
	       !input_file(&input, files_fd(tables->files, file)) &&
	       input_copy(&input, end - sizeof(*word), word, sizeof(*word));
}

bool tables_full(const struct tables *tables)
{
	return tables->full;
}

bool tables_tight(const struct tables *tables)
{
	return tables->tight;
}

void tables_forget(struct tables *tables)
{
	tables_release(tables);
	if (tables->of_file)
		memset(tables->of_file, 0, tables->of_file_capacity *
					   sizeof(*tables->of_file));
	tables->count = tables->part_count = 0;
	tables->chunks_used = 0;
	tables->tight = false;
}

struct tables_cost tables_cost(const struct tables *tables)
{
	return (struct tables_cost){
		.files = tables->count, .rows = tables->rows,
		.bytes = (uint64_t)tables->chunks *
			 sizeof(struct unwind_chunk),
		.ns = tables->ns,
	};
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	tables_release(tables);
	free(tables->tables);
	free(tables->of_file);
	free(tables->parts);
	free(tables);
}
