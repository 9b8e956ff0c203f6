/* SPDX-License-Identifier: MIT */
/*
 * report_tables: the tables of a report, of which each line is
 *
 *	numbers   bar    name             where it comes from
 *	 20.7  23.1  ████   parse_expression    libfoo.so
 *
 * Names get what is left of the width; what they do not need is left free, so
 * that the eye does not have to cross an empty screen.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/text.h"
#include "out/report_parts.h"

/* Two columns of numbers, each of a space and six of these. */
enum { NUMBERS = 14, SAMPLES = 10, ORIGIN_MOST = 20, WIDE = 100 };

static bool is_wide(const struct report *report)
{
	return report->sheet.terminal.columns >= WIDE;
}

/* How often something was met, where there is room to say it. */
static size_t numbers_width(const struct report *report)
{
	return NUMBERS + (is_wide(report) ? SAMPLES : 0);
}

static size_t bar_width(const struct report *report)
{
	return is_wide(report) ? 16 : 8;
}

static void add_samples(struct report *report, uint64_t samples)
{
	if (is_wide(report))
		sheet_words(&report->sheet, SHEET_PLAIN, "%*" PRIu64, SAMPLES,
			    samples);
}

struct report_columns report_share_columns(const struct report *report,
					   size_t numbers, size_t bar,
					   size_t name, size_t origin)
{
	size_t width = report->sheet.terminal.columns;
	size_t most = is_wide(report) ? 2 * ORIGIN_MOST : ORIGIN_MOST;
	struct report_columns columns = { .bar = bar };

	/* Spaces: before the bar, behind it, and before the origin. */
	width -= numbers + (bar ? bar + 1 : 0) + 1 + 2;
	columns.origin = origin < most ? origin : most;
	if (columns.origin > width / 2)
		columns.origin = width / 2;
	columns.name = name < width - columns.origin ? name :
		       width - columns.origin;
	return columns;
}

void report_end_line(struct report *report, struct report_columns columns,
		     size_t used, const char *origin)
{
	if (*origin) {
		sheet_space(&report->sheet, columns.name + 2 -
			    (used < columns.name ? used : columns.name));
		sheet_name(&report->sheet, SHEET_DIM, origin, columns.origin);
	}
	sheet_line(&report->sheet);
}

/* ---------------------------------------------------------------- functions */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void report_measure_functions(const struct report *report, size_t count,
			      size_t *name, size_t *origin)
{
	struct text text = { 0 };

	*name = *origin = 0;
	for (size_t i = 0; i < count; i++) {
		const struct summary_function *function =
			&report->summary.functions[i];
		size_t columns = sheet_function_columns(&report->sheet,
							function->kind,
							function->name);

		*name = columns > *name ? columns : *name;
		columns = sheet_name_columns(&report->sheet, sheet_origin(
			&text, function->kind, function->image));
		*origin = columns > *origin ? columns : *origin;
	}
	text_free(&text);
}

static void add_function(struct report *report, struct report_columns columns,
			 const struct summary_function *function)
{
	const struct summary *summary = &report->summary;
	struct sheet *sheet = &report->sheet;
	struct text text = { 0 };
	size_t used;

	sheet_words(sheet, SHEET_PLAIN, "%6.1f  %6.1f",
		    100 * summary_share(summary, function->self),
		    100 * summary_share(summary, function->total));
	add_samples(report, function->self.now);
	sheet_space(sheet, 1);
	sheet_bar(sheet, sheet_bar_style(function->kind),
		  summary_share(summary, function->self) /
		  summary_share(summary, summary->functions[0].self),
		  columns.bar);
	sheet_space(sheet, 1);
	used = sheet_function(sheet, function->kind, function->name,
			      columns.name);
	report_end_line(report, columns, used,
			sheet_origin(&text, function->kind, function->image));
	text_free(&text);
}

/* What is below the table's last line, so that it adds up. */
static void add_rest(struct report *report, size_t count, uint64_t samples,
		     const char *what)
{
	struct amount amount = { .now = samples };

	if (!count)
		return;
	sheet_words(&report->sheet, SHEET_DIM, "%6.1f  %6s",
		    100 * summary_share(&report->summary, amount), "");
	add_samples(report, samples);
	sheet_space(&report->sheet, 2 + bar_width(report));
	sheet_words(&report->sheet, SHEET_DIM, "%zu more %s", count, what);
	sheet_line(&report->sheet);
}

static uint64_t square_root(uint64_t number)
{
	uint64_t root = number;

	/* Newton's way comes down to it from above. */
	while (root > 1 && root > number / root)
		root = (root + number / root) / 2;
	return root;
}

double report_error(const struct report *report)
{
	const struct amount busy = report->summary.busy;
	const struct meta *meta = report->meta;
	double square = 0;

	/* A share p of n samples is known to 2 * sqrt(p * (1 - p) / n). */
	if (busy.now)
		square += 1 / (double)busy.now;
	if (meta->before && busy.before)
		square += 1 / (double)busy.before;
	if (meta->unit && strcmp(meta->unit, "count"))
		return 0;
	return 100 * (double)square_root((uint64_t)(square * 1e12)) / 1e6;
}

