/* SPDX-License-Identifier: MIT */
/*
 * report_tree: the call tree of a report.
 *
 *	  0.2    45.1  python3 → _start → main → run → eval
 *	 30.3    30.3  ├ fib ×3  python3
 *	  0.0    15.1  └ read → entry_SYSCALL_64_after_hwframe → … → read_zero
 *
 * Of a chain that is too long for its line the end stays, which is what runs, and
 * the beginning, which is where it comes from, if there is room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/columns.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "out/report_parts.h"

enum { NUMBERS = 14, SAMPLES = 10, WIDE = 100, NAME_LEAST = 20 };

/* A function of a chain, `times` in a row. */
struct link {
	const char *name;
	enum tree_kind kind;
	uint32_t label;
	uint32_t times;
	size_t columns;
};

struct chain {
	struct link *link;
	size_t count, capacity;
};

/* From the bottom up, as nodes know their parents, and then turned. */
static void make_chain(const struct report *report, struct chain *chain,
		       const struct branch *branch)
{
	const struct tree *tree = &report->summary.tree;

	chain->count = 0;
	for (uint32_t i = branch->bottom;; i = tree->nodes[i].parent) {
		const struct tree_label *label =
			&tree->labels[tree->nodes[i].label];
		struct link *last = chain->count ?
				    &chain->link[chain->count - 1] : NULL;

		if (last && last->label == tree->nodes[i].label) {
			last->times++;
		} else {
			chain->link = memory_grow(chain->link,
						  &chain->capacity,
						  chain->count + 1,
						  sizeof(*chain->link));
			chain->link[chain->count++] = (struct link){
				report->profile->names.text[label->name],
				label->kind, tree->nodes[i].label, 1, 0,
			};
		}
		if (i == branch->top)
			break;
	}
	for (size_t i = 0; i < chain->count / 2; i++) {
		struct link link = chain->link[i];

		chain->link[i] = chain->link[chain->count - 1 - i];
		chain->link[chain->count - 1 - i] = link;
	}
}

static const char *arrow(const struct report *report)
{
	return sheet_either(&report->sheet, " \xe2\x86\x92 ", " > ");
}

/* " ×3", or nothing. */
static const char *times(const struct report *report, const struct link *link,
			 char words[16])
{
	*words = '\0';
	if (link->times > 1)
		snprintf(words, 16, " %s%" PRIu32,
			 sheet_either(&report->sheet, "\xc3\x97", "x"),
			 link->times);
	return words;
}

/*
 * How many links are shown of the beginning (0 or 1) and of the end so that all
 * fit into `most` columns; what is between is dots.
 */
static void choose_links(const struct report *report, struct chain *chain,
			 size_t most, size_t *head, size_t *tail)
{
	size_t gap = columns_of(arrow(report)), dots = gap + 2, used;
	size_t all = 0;

	for (size_t i = 0; i < chain->count; i++) {
		char words[16];

		chain->link[i].columns = columns_of(times(report,
							  &chain->link[i],
							  words)) +
			sheet_function_columns(&report->sheet,
					       chain->link[i].kind,
					       chain->link[i].name);
		all += chain->link[i].columns + (i ? gap : 0);
	}
	*head = 0;
	*tail = chain->count;
	if (all <= most)
		return;
	used = chain->link[chain->count - 1].columns;
	*tail = 1;
	if (chain->count > 1 &&
	    used + dots + gap + chain->link[0].columns <= most) {
		used += gap + chain->link[0].columns;
		*head = 1;
	}
	while (*head + *tail < chain->count) {
		const struct link *next =
			&chain->link[chain->count - *tail - 1];

		if (used + dots + gap + next->columns > most)
			break;
		used += gap + next->columns;
		++*tail;
	}
}

static size_t add_link(struct report *report, const struct link *link,
		       size_t most)
{
	struct sheet *sheet = &report->sheet;
	char words[16];
	size_t more = columns_of(times(report, link, words)), used;

	used = sheet_function(sheet, link->kind, link->name,
			      most > more ? most - more : 1);
	sheet_words(sheet, SHEET_DIM, "%s", words);
	return used + more;
}

/* Returns how many columns it took. */
static size_t add_chain(struct report *report, struct chain *chain,
			size_t most)
{
	struct sheet *sheet = &report->sheet;
	const char *dots = sheet_either(sheet, "\xe2\x80\xa6", "..");
	size_t head, tail, used = 0;

	choose_links(report, chain, most, &head, &tail);
	for (size_t i = 0; i < chain->count; i++) {
		bool left_out = i >= head && i + tail < chain->count;

		if (left_out && i > head)
			continue;
		if (used) {
			sheet_words(sheet, SHEET_DIM, "%s", arrow(report));
			used += columns_of(arrow(report));
		}
		if (left_out) {
			/* Alone with a long name, dots would take its room. */
			if (tail == 1 && !head)
				continue;
			sheet_words(sheet, SHEET_DIM, "%s", dots);
			used += columns_of(dots);
			continue;
		}
		used += add_link(report, &chain->link[i],
				 used < most ? most - used : 1);
	}
	return used;
}

