/* SPDX-License-Identifier: MIT */
/* meta: how a profile came to be, for outputs. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "meta.h"

void meta_set(char **to, const char *text)
{
	struct text safe = { 0 };

	free(*to);
	*to = NULL;
	if (!text)
		return;
	text_safe(&safe, text);
	*to = safe.data ? safe.data : memory_text("", 0);
}

static void add_line(struct meta *meta, enum meta_kind kind,
		     const char *format, va_list args)
{
	struct meta_line line = { .kind = kind };
	struct text text = { 0 };

	text_vformat(&text, format, args);
	meta_set(&line.text, text.data ? text.data : "");
	text_free(&text);
	meta->lines = memory_grow(meta->lines, &meta->line_capacity,
				  meta->line_count + 1, sizeof(line));
	meta->lines[meta->line_count++] = line;
}

void meta_note(struct meta *meta, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(meta, META_NOTE, format, args);
	va_end(args);
}

void meta_warning(struct meta *meta, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(meta, META_WARNING, format, args);
	va_end(args);
}

void meta_advice(struct meta *meta, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(meta, META_ADVICE, format, args);
	va_end(args);
}

void meta_tell(const struct meta *meta)
{
	for (size_t i = 0; i < meta->line_count; i++) {
		const char *text = meta->lines[i].text;

		switch (meta->lines[i].kind) {
		case META_NOTE:
			log_note("%s", text);
			break;
		case META_WARNING:
			log_warning("%s", text);
			break;
		case META_ADVICE:
			log_advice("%s", text);
			break;
		}
	}
}

void meta_free(struct meta *meta)
{
	if (meta->before)
		meta_free(meta->before);
	free(meta->before);
	free(meta->program);
	free(meta->command);
	free(meta->host);
	free(meta->kernel);
	free(meta->source);
	free(meta->event);
	free(meta->type);
	free(meta->unit);
	for (size_t i = 0; i < meta->line_count; i++)
		free(meta->lines[i].text);
	free(meta->lines);
	*meta = (struct meta){ 0 };
}
