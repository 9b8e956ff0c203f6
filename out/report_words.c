/* SPDX-License-Identifier: MIT */
/* report_words: the report's head and its end: what was sampled, and how well. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text.h"
#include "out/report_parts.h"

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* --------------------------------------------------------------------- head */

static void add_part(struct text *text, const char *words)
{
	if (words && *words)
		text_format(text, "%s%s", text->length ? ", " : "", words);
}

static void head_machine(struct report *report)
{
	const struct meta *meta = report->meta;
	time_t seconds = (time_t)(meta->time / 1000000000);
	struct text text = { 0 };
	char when[32];
	struct tm tm;

	add_part(&text, meta->host);
	add_part(&text, meta->kernel);
	if (meta->time && gmtime_r(&seconds, &tm) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
		add_part(&text, when);
	if (text.length)
		sheet_lines(&report->sheet, SHEET_HEAD, text.data, 0, 2);
	text_free(&text);
}

/* Of a recording: which it is, and how it was made. */
static void head_source(struct report *report)
{
	const struct meta *meta = report->meta;
	struct text text = { 0 };

	if (!meta->source)
		return;
	if (meta->before && meta->before->source)
		text_format(&text, "%s -> %s", meta->before->source,
			    meta->source);
	else
		text_format(&text, "%s%s%s", meta->source,
			    meta->command ? ": " : "",
			    meta->command ? meta->command : "");
	sheet_lines(&report->sheet, SHEET_DIM, text.data, 0, 2);
	text_free(&text);
}

/* "3960 samples", "1.25 s of cpu", "17 bytes of space". */
static void add_amount(struct text *text, const struct meta *meta,
		       uint64_t amount)
{
	const char *type = meta->type ? meta->type : "samples";
	const char *unit = meta->unit ? meta->unit : "count";

	if (!strcmp(unit, "nanoseconds"))
		text_format(text, "%.2f s of %s", (double)amount / 1e9, type);
	else if (!strcmp(unit, "count") && !strcmp(type, "samples"))
		text_format(text, "%" PRIu64 " sample%s", amount,
			    amount == 1 ? "" : "s");
	else if (!strcmp(unit, "count"))
		text_format(text, "%" PRIu64 " %s", amount, type);
	else
		text_format(text, "%" PRIu64 " %s of %s", amount, unit, type);
}

/* "10.0 s on 2 CPUs at 199 Hz: 3960 samples" */
static void add_run(struct text *text, const struct meta *meta,
		    uint64_t total)
{
	size_t from = text->length;

	if (meta->duration)
		text_format(text, "%.2f s", (double)meta->duration / 1e9);
	if (meta->cpus)
		text_format(text, "%s%zu CPU%s", text->length > from ?
			    " on " : "", meta->cpus,
			    meta->cpus == 1 ? "" : "s");
	if (meta->clock && meta->hz)
		text_format(text, "%s%" PRIu64 " Hz", text->length > from ?
			    " at " : "", meta->hz);
	else if (!meta->clock && meta->event && meta->period)
		text_format(text, "%severy %" PRIu64 " %s",
			    text->length > from ? ", " : "", meta->period,
			    meta->event);
	else if (!meta->clock && meta->event)
		add_part(text, meta->event);
	if (text->length > from)
		text_format(text, ": ");
	add_amount(text, meta, total);
}

/* How many CPUs were at work, if samples tell time. */
static double cpus_busy(const struct report *report, uint64_t samples)
{
	const struct meta *meta = report->meta;
	bool is_time = meta->unit && !strcmp(meta->unit, "nanoseconds");
	double ns = is_time ? (double)samples :
		    (double)samples * (double)meta->period;

	return meta->duration && (meta->clock || is_time) ?
	       ns / (double)meta->duration : 0;
}

static void add_cpus(struct text *text, const struct report *report)
{
	double cpus = cpus_busy(report, report->summary.busy.now);
	size_t all = report->meta->cpus;

	if (cpus > 0 && all)
		text_format(text, ": %.2f of %zu CPU%s", cpus, all,
			    all == 1 ? "" : "s");
	else if (cpus > 0)
		text_format(text, ": %.2f CPUs", cpus);
}

/* "busy ██████████   54.0 % (1290): 0.65 of 2 CPUs; idle 46.0 % (1100)" */
static void head_busy(struct report *report)
{
	uint64_t busy = report->summary.busy.now;
	uint64_t idle = report->summary.idle.now, all = busy + idle;
	struct sheet *sheet = &report->sheet;
	struct text text = { 0 };
	size_t room;

	if (!all)
		return;
	sheet_words(sheet, SHEET_PLAIN, "busy ");
	text_format(&text, "%s%" PRIu64 "%s", idle ? " (" : "", busy,
		    idle ? ")" : "");
	add_cpus(&text, report);
	if (idle) {
		text_format(&text, "; idle %.1f %% (%" PRIu64 ")",
			    percent(idle, all), idle);
		room = sheet->terminal.columns - 5 - 8;
		room = room > text.length ? room - text.length : 0;
		sheet_bar(sheet, SHEET_USER, (double)busy / (double)all,
			  room < 20 ? room : 20);
		sheet_words(sheet, SHEET_HEAD, " %.1f %%", percent(busy, all));
	}
	sheet_words(sheet, SHEET_PLAIN, "%s", text.data);
	sheet_line(sheet);
	text_free(&text);
}

/* The older recording's run, and how busy it was; then the newer one's. */
static void head_compared(struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct meta *metas[] = { report->meta->before, report->meta };
	const struct amount busy = summary->busy, idle = summary->idle;
	const uint64_t parts[] = { busy.before, busy.now };
	const uint64_t rests[] = { idle.before, idle.now };

	for (size_t i = 0; i < 2; i++) {
		struct text text = { 0 };

		text_format(&text, "%s ", i ? "new:" : "old:");
		add_run(&text, metas[i], parts[i] + rests[i]);
		if (rests[i])
			text_format(&text, ", %.1f %% busy",
				    percent(parts[i], parts[i] + rests[i]));
		sheet_lines(&report->sheet, SHEET_PLAIN, text.data, 0, 5);
		text_free(&text);
	}
}

void report_head(struct report *report)
{
	struct text text = { 0 };

	head_machine(report);
	head_source(report);
	if (report->meta->before) {
		head_compared(report);
		return;
	}
	add_run(&text, report->meta, report->summary.busy.now +
		report->summary.idle.now);
	sheet_lines(&report->sheet, SHEET_PLAIN, text.data, 0, 2);
	text_free(&text);
	head_busy(report);
}

/* ------------------------------------------------------------------ balance */

/* Of a line of the balance: what follows the percentage; NULL: nothing. */
static const char *cause_of(const struct meta *meta)
{
	for (size_t i = 0; i < meta->line_count; i++) {
		const char *text = meta->lines[i].text, *cause;

		if (meta->lines[i].kind != META_NOTE ||
		    !strstr(text, "unaccounted "))
			continue;
		cause = strstr(text, " %: ");
		return cause ? cause + 4 : NULL;
	}
	return NULL;
}

/* "1980 ticks expected = 1975 sampled + 5 unaccounted (idle CPUs ...)" */
static void balance_expected(struct report *report)
{
	const struct meta *meta = report->meta;
	const char *cause = cause_of(meta);
	struct text text = { 0 };

	text_format(&text, "%" PRIu64 " %s expected = %" PRIu64 " sampled %c %"
		    PRIu64 " unaccounted", meta->expected,
		    meta->clock ? "ticks" : "events", meta->sampled,
		    meta->unaccounted < 0 ? '-' : '+',
		    meta->unaccounted < 0 ? -(uint64_t)meta->unaccounted :
		    (uint64_t)meta->unaccounted);
	if (cause)
		text_format(&text, " (%s)", cause);
	sheet_lines(&report->sheet, SHEET_PLAIN, text.data, 0, 2);
	text_free(&text);
}

/* "1975 sampled = 900 user + 375 kernel + ... + 0 filtered + 0 lost" */
static void balance_sampled(struct report *report)
{
	static const char *const modes[MODE_COUNT] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};
	const struct profile *profile = report->profile;
	struct text text = { 0 };

	text_format(&text, "%" PRIu64 " sampled = ", report->meta->sampled);
	for (size_t i = 0; i < MODE_COUNT; i++)
		if (i != MODE_UNKNOWN || profile->by_mode[i])
			text_format(&text, "%" PRIu64 " %s + ",
				    profile->by_mode[i], modes[i]);
	text_format(&text, "%" PRIu64 " filtered + %" PRIu64 " lost",
		    profile->filtered, report->meta->lost);
	sheet_lines(&report->sheet, SHEET_PLAIN, text.data, 0, 2);
	text_free(&text);
}