/* -------------------------------------------------------------------- lines */

/*
 * The lines of the levels above: whether more comes there.  Returns the columns;
 * what is too deep to be drawn is a number.
 */
static size_t add_levels(struct report *report, const struct branch *branch,
			 const bool *open, size_t most)
{
	struct sheet *sheet = &report->sheet;
	size_t from = 1, used = 0;

	if (!branch->level)
		return 0;
	if ((size_t)branch->level * 2 > most) {
		char words[16];

		snprintf(words, sizeof(words), "%" PRIu32 ": ", branch->level);
		sheet_words(sheet, SHEET_DIM, "%s", words);
		used = strlen(words);
		from = branch->level - (most - used) / 2 + 1;
	}
	for (size_t i = from; i < branch->level; i++, used += 2)
		sheet_words(sheet, SHEET_DIM, "%s", !open[i] ? "  " :
			    sheet_either(sheet, "\xe2\x94\x82 ", "| "));
	sheet_words(sheet, SHEET_DIM, "%s", branch->last ?
		    sheet_either(sheet, "\xe2\x94\x94 ", "` ") :
		    sheet_either(sheet, "\xe2\x94\x9c ", "+ "));
	return used + 2;
}

static void add_numbers(struct report *report, const struct branch *branch)
{
	const struct summary *summary = &report->summary;
	struct amount self = { .now = branch->self };
	struct amount total = { .now = branch->total };
	struct sheet *sheet = &report->sheet;

	if (branch->self)
		sheet_words(sheet, SHEET_PLAIN, "%6.1f",
			    100 * summary_share(summary, self));
	else
		sheet_space(sheet, 6);
	sheet_words(sheet, SHEET_PLAIN, "  %6.1f",
		    100 * summary_share(summary, total));
	if (sheet->terminal.columns >= WIDE)
		sheet_words(sheet, SHEET_PLAIN, "%*" PRIu64, SAMPLES,
			    branch->total);
	sheet_space(sheet, 2);
}

/*
 * Where the last function of a line comes from, if there is room left, and if its
 * name does not say it.
 */
static void add_origin(struct report *report, const struct link *link,
		       size_t left)
{
	const struct tree_label *label =
		&report->summary.tree.labels[link->label];
	const struct profile *profile = report->profile;
	const char *image =
		profile->names.text[profile->images[label->image].name];
	struct text text = { 0 };
	const char *origin = sheet_origin(&text, link->kind, image);
	size_t columns = sheet_name_columns(&report->sheet, origin);
	bool tells = link->kind != TREE_THREAD && link->kind != TREE_UNNAMED &&
		     (link->kind != TREE_USER || *image);

	if (tells && columns && columns + 2 <= left) {
		sheet_space(&report->sheet, 2);
		sheet_name(&report->sheet, SHEET_DIM, origin, columns);
	}
	text_free(&text);
}

static void add_branch(struct report *report, const struct branch *branch,
		       const bool *open, struct chain *chain, size_t width)
{
	size_t used = add_levels(report, branch, open, width - NAME_LEAST);

	if (branch->others) {
		sheet_words(&report->sheet, SHEET_DIM, "(%" PRIu32
			    " other%s)", branch->others,
			    branch->others == 1 ? "" : "s");
		sheet_line(&report->sheet);
		return;
	}
	make_chain(report, chain, branch);
	used += add_chain(report, chain, width - used);
	if (used < width)
		add_origin(report, &chain->link[chain->count - 1],
			   width - used);
	sheet_line(&report->sheet);
}

void report_tree(struct report *report)
{
	bool wide = report->sheet.terminal.columns >= WIDE;
	size_t numbers = NUMBERS + 2 + (wide ? SAMPLES : 0);
	size_t width = report->sheet.terminal.columns - numbers;
	struct branches branches;
	struct chain chain = { 0 };
	bool *open;
	uint32_t deepest = 0;

	branches_make(&branches, &report->summary, report->branches);
	for (size_t i = 0; i < branches.count; i++)
		if (branches.branch[i].level > deepest)
			deepest = branches.branch[i].level;
	open = memory_new(deepest + 1, sizeof(*open));
	sheet_line(&report->sheet);
	sheet_words(&report->sheet, SHEET_HEAD, " self%%  total%%%s  call "
		    "tree, from %.3g %% up", wide ? "   samples" : "",
		    100 * branches.from);
	sheet_line(&report->sheet);
	if (width > 120)
		width = 120;
	for (size_t i = 0; i < branches.count; i++) {
		const struct branch *branch = &branches.branch[i];

		open[branch->level] = !branch->last;
		add_numbers(report, branch);
		add_branch(report, branch, open, &chain, width);
	}
	free(open);
	free(chain.link);
	branches_free(&branches);
}
