/* SPDX-License-Identifier: MIT */
/*
 * judge: whether a run in which a call failed is as it has to be:
 *
 * - it ends by itself, in time, and leaves no child, no descriptor, no memory;
 * - its status is 0, the file is whole, the balance adds up, and the names are
 *   there; or a warning says what is not there;
 * - or its status is another, the message says which error it was, there is
 *   advice where sys/advice.c knows some, and the file is what it was before;
 * - nothing else is left in the directory.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/system.h"
#include "test/faults/drive.h"

static int no_lines;	/* `no` and `--` of --check without a fault */

/* The number of a line of the balance: "prof:        user         12 ...". */
static long long balance(const char *err, const char *label)
{
	for (const char *p = err; (p = line_with(p, "prof: ")); p++) {
		const char *word = p + 5 + strspn(p + 5, " ");

		if (!strncmp(word, label, strlen(label)) &&
		    word[strlen(label)] == ' ')
			return strtoll(word + strlen(label), NULL, 10);
	}
	return 0;
}

/* The number in front of this word in the balance's first line; -1: none. */
static long long head_of(const char *err, const char *word)
{
	const char *end = strstr(err, word), *p = end;

	if (!end || !strstr(err, " s on "))
		return -1;
	while (p > err && !(p[-1] >= '0' && p[-1] <= '9'))
		p--;
	while (p > err && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return strtoll(p, NULL, 10);
}

static bool wrong(struct result *result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(result->why, sizeof(result->why), format, args);
	va_end(args);
	result->outcome = WRONG;
	for (char *p = result->why; *p; p++)
		if (*p == '\n')
			*p = '|';
	return false;
}

/* Removes what is left, and says so. */
static bool has_leftover(void)
{
	DIR *here = opendir(".");
	struct dirent *entry;
	bool found = false;

	if (!here)
		return false;
	while ((entry = readdir(here))) {
		if (strncmp(entry->d_name, ".prof.", 6))
			continue;
		found = true;
		unlink(entry->d_name);
	}
	closedir(here);
	return found;
}

/* Folded stacks, whole: their sum, or -1. */
static long long sum_of(const char *folded)
{
	long long sum = 0;

	while (*folded) {
		const char *end = strchr(folded, '\n'), *space = end;
		char *after;

		if (!end)
			return -1;
		while (space > folded && *space != ' ')
			space--;
		if (space == folded)
			return -1;
		sum += strtoll(space, &after, 10);
		if (after != end || after == space + 1)
			return -1;
		folded = end + 1;
	}
	return sum;
}

/* Whether a frame ends so and begins with "[0x": an address. */
static bool is_address(const char *frame, size_t length, const char *end)
{
	return length > strlen(end) && !strncmp(frame, "[0x", 3) &&
	       !strncmp(frame + length - strlen(end), end, strlen(end));
}

/* Whether there are frames of this ending, but all of them are addresses. */
static bool nameless(const char *folded, const char *end)
{
	bool any = false;

	for (const char *p = folded; *p;) {
		size_t length = strcspn(p, "; \n");

		if (is_address(p, length, end))
			any = true;
		else if (length > strlen(end) &&
			 !strncmp(p + length - strlen(end), end, strlen(end)))
			return false;
		p += length;
		p += *p != '\0';
	}
	return any;
}

static bool in_line(const char *line, const char *words)
{
	const char *found = strstr(line, words);

	return found && (size_t)(found - line) < strcspn(line, "\n");
}

/* A warning, or the word for this error: not of idle CPUs' missing ticks. */
static bool is_said(const struct run *run, const struct job *job)
{
	const char *text = job->error > 0 ? system_strerror(job->error) :
			   "\n\n";

	if (strstr(run->err, text) || strstr(run->err, "memory: "))
		return true;
	if (!strcmp(kinds[job->kind].name, "check"))
		return strstr(run->out, text) ||
		       count_lines(run->out, "no  ") +
		       count_lines(run->out, "--  ") > no_lines;
	for (const char *p = run->err; (p = line_with(p, "prof: warning: "));
	     p++)
		if (!in_line(p, "of the samples did not come") &&
		    !in_line(p, "no sample: it was never") &&
		    !in_line(p, "MB are too little") &&
		    !in_line(p, "was refused: trying stackid"))
			return true;
	return false;
}

static bool judge_success(const struct run *run, const struct kind *kind,
			  struct result *result)
{
	static const char *const modes[] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};
	long long sum = 0, sampled = head_of(run->err, " sampled");
	bool said = line_with(run->err, "prof: warning: ");

	if (!strcmp(kind->name, "check"))
		return strstr(run->out, "prof works here") ? true :
		       wrong(result, "status 0: %s", run->out);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		sum += balance(run->err, modes[i]);
	if (!kind->nowhere && sum_of(run->out) != sum)
		return wrong(result, "status 0, balance %lld, but: %.60s", sum,
			     run->out);
	sum += balance(run->err, "filtered") + balance(run->err, "lost");
	if ((sum != sampled && !strstr(run->err, " were drained, but")) ||
	    sampled + balance(run->err, "unaccounted") !=
	    head_of(run->err, " ticks expected"))
		return wrong(result, "the balance does not add up: %s",
			     strstr(run->err, " s on "));
	if (!said && nameless(run->out, "_[k]"))
		return wrong(result, "no kernel names, without a word");
	/* The spinner is there all the time. */
	if (!said && kind->spinner && !strstr(run->out, "[drive+0x"))
		return wrong(result, "no user names, without a word");
	return true;
}