static void add_error(struct report *report)
{
	double error = report_error(report);
	size_t used = numbers_width(report) + bar_width(report) + 11;
	struct text text = { 0 };

	text_format(&text, " in %% of what was busy");
	if (error >= 0.05)
		text_format(&text, ", %s%.1f at most",
			    sheet_either(&report->sheet, "\xc2\xb1", "+-"),
			    error);
	sheet_cut(&report->sheet, SHEET_DIM, text.data,
		  report->sheet.terminal.columns - used);
	sheet_line(&report->sheet);
	text_free(&text);
}

void report_functions(struct report *report)
{
	const struct summary *summary = &report->summary;
	size_t count = least(report->functions, summary->function_count);
	struct report_columns columns;
	size_t name, origin;
	uint64_t rest = 0;

	report_measure_functions(report, count, &name, &origin);
	columns = report_share_columns(report, numbers_width(report),
				       bar_width(report), name, origin);
	sheet_line(&report->sheet);
	sheet_words(&report->sheet, SHEET_HEAD, " self%%  total%%%s%*s"
		    "functions", is_wide(report) ? "   samples" : "",
		    (int)bar_width(report) + 2, "");
	add_error(report);
	for (size_t i = 0; i < count; i++)
		add_function(report, columns, &summary->functions[i]);
	for (size_t i = count; i < summary->function_count; i++)
		rest += summary->functions[i].self.now;
	add_rest(report, summary->function_count - count, rest, "functions");
}

/* ---------------------------------------------------------------- processes */

const char *report_process_name(const struct summary_process *process)
{
	return process->idle ? "(interrupts on idle CPUs)" : process->comm;
}

const char *report_process_who(struct text *text,
			       const struct summary_process *process)
{
	text->length = 0;
	text_add(text, "", 0);
	if (process->tgid)
		text_format(text, "%" PRIu32, process->tgid);
	else if (process->count > 1)
		text_format(text, "%" PRIu32 " processes", process->count);
	return text->data;
}

void report_measure_processes(const struct report *report, size_t count,
			      size_t *name, size_t *origin)
{
	struct text text = { 0 };

	*name = *origin = 0;
	for (size_t i = 0; i < count; i++) {
		const struct summary_process *process =
			&report->summary.processes[i];
		size_t columns = sheet_name_columns(&report->sheet,
			report_process_name(process));

		*name = columns > *name ? columns : *name;
		columns = sheet_name_columns(&report->sheet,
			report_process_who(&text, process));
		*origin = columns > *origin ? columns : *origin;
	}
	text_free(&text);
}

/* How many CPUs it kept busy; 0: nobody knows. */
static double cpus_of(const struct report *report, uint64_t samples)
{
	const struct meta *meta = report->meta;

	return meta->clock && meta->duration ? (double)samples *
	       (double)meta->period / (double)meta->duration : 0;
}

static void add_process(struct report *report, struct report_columns columns,
			const struct summary_process *process)
{
	const struct summary *summary = &report->summary;
	double cpus = cpus_of(report, process->samples.now);
	struct sheet *sheet = &report->sheet;
	struct text text = { 0 };
	size_t used;

	if (cpus > 0)
		sheet_words(sheet, SHEET_PLAIN, "%6.2f", cpus);
	else
		sheet_space(sheet, 6);
	sheet_words(sheet, SHEET_PLAIN, "  %6.1f",
		    100 * summary_share(summary, process->samples));
	add_samples(report, process->samples.now);
	sheet_space(sheet, 1);
	sheet_bar(sheet, SHEET_PLAIN,
		  summary_share(summary, process->samples) /
		  summary_share(summary, summary->processes[0].samples),
		  columns.bar);
	sheet_space(sheet, 1);
	used = sheet_name(sheet, SHEET_PLAIN, report_process_name(process),
			  columns.name);
	report_end_line(report, columns, used,
			report_process_who(&text, process));
	text_free(&text);
}

void report_processes(struct report *report)
{
	const struct summary *summary = &report->summary;
	size_t count = least(report->processes, summary->process_count);
	struct report_columns columns;
	size_t name, origin;
	uint64_t rest = 0;

	report_measure_processes(report, count, &name, &origin);
	columns = report_share_columns(report, numbers_width(report),
				       bar_width(report), name, origin);
	sheet_line(&report->sheet);
	sheet_words(&report->sheet, SHEET_HEAD, "%6s  total%%%s%*s"
		    "processes", cpus_of(report, 1) > 0 ? "CPUs" : "",
		    is_wide(report) ? "   samples" : "",
		    (int)bar_width(report) + 2, "");
	sheet_line(&report->sheet);
	for (size_t i = 0; i < count; i++)
		add_process(report, columns, &summary->processes[i]);
	for (size_t i = count; i < summary->process_count; i++)
		rest += summary->processes[i].samples.now;
	add_rest(report, summary->process_count - count, rest, "processes");
}
