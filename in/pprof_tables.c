/* SPDX-License-Identifier: MIT */
/*
 * pprof_tables: what the samples of a profile.proto refer to.
 *
 *	Profile   1 sample_type*  2 sample*  3 mapping*  4 location*
 *	          5 function*  6 string*  9 time  10 duration  11 period_type
 *	          12 period  13 comment*  14 default_sample_type
 *	Mapping   1 id  2 start  3 limit  4 offset  5 file  6 build_id
 *	Location  1 id  2 mapping  3 address  4 line*
 *	Line      1 function  2 line
 *	Function  1 id  2 name  3 system_name  4 file
 *	ValueType 1 type  2 unit
 *
 * Texts are numbers of strings.  Fields come in any order, and the strings often
 * last, so a first pass gathers and a second one looks up.  An id is any number
 * but 0, once; most writers count from 1, which is found without a search.
 *
 * Source: github.com/google/pprof, proto/profile.proto.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "in/pprof_tables.h"
#include "lib/log.h"
#include "lib/memory.h"

/* Of each kind; more is no profile of anything. */
enum { ITEMS_MOST = 8 << 20 };

enum { STRING_MOST = 1 << 16 };

int pprof_bad(const struct pprof *pprof, const char *format, ...)
{
	struct text text = { 0 };
	va_list args;

	va_start(args, format);
	text_vformat(&text, format, args);
	va_end(args);
	log_error("%s: pprof: %s", pprof->in->path, text.data);
	text_free(&text);
	return -EINVAL;
}

/* ------------------------------------------------------------------ tables */

static uint64_t id_at(const struct pprof_table *table, size_t position)
{
	uint64_t id;

	memcpy(&id, (const char *)table->items + position * table->size,
	       sizeof(id));
	return id;
}

static bool id_equal(const void *array, uint32_t position, const void *wanted)
{
	return id_at(array, position) == *(const uint64_t *)wanted;
}

void *pprof_find(const struct pprof_table *table, uint64_t id)
{
	size_t position = (size_t)(id - 1);

	if (!id || !table->count)
		return NULL;
	if (id - 1 >= table->count || id_at(table, position) != id) {
		position = index_find(&table->index,
				      index_hash(&id, sizeof(id)), id_equal,
				      table, &id);
		if (position == INDEX_NONE)
			return NULL;
	}
	return (char *)table->items + position * table->size;
}

static int table_add(struct pprof *pprof, struct pprof_table *table,
		     const char *what, const void *item, size_t size)
{
	uint64_t id;

	memcpy(&id, item, sizeof(id));
	if (!id)
		return pprof_bad(pprof, "a %s without a number", what);
	if (pprof_find(table, id))
		return pprof_bad(pprof, "%s %" PRIu64 " is there twice", what,
				 id);
	if (table->count == ITEMS_MOST)
		return pprof_bad(pprof, "too many %ss", what);
	table->size = size;
	table->items = memory_grow(table->items, &table->capacity,
				   table->count + 1, size);
	memcpy((char *)table->items + table->count * size, item, size);
	/* Those that count from 1 need no index. */
	if (id != table->count + 1)
		index_add(&table->index, index_hash(&id, sizeof(id)),
			  (uint32_t)table->count);
	table->count++;
	return 0;
}

/* ----------------------------------------------------------------- strings */

bool pprof_is(const struct pprof *pprof, uint64_t number, const char *text)
{
	size_t size = strlen(text);

	if (number >= pprof->string_count)
		return !size;
	return pprof->strings[number].size == size &&
	       (!size || !memcmp(pprof->strings[number].data, text, size));
}

char *pprof_string(struct pprof *pprof, uint64_t number)
{
	struct bytes bytes = { 0 };

	if (number < pprof->string_count)
		bytes = pprof->strings[number];
	if (bytes.size > STRING_MOST)
		bytes.size = STRING_MOST;
	pprof->copied += bytes.size;
	return memory_text(bytes.size ? (const char *)bytes.data : "",
			   bytes.size);
}

int pprof_check_copied(const struct pprof *pprof)
{
	return pprof->copied >> 32 ? pprof_bad(pprof, "too much text") : 0;
}

static int add_string(struct pprof *pprof, const struct wire_field *field)
{
	if (pprof->string_count == ITEMS_MOST)
		return pprof_bad(pprof, "too many strings");
	pprof->strings = memory_grow(pprof->strings, &pprof->string_capacity,
				     pprof->string_count + 1,
				     sizeof(*pprof->strings));
	pprof->strings[pprof->string_count++] = field->bytes;
	return 0;
}

/* ---------------------------------------------------------------- messages */

int pprof_numbers(const struct wire_field *field, void *context,
		  void (*take)(void *context, uint64_t value))
{
	struct bytes rest = field->bytes;
	uint64_t value;
	int got;

	if (field->type == WIRE_VARINT)
		take(context, field->value);
	if (field->type == WIRE_VARINT)
		return 0;
	if (field->type != WIRE_BYTES)
		return -EINVAL;
	while ((got = wire_next_varint(&rest, &value)) == 1)
		take(context, value);
	return got;
}

/*
 * The numbers of a message, by field, to values[field] below `count`; what is
 * not a number is left.  0 or -EINVAL.
 */
static int read_numbers(struct bytes message, uint64_t *values, size_t count)
{
	struct wire_field field;
	int got;

	memset(values, 0, count * sizeof(*values));
	while ((got = wire_next(&message, &field)) == 1)
		if (field.number < count && field.type == WIRE_VARINT)
			values[field.number] = field.value;
	return got;
}

