/* SPDX-License-Identifier: MIT */
/* Reports: sums, what is left out and merged, and lines that fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in/in.h"
#include "lib/columns.h"
#include "out/branches.h"
#include "out/out.h"
#include "out/report.h"
#include "out/summary.h"
#include "test/unit/unit.h"

#define SHOW_ALL (SHOW_KERNEL | SHOW_USER | SHOW_IDLE)

static struct meta meta;
static struct profile *profile;
static struct summary summary;

static void open_summary(const char *folded)
{
	unit_write_text("in", folded);
	profile = in_read("in", SHOW_ALL, &meta);
	CHECK(profile);
	summary_make(&summary, profile, false);
}

static void open_changes(const char *old, const char *new)
{
	unit_write_text("old", old);
	unit_write_text("new", new);
	profile = in_compare("old", "new", SHOW_ALL, &meta);
	CHECK(profile);
	summary_make(&summary, profile, true);
}

static void close_all(void)
{
	summary_free(&summary);
	profile_free(profile);
	meta_free(&meta);
}

/* "name self/total ...", in the summary's order. */
static const char *functions(void)
{
	static char text[4096];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < summary.function_count; i++) {
		const struct summary_function *function =
			&summary.functions[i];

		length += (size_t)snprintf(text + length, sizeof(text) - length,
			"%s%s %d/%d", i ? ", " : "", function->name,
			(int)function->self.now, (int)function->total.now);
	}
	return text;
}

/* ----------------------------------------------------------------- sums */

TEST(report_self_and_total)
{
	open_summary("a;main;f 5\na;main;f;g 3\nb;g 1\na;main 1\n");
	CHECK_TEXT(functions(), "f 5/8, g 4/4, main 1/9");
	CHECK_U64(summary.busy.now, 10);
	CHECK(summary_share(&summary, summary.functions[0].self) == 0.5);
	close_all();
}

/* A stack counts once for a function, however often that is in it. */
TEST(report_recursion_counts_once)
{
	open_summary("a;f;f;f 5\na;f;g;f;g 3\na;f;g;f 2\na;g;f;g;g 1\n");
	CHECK_TEXT(functions(), "f 7/11, g 4/6");
	close_all();
}

TEST(report_idle_is_apart)
{
	open_summary("swapper/0;do_idle_[k] 90\na;f 7\n"
		     "swapper/0;do_idle_[k];asm_sysvec_apic_timer_interrupt_[k];"
		     "__do_softirq_[k] 3\n");
	CHECK_U64(summary.busy.now, 10);
	CHECK_U64(summary.idle.now, 90);
	CHECK_TEXT(functions(), "f 7/7, __do_softirq 3/3");
	CHECK_U64(summary.process_count, 2);
	CHECK(summary.processes[1].idle);
	close_all();
}

/* All that is unknown of a file is one row. */
TEST(report_no_symbols)
{
	open_summary("a;[a+0x10];[c.so+0x1] 1\na;[a+0x20];[c.so+0x2] 2\n"
		     "a;[0x7f00] 3\na;[0x7f01] 4\n");
	CHECK_U64(summary.function_count, 2);
	CHECK_U64(summary.functions[0].self.now, 7);
	CHECK(!strncmp(summary.functions[0].name, "[0x", 3));
	CHECK_U64(summary.functions[1].self.now, 3);
	CHECK(!strncmp(summary.functions[1].name, "[c.so+", 6));
	close_all();
}

TEST(report_nothing)
{
	open_summary("");
	CHECK_U64(summary.function_count, 0);
	CHECK_U64(summary.process_count, 0);
	CHECK(summary_share(&summary, summary.busy) == 0);
	close_all();
}

