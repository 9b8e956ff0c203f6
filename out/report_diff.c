/* SPDX-License-Identifier: MIT */
/*
 * report_diff: what changed between two recordings, the most first.
 *
 *	  old%    new%  change         functions
 *	  24.1    18.9    -5.2    ████▌  parse        gcc
 *	   0.0    14.5   +14.5    ████   fib          python3 (new)
 *
 * Shares are of what was busy in each of them, whatever their lengths.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/text.h"
#include "out/report_parts.h"

enum { NUMBERS = 22, WIDE = 100 };

static double size_of(double change)
{
	return change < 0 ? -change : change;
}

static size_t bar_width(const struct report *report)
{
	return report->sheet.terminal.columns >= WIDE ? 16 : 8;
}

/* What comes to less than half of a tenth of a percent is not shown. */
static bool is_shown(const struct report *report, struct amount amount)
{
	return size_of(summary_change(&report->summary, amount)) >= 0.0005;
}

static const char *mark_of(struct amount amount)
{
	return !amount.before ? "new" : !amount.now ? "gone" : "";
}

/* Numbers and the bar; `most` is the largest change. */
static void add_change(struct report *report, struct amount amount,
		       double most)
{
	double change = summary_change(&report->summary, amount);
	enum sheet_style style = change < 0 ? SHEET_LESS : SHEET_MORE;
	struct sheet *sheet = &report->sheet;

	sheet_words(sheet, SHEET_PLAIN, "%6.1f  %6.1f  ",
		    100 * summary_share_before(&report->summary, amount),
		    100 * summary_share(&report->summary, amount));
	sheet_words(sheet, style, "%+6.1f", 100 * change);
	sheet_words(sheet, style, " %-4s ", mark_of(amount));
	sheet_bar(sheet, style, most > 0 ? size_of(change) / most : 0,
		  bar_width(report));
	sheet_space(sheet, 1);
}

static void add_heading(struct report *report, const char *what)
{
	sheet_line(&report->sheet);
	sheet_words(&report->sheet, SHEET_HEAD, "  old%%    new%%  change"
		    "%*s%s", (int)bar_width(report) + 7, "", what);
	sheet_line(&report->sheet);
}

/* Where chance alone would change as much. */
static void add_error(struct report *report)
{
	double error = report_error(report);

	struct text text = { 0 };

	text_format(&text, "self, in %% of what was busy");
	if (error >= 0.05)
		text_format(&text, "; changes up to %.1f can be chance", error);
	sheet_lines(&report->sheet, SHEET_DIM, text.data, 0, 2);
	text_free(&text);
}

static void add_rest(struct report *report, size_t count, const char *what)
{
	if (!count)
		return;
	sheet_space(&report->sheet, NUMBERS + 7 + bar_width(report));
	sheet_words(&report->sheet, SHEET_DIM, "%zu more %s changed less",
		    count, what);
	sheet_line(&report->sheet);
}

static void add_none(struct report *report)
{
	sheet_space(&report->sheet, NUMBERS + 7 + bar_width(report));
	sheet_words(&report->sheet, SHEET_DIM, "none changed");
	sheet_line(&report->sheet);
}

void report_changed_functions(struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct summary_function *functions = summary->functions;
	struct report_columns columns;
	size_t count = 0, name, origin;
	struct text text = { 0 };

	while (count < report->functions && count < summary->function_count &&
	       is_shown(report, functions[count].self))
		count++;
	report_measure_functions(report, count, &name, &origin);
	columns = report_share_columns(report, NUMBERS + 6, bar_width(report),
				       name, origin);
	add_error(report);
	add_heading(report, "functions");
	for (size_t i = 0; i < count; i++) {
		size_t used;

		add_change(report, functions[i].self, size_of(summary_change(
			summary, functions[0].self)));
		used = sheet_function(&report->sheet, functions[i].kind,
				      functions[i].name, columns.name);
		report_end_line(report, columns, used,
				sheet_origin(&text, functions[i].kind,
					      functions[i].image));
	}
	if (!count)
		add_none(report);
	add_rest(report, summary->function_count - count, "functions");
	text_free(&text);
}

void report_changed_processes(struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct summary_process *processes = summary->processes;
	struct report_columns columns;
	size_t count = 0, name, origin;
	struct text text = { 0 };

	while (count < report->processes && count < summary->process_count &&
	       is_shown(report, processes[count].samples))
		count++;
	report_measure_processes(report, count, &name, &origin);
	columns = report_share_columns(report, NUMBERS + 6, bar_width(report),
				       name, origin);
	add_heading(report, "processes");
	for (size_t i = 0; i < count; i++) {
		size_t used;

		add_change(report, processes[i].samples,
			   size_of(summary_change(summary,
						  processes[0].samples)));
		used = sheet_name(&report->sheet, SHEET_PLAIN,
				  report_process_name(&processes[i]),
				  columns.name);
		report_end_line(report, columns, used,
				report_process_who(&text, &processes[i]));
	}
	if (!count)
		add_none(report);
	add_rest(report, summary->process_count - count, "processes");
	text_free(&text);
}