static int damaged(const struct pprof *pprof, const char *what)
{
	return pprof_bad(pprof, "a %s is damaged or cut short", what);
}

static int add_mapping(struct pprof *pprof, struct bytes message)
{
	struct pprof_mapping mapping;
	uint64_t values[7];

	if (read_numbers(message, values, 7))
		return damaged(pprof, "mapping");
	mapping = (struct pprof_mapping){
		values[1], values[2], values[4], values[5], values[6],
	};
	return table_add(pprof, &pprof->mappings, "mapping", &mapping,
			 sizeof(mapping));
}

static int add_function(struct pprof *pprof, struct bytes message)
{
	struct pprof_function function;
	uint64_t values[5];

	if (read_numbers(message, values, 5))
		return damaged(pprof, "function");
	function = (struct pprof_function){
		values[1], values[2], values[3], values[4],
	};
	return table_add(pprof, &pprof->functions, "function", &function,
			 sizeof(function));
}

static int add_line(struct pprof *pprof, struct pprof_location *location,
		    struct bytes message)
{
	uint64_t values[2];

	if (read_numbers(message, values, 2))
		return damaged(pprof, "line");
	if (pprof->line_count == 2 * (size_t)ITEMS_MOST)
		return pprof_bad(pprof, "too many lines");
	pprof->lines = memory_grow(pprof->lines, &pprof->line_capacity,
				   pprof->line_count + 1,
				   sizeof(*pprof->lines));
	pprof->lines[pprof->line_count++] = values[1];
	location->count++;
	return 0;
}

static int add_location(struct pprof *pprof, struct bytes message)
{
	struct pprof_location location = { .from = pprof->line_count };
	struct bytes rest = message;
	struct wire_field field;
	uint64_t values[4];
	int error;

	if (read_numbers(message, values, 4))
		return damaged(pprof, "location");
	location.id = values[1];
	location.mapping = values[2];
	location.address = values[3];
	while (wire_next(&rest, &field) == 1) {
		if (field.number != 4 || field.type != WIRE_BYTES)
			continue;
		error = add_line(pprof, &location, field.bytes);
		if (error)
			return error;
	}
	return table_add(pprof, &pprof->locations, "location", &location,
			 sizeof(location));
}

static int add_type(struct pprof *pprof, struct bytes message)
{
	uint64_t values[3];

	if (read_numbers(message, values, 3))
		return damaged(pprof, "sample type");
	if (pprof->type_count == 1000)
		return pprof_bad(pprof, "too many sample types");
	pprof->types = memory_grow(pprof->types, &pprof->type_capacity,
				   pprof->type_count + 1,
				   sizeof(*pprof->types));
	pprof->types[pprof->type_count++] = (struct pprof_type){
		values[1], values[2],
	};
	return 0;
}

static void take_comment(void *context, uint64_t value)
{
	struct pprof *pprof = context;

	if (pprof->comment_count == 1000)
		return;
	pprof->comments = memory_grow(pprof->comments,
				      &pprof->comment_capacity,
				      pprof->comment_count + 1,
				      sizeof(*pprof->comments));
	pprof->comments[pprof->comment_count++] = value;
}

static int read_message(struct pprof *pprof, const struct wire_field *field)
{
	uint64_t values[3];

	switch (field->number) {
	case 1:
		return add_type(pprof, field->bytes);
	case 2:
		pprof->samples++;
		return 0;
	case 3:
		return add_mapping(pprof, field->bytes);
	case 4:
		return add_location(pprof, field->bytes);
	case 5:
		return add_function(pprof, field->bytes);
	case 6:
		return add_string(pprof, field);
	case 11:
		if (read_numbers(field->bytes, values, 3))
			return damaged(pprof, "period type");
		pprof->period_type = (struct pprof_type){
			values[1], values[2],
		};
		return 0;
	default:
		return 0;
	}
}

static void read_number(struct pprof *pprof, const struct wire_field *field)
{
	switch (field->number) {
	case 9:
		pprof->time = field->value;
		break;
	case 10:
		pprof->duration = field->value;
		break;
	case 12:
		pprof->period = field->value;
		break;
	case 14:
		pprof->default_type = field->value;
		break;
	}
}

int pprof_read_tables(struct pprof *pprof)
{
	struct bytes rest = pprof->all;
	struct wire_field field;
	int got, error = 0;

	while (!error && (got = wire_next(&rest, &field)) != 0) {
		if (got < 0)
			return pprof_bad(pprof, "byte %zu: damaged or cut "
					 "short", pprof->all.size - rest.size);
		if (field.number == 13)
			error = pprof_numbers(&field, pprof, take_comment) ?
				damaged(pprof, "comment") : 0;
		else if (field.type == WIRE_BYTES)
			error = read_message(pprof, &field);
		else if (field.type == WIRE_VARINT)
			read_number(pprof, &field);
	}
	if (!error && pprof->samples && !pprof->type_count)
		error = pprof_bad(pprof, "samples, but no sample type");
	return error;
}

void pprof_free_tables(struct pprof *pprof)
{
	struct pprof_table *tables[] = {
		&pprof->mappings, &pprof->functions, &pprof->locations,
	};

	for (size_t i = 0; i < 3; i++) {
		free(tables[i]->items);
		index_free(&tables[i]->index);
	}
	free(pprof->strings);
	free(pprof->lines);
	free(pprof->frames);
	free(pprof->types);
	free(pprof->comments);
}
