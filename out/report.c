/* SPDX-License-Identifier: MIT */
/*
 * report: what burns the CPU, for a person at a terminal.
 *
 *	web-1, Linux 6.18.5 x86_64, ...		report_head
 *	busy ██████  72.2 %
 *
 *	 self%  total%  functions		report_functions
 *	  CPUs   busy%  processes		report_processes
 *	 self%  total%  call tree		report_tree
 *
 *	3960 sampled = 2000 user + ...		report_balance
 *
 * A file, and a screen that is high enough, have it in this order.  On a smaller
 * screen the tree comes first, so that the rest stands where the eye is in the
 * end: a console has nothing above its screen.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "out/report.h"
#include "out/report_parts.h"

/* Rows that are taken as if they were the screen's, of what has no end. */
enum { ROWS_OF_FILE = 72 };

/* What is not a table: head, balance, blank lines and headings, the prompt. */
enum { ROWS_AROUND = 18 };

static size_t between(size_t value, size_t least, size_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* A screen, if it can be; on a small one the tree goes up and out of it. */
static void choose_lines(struct report *report)
{
	size_t rows = report->sheet.terminal.rows;
	size_t left;

	if (!rows)
		rows = ROWS_OF_FILE;
	left = rows > ROWS_AROUND ? rows - ROWS_AROUND : 0;
	if (rows < 40) {
		report->functions = between(left, 5, 7 + left / 8);
		report->processes = between(left / 3, 2, 4);
		report->branches = 22;
		return;
	}
	report->functions = between(left * 2 / 5, 10, 20);
	report->processes = between(left / 6, 4, 8);
	report->branches = between(left - report->functions -
				   report->processes, 12, 40);
}

static size_t count_lines(const struct text *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->length; i++)
		lines += text->data[i] == '\n';
	return lines;
}

static void write_text(struct file_out *out, struct text *text)
{
	file_out_write(out, text->data, text->length);
	text->length = 0;
}

static void add_tables(struct report *report)
{
	if (!report->summary.busy.now && !report->summary.busy.before) {
		sheet_words(&report->sheet, SHEET_PLAIN,
			    "\nNothing was busy.\n");
	} else if (report->meta->before) {
		report_changed_functions(report);
		report_changed_processes(report);
	} else {
		report_functions(report);
		report_processes(report);
	}
}

void report_write(const struct profile *profile, const struct meta *meta,
		  struct file_out *out, const struct terminal *terminal)
{
	struct report report = { .profile = profile, .meta = meta };
	struct text before, tree, after;
	bool small;

	report.sheet.terminal = *terminal;
	choose_lines(&report);
	summary_make(&report.summary, profile, meta->before);
	report_head(&report);
	add_tables(&report);
	before = report.sheet.text;
	report.sheet.text = (struct text){ 0 };
	if (report.summary.busy.now && !meta->before)
		report_tree(&report);
	tree = report.sheet.text;
	report.sheet.text = (struct text){ 0 };
	report_balance(&report);
	after = report.sheet.text;
	small = terminal->rows && count_lines(&before) + count_lines(&tree) +
		count_lines(&after) >= terminal->rows;
	/* Blank lines are above parts; there is none above the first one. */
	if (small && tree.length) {
		file_out_write(out, tree.data + 1, tree.length - 1);
		file_out_write(out, "\n", 1);
	}
	write_text(out, &before);
	if (!small)
		write_text(out, &tree);
	write_text(out, &after);
	text_free(&before);
	text_free(&tree);
	text_free(&after);
	summary_free(&report.summary);
}

void out_report(const struct profile *profile, const struct meta *meta,
		struct file_out *out)
{
	struct terminal terminal;

	terminal_look(&terminal, out->fd);
	report_write(profile, meta, out, &terminal);
}