/* Whether the profile still has all that the balance is about. */
static bool adds_up(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct meta *meta = report->meta;

	return meta->balanced && profile->total + profile->filtered +
				 meta->lost == meta->sampled;
}

/* What is in words already is left out: lines that have a label. */
static void balance_lines(struct report *report, bool in_words)
{
	const struct meta *meta = report->meta;

	for (size_t i = 0; i < meta->line_count; i++) {
		const struct meta_line *line = &meta->lines[i];
		bool warning = line->kind == META_WARNING;
		bool detail = !strncmp(line->text, "           ", 11);
		struct text text = { 0 };

		if (line->kind == META_NOTE && in_words && !detail)
			continue;
		text_format(&text, "%s%s", warning ? "warning: " : "",
			    line->text);
		sheet_lines(&report->sheet, warning ? SHEET_WARNING :
			    SHEET_PLAIN, text.data, detail ||
			    line->kind == META_ADVICE ? 2 : 0, 2);
		text_free(&text);
	}
}

void report_balance(struct report *report)
{
	bool in_words = adds_up(report);

	if (!in_words && !report->meta->line_count)
		return;
	sheet_line(&report->sheet);
	if (in_words && report->meta->foreseen)
		balance_expected(report);
	if (in_words)
		balance_sampled(report);
	balance_lines(report, in_words);
}
