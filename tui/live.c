/* SPDX-License-Identifier: MIT */
/*
 * live: the hottest functions, drawn where the last drawing was.
 *
 *	12 s, 2376 samples at 99 Hz, 1.63 of 2 CPUs busy, 0 lost; Ctrl-C ends
 *	  now%    all%          functions
 *	  20.7    23.1 ████████ parse_expression            libfoo.so
 *	  ...
 *	now: gcc 45.2 %, dd 30.1 %
 *	_					the cursor rests here
 *
 * To draw again the cursor goes up as many rows as were drawn; nothing above them
 * is touched, and nothing scrolls.  Lines that are as they were are stepped over:
 * a serial line has a thousand bytes a second.
 *
 * The terminal is opened once more, so that a write takes what goes at once.  What
 * does not is kept for the next time; until it has gone, no more is drawn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "out/sheet.h"
#include "sys/system.h"
#include "tui/heat.h"
#include "tui/live.h"

enum {
	ROWS_LEAST = 3, FUNCTIONS = 10, LINES_MOST = FUNCTIONS + 3,
	NUMBERS = 15, BAR = 8, ORIGIN_MOST = 20, NAME_MOST = 80,
};

/* Nobody came by for so long, in ns: we were stopped, and others drew. */
static const uint64_t STOPPED = 2500000000;

struct live {
	struct heat heat;
	struct terminal terminal;
	int fd;			/* the terminal, opened once more */
	char *drawn[LINES_MOST];	/* what stands there, by lines */
	size_t drawn_columns[LINES_MOST];
	size_t drawn_count;
	size_t name;		/* columns for names: so that it stands still */
	struct text pending;	/* what is to be written, from `written` on */
	size_t written;
	uint64_t last;		/* when it was drawn or tried */
	uint64_t time;		/* of the last look, since the start */
};

/* ------------------------------------------------------------------ writing */

/* What goes without waiting; whether that was all. */
static bool flush(struct live *live)
{
	struct text *pending = &live->pending;

	while (live->written < pending->length) {
		long wrote = terminal_write(live->fd,
					    pending->data + live->written,
					    pending->length - live->written);

		if (wrote <= 0)
			return false;
		live->written += (size_t)wrote;
	}
	pending->length = live->written = 0;
	return true;
}

static void forget(struct live *live)
{
	for (size_t i = 0; i < live->drawn_count; i++)
		free(live->drawn[i]);
	live->drawn_count = 0;
}

/* How many rows it takes now: a narrower terminal breaks lines anew. */
static size_t rows_drawn(const struct live *live)
{
	size_t columns = live->terminal.columns, rows = 0;

	for (size_t i = 0; i < live->drawn_count; i++)
		rows += live->drawn_columns[i] <= columns ? 1 :
			(live->drawn_columns[i] + columns - 1) / columns;
	return rows < live->terminal.rows ? rows : live->terminal.rows - 1;
}

static void go_up(struct live *live)
{
	size_t rows = rows_drawn(live);

	text_add(&live->pending, "\r", 1);
	if (rows)
		text_format(&live->pending, "\033[%zuA", rows);
}

/*
 * Before a message, and in the end: what was drawn goes, whoever comes next has
 * its place.  Here is waited for the terminal, as who comes next will.
 */
static void erase(void *context)
{
	struct live *live = context;
	struct text *pending = &live->pending;

	if (live->drawn_count) {
		go_up(live);
		text_add(pending, "\033[J", 3);
	}
	forget(live);
	if (!flush(live))
		terminal_write_all(STDOUT_FILENO,
				   pending->data + live->written,
				   pending->length - live->written);
	pending->length = live->written = 0;
}

/* ------------------------------------------------------------------ drawing */

static void add_state(struct live *live, struct sheet *sheet,
		      const struct live_state *state)
{
	const struct heat *heat = &live->heat;
	struct text text = { 0 };

	text_format(&text, "%.0f s, %" PRIu64 " samples",
		    (double)state->time / 1e9, state->samples);
	if (state->event)
		text_format(&text, " of %s", state->event);
	else
		text_format(&text, " at %" PRIu64 " Hz", state->hz);
	if (state->period && heat->time_now > 0)
		text_format(&text, ", %.2f of %zu CPU%s busy",
			    heat->busy_now * (double)state->period /
			    heat->time_now, state->cpus,
			    state->cpus == 1 ? "" : "s");
	text_format(&text, ", %" PRIu64 " lost; Ctrl-C ends", state->lost);
	sheet_cut(sheet, SHEET_HEAD, text.data, sheet->terminal.columns - 1);
	text_free(&text);
}

static const char *origin_of(struct text *text,
			     const struct heat_function *function)
{
	return sheet_origin(text, function->kind, function->image);
}

static void add_function(struct live *live, struct sheet *sheet,
			 const struct heat_function *function, size_t name)
{
	const struct heat *heat = &live->heat;
	size_t left = sheet->terminal.columns - 1 - NUMBERS - BAR - 1, used;
	struct text text = { 0 };
	const char *origin = origin_of(&text, function);

	sheet_words(sheet, SHEET_PLAIN, "%6.1f  %6.1f ", heat->busy_now > 0 ?
		    100 * function->now / heat->busy_now : 0,
		    100 * (double)function->samples / (double)heat->busy);
	sheet_bar(sheet, sheet_bar_style(function->kind), function->now /
		  heat->functions[0]->now, BAR);
	sheet_space(sheet, 1);
	used = sheet_function(sheet, function->kind, function->name, name);
	if (*origin) {
		sheet_space(sheet, name + 2 - used);
		sheet_name(sheet, SHEET_DIM, origin, left - name - 2);
	}
	text_free(&text);
}