/* A thousand small processes of a build are a row, large ones have their own. */
TEST(report_small_processes_are_one)
{
	struct profile_build *build = profile_build_new(SHOW_ALL, false);
	uint32_t frame = profile_build_frame(build, "f", FRAME_USER,
		profile_build_image(build, "", ""), 0);

	for (uint32_t i = 0; i < 103; i++) {
		struct profile_stack stack = {
			.samples = i < 100 ? 1 : 50, .mode = MODE_USER,
		};

		/* Its first thread has another name, and says what it is. */
		stack.task = profile_build_task(build, 1000 + i, 1000 + i,
						i == 101 ? "java" : "cc1");
		CHECK(profile_build_stack(build, &stack, &frame, 1));
		stack.task = profile_build_task(build, 1000 + i, 2000 + i,
						"worker");
		stack.samples = i < 100 ? 0 : 60;
		CHECK(profile_build_stack(build, &stack, &frame, 1));
	}
	profile = profile_build_end(build);
	summary_make(&summary, profile, false);
	CHECK_U64(summary.process_count, 4);
	CHECK_U64(summary.processes[0].samples.now, 110);
	CHECK_TEXT(summary.processes[0].comm, "cc1");
	CHECK_U64(summary.processes[0].tgid, 1100);
	CHECK_TEXT(summary.processes[2].comm, "java");
	CHECK_U64(summary.processes[3].samples.now, 100);
	CHECK_U64(summary.processes[3].count, 100);
	CHECK_U64(summary.processes[3].tgid, 0);
	close_all();
}

TEST(report_changes_by_size)
{
	/* 50 % -> 25 %, 50 % -> 45 %, 0 -> 30 %; the totals differ. */
	open_changes("a;f 10\na;g 10\n", "a;f 100\na;g 180\na;h 120\n");
	CHECK_TEXT(functions(), "h 120/120, f 100/100, g 180/180");
	CHECK_U64(summary.functions[0].self.before, 0);
	CHECK(summary_change(&summary, summary.functions[1].self) == -0.25);
	close_all();
	open_changes("a;f 10\na;g 10\n", "a;f 7\n");
	CHECK_U64(summary.functions[1].self.now, 0);
	CHECK_U64(summary.functions[1].self.before, 10);
	close_all();
}

/* ----------------------------------------------------------------- tree */

/* "0 a>main 10/0, 1 f 5/5, ...": level, chain, total and self. */
static const char *tree(size_t most)
{
	static char text[65536];
	struct branches branches;
	size_t length = 0;

	text[0] = '\0';
	branches_make(&branches, &summary, most);
	CHECK(branches.count <= most);
	for (size_t i = 0; i < branches.count; i++) {
		const struct branch *branch = &branches.branch[i];
		char chain[4096] = "", before[4096];

		for (uint32_t node = branch->bottom; !branch->others;
		     node = summary.tree.nodes[node].parent) {
			strcpy(before, chain);
			snprintf(chain, sizeof(chain), "%s%s%.1000s",
				 profile->names.text[summary.tree.labels[
					 summary.tree.nodes[node].label].name],
				 *before ? ">" : "", before);
			if (node == branch->top)
				break;
		}
		if (branch->others)
			snprintf(chain, sizeof(chain), "(%d)",
				 (int)branch->others);
		length += (size_t)snprintf(text + length, sizeof(text) - length,
			"%s%d%s%s %d/%d", i ? ", " : "", (int)branch->level,
			branch->last ? "." : " ", chain, (int)branch->total,
			(int)branch->self);
	}
	branches_free(&branches);
	return text;
}

TEST(report_chains_are_merged)
{
	open_summary("a;main;run;f 60\na;main;run;g;h 30\nb;x 10\n");
	CHECK_TEXT(tree(99), "0 a>main>run 90/0, 1 f 60/60, 1.g>h 30/30, "
		   "0.b>x 10/10");
	close_all();
}

/* What does something of its own is no link of a chain. */
TEST(report_chains_end_where_work_is)
{
	open_summary("a;main 40\na;main;f 60\n");
	CHECK_TEXT(tree(99), "0.a>main 100/40, 1.f 60/60");
	close_all();
	/* Less than 1 % of it does not count, and is not lost. */
	open_summary("a;main 9\na;main;f 991\n");
	CHECK_TEXT(tree(99), "0.a>main>f 1000/1000");
	close_all();
}

