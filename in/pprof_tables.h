/* SPDX-License-Identifier: MIT */
#ifndef IN_PPROF_TABLES_H
#define IN_PPROF_TABLES_H

#include "in/in.h"
#include "lib/index.h"
#include "lib/wire.h"

/* Elements of which each begins with its number, a uint64_t. */
struct pprof_table {
	void *items;
	size_t size, count, capacity;	/* size: of an element */
	struct index index;
};

/* Texts are numbers of strings. */
struct pprof_mapping {
	uint64_t id, start, offset, file, build_id;
};

struct pprof_function {
	uint64_t id, name, system_name, file;
};

struct pprof_location {
	uint64_t id, mapping, address;
	size_t from;		/* in lines[], and later in frames[] */
	uint32_t count;		/* functions, innermost first */
};

struct pprof_type {
	uint64_t type, unit;
};

/* What samples refer to, as it stands in the file. */
struct pprof {
	struct in *in;
	struct bytes all;

	struct bytes *strings;
	size_t string_count, string_capacity;
	struct pprof_table mappings, functions, locations;
	uint64_t *lines;	/* functions of all locations */
	uint32_t *frames;	/* the same as frames; of a location without
				   functions, its address */
	size_t line_count, line_capacity, frame_count, frame_capacity;

	struct pprof_type *types, period_type;
	size_t type_count, type_capacity;
	uint64_t *comments;
	size_t comment_count, comment_capacity;
	uint64_t default_type, period, time, duration;
	uint64_t samples;	/* how many messages there are */
	uint64_t copied;	/* bytes of strings, again and again */
};

/* Reads all but the samples.  0, or -errno after a message. */
int pprof_read_tables(struct pprof *pprof);
void pprof_free_tables(struct pprof *pprof);

/* Makes the frames of all locations.  0, or -errno after a message. */
int pprof_make_frames(struct pprof *pprof);

/* The element with this number, or NULL. */
void *pprof_find(const struct pprof_table *table, uint64_t id);

/* Whether string `number` is `text`; one that is not there is "". */
bool pprof_is(const struct pprof *pprof, uint64_t number, const char *text);

/*
 * String `number`, to be freed; zero bytes in it end it, and so do 64 KB.  What
 * is copied is counted: a string can be asked for without end.
 */
char *pprof_string(struct pprof *pprof, uint64_t number);

/* -EINVAL after a message once strings of 4 GB were copied. */
int pprof_check_copied(const struct pprof *pprof);

/* Tells that the file is damaged; -EINVAL. */
int pprof_bad(const struct pprof *pprof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Calls `take` for each number of a field that is a list of them, packed or
 * not.  0 or -errno.
 */
int pprof_numbers(const struct wire_field *field, void *context,
		  void (*take)(void *context, uint64_t value));

#endif