/* As wide as the widest so far, and at most what is left by origins. */
static size_t name_width(struct live *live, const struct sheet *sheet,
			 size_t count)
{
	size_t left = sheet->terminal.columns - 1 - NUMBERS - BAR - 1 - 2;
	size_t name = 0, origin = 0;
	struct text text = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct heat_function *function =
			live->heat.functions[i];
		size_t columns = sheet_function_columns(sheet, function->kind,
							function->name);

		name = columns > name ? columns : name;
		columns = sheet_name_columns(sheet, origin_of(&text, function));
		origin = columns > origin ? columns : origin;
	}
	text_free(&text);
	origin = origin < ORIGIN_MOST ? origin : ORIGIN_MOST;
	left = left - origin < NAME_MOST ? left - origin : NAME_MOST;
	live->name = name > live->name ? name : live->name;
	return live->name < left ? live->name : left;
}

static void add_threads(struct live *live, struct sheet *sheet)
{
	const struct heat *heat = &live->heat;
	struct text text = { 0 };

	text_format(&text, "now:");
	for (size_t i = 0; i < heat->thread_count && i < 8; i++)
		text_format(&text, "%s %s %.1f %%", i ? "," : "",
			    heat->profile->names.text[heat->threads[i]->comm],
			    100 * heat->threads[i]->now / heat->busy_now);
	/* Cut off at the end, as the first ones are what matters. */
	sheet_cut(sheet, SHEET_DIM, text.data, sheet->terminal.columns - 1);
	text_free(&text);
}

/* All lines into the sheet; returns how many. */
static size_t make_lines(struct live *live, struct sheet *sheet,
			 const struct live_state *state)
{
	const struct heat *heat = &live->heat;
	size_t room = live->terminal.rows - 1, lines = 1, count, name;

	add_state(live, sheet, state);
	count = heat->function_count < FUNCTIONS ? heat->function_count :
						   FUNCTIONS;
	if (room < 4 || !count)
		return lines;
	if (count > room - 3)
		count = room - 3;
	name = name_width(live, sheet, count);
	sheet_line(sheet);
	sheet_words(sheet, SHEET_HEAD, "  now%%    all%%          functions");
	for (size_t i = 0; i < count; i++) {
		sheet_line(sheet);
		add_function(live, sheet, heat->functions[i], name);
	}
	sheet_line(sheet);
	add_threads(live, sheet);
	return lines + count + 2;
}

/* One line in its place, if it is not there already. */
static void put_line(struct live *live, size_t i, const char *line,
		     size_t length, bool again)
{
	struct text *pending = &live->pending;
	char *copy = memory_text(line, length);

	if (again && i < live->drawn_count && !strcmp(live->drawn[i], copy)) {
		free(copy);
	} else {
		text_add(pending, line, length);
		text_add(pending, "\033[K", 3);
		if (i < live->drawn_count)
			free(live->drawn[i]);
		live->drawn[i] = copy;
		live->drawn_columns[i] = sheet_columns(copy);
	}
	text_add(pending, "\r\n", 2);
}

/* The whole drawing becomes what is pending. */
static void put_lines(struct live *live, const struct sheet *sheet,
		      size_t count, bool again)
{
	const char *line = sheet->text.data;

	/* A name that is wider than it seems must not break its line. */
	text_format(&live->pending, "\033[?7l");
	go_up(live);
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(line, "\n");

		put_line(live, i, line, length, again);
		line += length + 1;
	}
	text_format(&live->pending, "\033[J\033[?7h");
	for (size_t i = count; i < live->drawn_count; i++)
		free(live->drawn[i]);
	live->drawn_count = count;
}

/* Whether now is the time to draw; if not, what was drawn may be lost. */
static bool is_ready(struct live *live)
{
	uint64_t now = system_now();
	bool stopped = now - live->last > STOPPED;

	live->last = now;
	if (!terminal_can_redraw(STDOUT_FILENO)) {
		forget(live);
		return false;
	}
	if (stopped)
		forget(live);
	return flush(live);
}

void live_draw(struct live *live, const struct live_state *state)
{
	struct sheet sheet = { 0 };
	unsigned int columns = live->terminal.columns;
	size_t count;

	heat_look(&live->heat, state->time - live->time);
	live->time = state->time;
	if (!is_ready(live))
		return;
	terminal_look(&live->terminal, STDOUT_FILENO);
	if (live->terminal.rows < ROWS_LEAST)
		return;
	sheet.terminal = live->terminal;
	count = make_lines(live, &sheet, state);
	put_lines(live, &sheet, count, columns == live->terminal.columns);
	text_free(&sheet.text);
	flush(live);
}

struct live *live_open(struct profile *profile)
{
	struct live *live;
	int fd;

	if (!terminal_can_redraw(STDOUT_FILENO) ||
	    !system_is_terminal(STDERR_FILENO))
		return NULL;
	fd = terminal_open(STDOUT_FILENO);
	if (fd < 0)
		return NULL;
	live = memory_new(1, sizeof(*live));
	live->fd = fd;
	live->last = system_now();
	heat_new(&live->heat, profile);
	terminal_look(&live->terminal, STDOUT_FILENO);
	log_watch(erase, live);
	return live;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	log_watch(NULL, NULL);
	erase(live);
	heat_free(&live->heat);
	text_free(&live->pending);
	close(live->fd);
	free(live);
}