TEST(report_small_ones_are_left_out)
{
	open_summary("a;f 900\na;b 9\na;c 9\na;d 82\n");
	CHECK_TEXT(tree(99), "0.a 1000/0, 1 f 900/900, 1 d 82/82, 1.(2) 18/0");
	close_all();
	/* 1 % itself is in. */
	open_summary("a;f 990\nb;g 10\n");
	CHECK_TEXT(tree(99), "0 a>f 990/990, 0.b>g 10/10");
	close_all();
	/* Alone it says nothing that the total does not. */
	open_summary("a;f;x 5\na;f;y 5\na;f;z 5\nb 985\n");
	CHECK_TEXT(tree(99), "0 b 985/985, 0.a>f 15/0");
	close_all();
}

TEST(report_tree_fits)
{
	struct text text = { 0 };

	for (int i = 0; i < 90; i++)
		text_format(&text, "t%02d;f %d\n", i, 1000 + i);
	text_format(&text, "big;f 90000\n");
	open_summary(text.data);
	CHECK_TEXT(tree(20), "0 big>f 90000/90000, 0.(90) 94005/0");
	/* Not even half of it is in one place. */
	CHECK_TEXT(tree(1), "");
	close_all();
	text_free(&text);
}

/* Numbers of lines add up, whatever the stacks are. */
TEST(report_trees_add_up)
{
	uint64_t state = 3;

	for (int round = 0; round < 200; round++) {
		struct text text = { 0 };
		struct branches branches;
		uint64_t below[64] = { 0 }, limit;

		for (int i = 0; i < 60; i++) {
			text_format(&text, "t%d", (int)(unit_random(&state) % 3));
			for (uint64_t d = unit_random(&state) % 8; d--;)
				text_format(&text, ";f%d",
					    (int)(unit_random(&state) % 3));
			text_format(&text, " %d\n",
				    (int)(1 + unit_random(&state) % 100));
		}
		open_summary(text.data);
		branches_make(&branches, &summary, 40);
		limit = (uint64_t)(branches.from * (double)summary.busy.now);
		/* From the last line up: what is below each is known then. */
		for (size_t i = branches.count; i-- > 0;) {
			const struct branch *branch = &branches.branch[i];
			uint32_t level = branch->level, links = 1;
			uint64_t shown = branch->self + below[level + 1];

			for (uint32_t node = branch->bottom; !branch->others &&
			     node != branch->top; links++)
				node = summary.tree.nodes[node].parent;
			if (!branch->others && below[level + 1]) {
				CHECK(shown <= branch->total);
				CHECK(branch->total - shown <= links * limit);
			}
			below[level + 1] = 0;
			below[level] += branch->total;
		}
		CHECK(below[0] <= summary.busy.now);
		branches_free(&branches);
		close_all();
		text_free(&text);
	}
}

/* ---------------------------------------------------------------- lines */

static char *write_it(struct terminal terminal)
{
	struct file_out out;
	char *text;

	CHECK(!file_out_open(&out, "report"));
	report_write(profile, &meta, &out, &terminal);
	CHECK(!file_out_close(&out));
	text = unit_read("report", NULL);
	CHECK(text);
	return text;
}

static void check_lines(const char *text, struct terminal terminal)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char line[4096];

		CHECK(length < sizeof(line) && text[length] == '\n');
		if (length >= sizeof(line))
			return;
		memcpy(line, text, length);
		line[length] = '\0';
		if (columns_of(line) > terminal.columns)
			unit_fail(__FILE__, __LINE__, "too wide: %s", line);
		for (size_t i = 0; i < length; i++) {
			CHECK((unsigned char)line[i] >= ' ');
			CHECK(terminal.utf8 || line[i] > 0);
		}
		text += length + 1;
	}
}