static bool judge_failure(const struct run *run, const struct job *job,
			  struct result *result)
{
	const struct kind *kind = &kinds[job->kind];
	const char *line = line_with(run->err, "prof: ");
	int status = WEXITSTATUS(run->status);

	if (!strcmp(kind->name, "check"))
		return strstr(run->out, "does not work here") ||
		       strstr(run->err, "prof: ") ? true :
		       wrong(result, "status %d: %s", status, run->err);
	if (status != 1 && status != 126 && status != 127)
		return wrong(result, "status %d: %s", status, run->err);
	if (kind->file && !kind->in_place && strcmp(run->out, "old\n"))
		return wrong(result, "status %d, but the old file is: %.60s",
			     status, run->out);
	if (!line || !is_said(run, job))
		return wrong(result, "status %d, but no word of %s: %s", status,
			     error_name(job->error), run->err);
	if (job->rule->advice_on != NO_ADVICE && job->error > 0 &&
	    advice((enum advice_on)job->rule->advice_on, -job->error) &&
	    !line_with(run->err, "      "))
		return wrong(result, "no advice: %s", run->err);
	return true;
}

static bool judge_rest(const struct run *run, const struct job *job,
		       struct result *result)
{
	const char *open = line_with(run->report, "open ");
	bool no_memory = strstr(run->err, "prof: memory: ");
	bool temporary = has_leftover();

	if (run->late)
		return wrong(result, "did not end: %s", run->err);
	if (WIFSIGNALED(run->status))
		return wrong(result, "signal %d: %s", WTERMSIG(run->status),
			     run->err);
	if (run->left_running)
		return wrong(result, "the command was left: %s", run->err);
	if (temporary && !strstr(job->name, "unlink"))
		return wrong(result, "a temporary file is left: %s", run->err);
	if (!line_with(run->report, "struck "))
		return wrong(result, "no report: %s", run->err);
	/* Without memory it ends at once; the kernel closes for it. */
	if (open && !no_memory)
		return wrong(result, "not closed: %.60s", open);
	if (!line_with(run->report, "blocks 0\n") && !no_memory)
		return wrong(result, "not freed: %s",
			     line_with(run->report, "blocks "));
	return true;
}

struct result judge(const struct run *run, const struct job *job)
{
	struct result result = { .outcome = FAILED };
	bool stderr_broken = !strcmp(job->name, "write stderr");

	if (!judge_rest(run, job, &result))
		return result;
	if (line_with(run->report, "struck 0") &&
	    strncmp(job->name, "child ", 6)) {
		result.outcome = NOT_STRUCK;
		return result;
	}
	if (WEXITSTATUS(run->status)) {
		judge_failure(run, job, &result);
		return result;
	}
	result.outcome = is_said(run, job) ? WARNED : SILENT;
	if (!stderr_broken &&
	    !judge_success(run, &kinds[job->kind], &result))
		return result;
	if (result.outcome == SILENT && !job->may_be_silent)
		wrong(&result, "not a word of it");
	return result;
}

struct result judge_plain(const struct run *run, const struct job *job)
{
	const struct kind *kind = &kinds[job->kind];
	struct result result = { .outcome = SILENT };

	if (!strcmp(kind->name, "check"))
		no_lines = count_lines(run->out, "no  ") +
			   count_lines(run->out, "--  ");
	if (judge_rest(run, job, &result) &&
	    judge_success(run, kind, &result) && run->status)
		wrong(&result, "status %d: %s", run->status, run->err);
	return result;
}
