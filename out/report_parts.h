/* SPDX-License-Identifier: MIT */
#ifndef OUT_REPORT_PARTS_H
#define OUT_REPORT_PARTS_H

#include "meta.h"
#include "out/branches.h"
#include "out/sheet.h"
#include "out/summary.h"

/* A report while it is made, and its parts: each appends lines to the sheet. */
struct report {
	const struct meta *meta;
	const struct profile *profile;
	struct summary summary;
	struct sheet sheet;
	size_t functions, processes, branches;	/* lines for them */
};

/* What was sampled, where and when, and how busy it was. */
void report_head(struct report *report);

/* Where each tick went, and warnings. */
void report_balance(struct report *report);

void report_functions(struct report *report);
void report_processes(struct report *report);
void report_tree(struct report *report);

/* The first two of two recordings. */
void report_changed_functions(struct report *report);
void report_changed_processes(struct report *report);

/*
 * How far a share, or the change of one, can be from the truth as there are so few
 * samples: two sigma, in percent, at worst.  0: not known.
 */
double report_error(const struct report *report);

/*
 * A table's columns behind those of numbers: a bar, a name and where it comes
 * from, which is as wide as it has to be.
 */
struct report_columns {
	size_t bar, name, origin;
};

/* `numbers`: columns that those take; the rest is shared by the others. */
struct report_columns report_share_columns(const struct report *report,
					   size_t numbers, size_t bar,
					   size_t name, size_t origin);

/* Ends a line: the origin, at its place, and a newline. */
void report_end_line(struct report *report, struct report_columns columns,
		     size_t used, const char *origin);

/* The widest name and origin of the first `count` functions or processes. */
void report_measure_functions(const struct report *report, size_t count,
			      size_t *name, size_t *origin);
void report_measure_processes(const struct report *report, size_t count,
			      size_t *name, size_t *origin);

/* The name of a row, and what is said of it at the end of the line. */
const char *report_process_name(const struct summary_process *process);
const char *report_process_who(struct text *text,
			       const struct summary_process *process);

#endif