/* Each line fits, and is of characters that the terminal has. */
TEST(report_lines_fit)
{
	static const char *const parts[] = {
		"std::", "vector<int, char>", "(x)", "\xe6\xbc\xa2", "_",
		"\xcc\x81", "very_long_name_of_something", "\x1b[31m", "f",
		"\xff", " 12x", "operator<",
	};
	uint64_t state = 11;

	for (int round = 0; round < 60; round++) {
		struct text text = { 0 };

		for (int i = 0; i < 40; i++) {
			for (uint64_t d = 1 + unit_random(&state) % 30; d--;) {
				for (uint64_t n = 1 + unit_random(&state) % 5;
				     n--;)
					text_format(&text, "%s", parts[
						unit_random(&state) % 12]);
				text_format(&text, d ? ";" : "");
			}
			text_format(&text, " %d\n",
				    (int)(1 + unit_random(&state) % 1000));
		}
		open_summary(text.data);
		for (unsigned int columns = 60; columns <= 200; columns += 20)
			for (int utf8 = 0; utf8 < 2; utf8++) {
				struct terminal terminal = {
					.columns = columns, .utf8 = utf8,
					.rows = round % 3 ? 24 : 0,
				};
				char *report = write_it(terminal);

				check_lines(report, terminal);
				free(report);
			}
		close_all();
		text_free(&text);
	}
}

/* As deep as a recording can have it: an end of the line, and of the time. */
TEST(report_deep_stacks)
{
	struct terminal terminal = { .columns = 80, .utf8 = true };
	struct text text = { 0 };
	char *report;

	for (int i = 1; i <= 60; i++) {
		text_format(&text, "deep");
		for (int j = 0; j < i; j++)
			text_format(&text, ";f%d", j % 7);
		text_format(&text, " 10\n");
	}
	open_summary(text.data);
	report = write_it(terminal);
	check_lines(report, terminal);
	free(report);
	close_all();
	text_free(&text);
}

/* Without colours no byte is one; with them each is ended in its line. */
TEST(report_colours_end)
{
	struct terminal terminal = {
		.columns = 80, .utf8 = true, .colour = true,
	};
	bool on = false;
	char *report;

	open_summary("a;f;g_[k] 3\na;f;h_[j] 2\nb;[x+0x1];g_[k] 1\n");
	report = write_it(terminal);
	CHECK(strchr(report, '\033'));
	for (const char *p = report; *p; p++) {
		if (!strncmp(p, "\033[0m", 4))
			on = false;
		else if (*p == '\033')
			on = true;
		CHECK(*p != '\n' || !on);
	}
	free(report);
	terminal.colour = false;
	report = write_it(terminal);
	CHECK(!strchr(report, '\033'));
	free(report);
	close_all();
}

/* The balance stands in words, if it is of these samples. */
TEST(report_balance)
{
	struct terminal terminal = { .columns = 80 };
	char *report;

	open_summary("a;f 60\na;f;g_[k] 30\nswapper;do_idle_[k] 8\n");
	meta.balanced = meta.foreseen = meta.clock = true;
	meta.sampled = 100;
	meta.lost = 2;
	meta.expected = 110;
	meta.unaccounted = 10;
	meta_note(&meta, "   unaccounted         10   9.1 %%: throttled");
	meta_note(&meta, "                      2  counts: the map was full");
	meta_warning(&meta, "something");
	meta_advice(&meta, "what to do");
	report = write_it(terminal);
	CHECK(strstr(report, "\n110 ticks expected = 100 sampled + 10 "
		     "unaccounted (throttled)\n100 sampled = 60 user + 30 "
		     "kernel + 8 idle + 0 softirq + 0 filtered + 2 lost\n"
		     "  2 counts: the map was full\nwarning: something\n"
		     "  what to do\n"));
	free(report);
	meta.sampled = 101;	/* not of this profile: the lines as they are */
	report = write_it(terminal);
	CHECK(!strstr(report, "expected ="));
	CHECK(strstr(report, "\nunaccounted 10 9.1 %: throttled\n"));
	free(report);
	close_all();
}
