/* SPDX-License-Identifier: MIT */
/*
 * drive [-a] [-k KIND] FAULTY VICTIM DIRECTORY: runs the product again and again, each
 * time with one call that fails, and judges what comes of it.
 *
 * For each kind of run the calls are counted first (faults.c).  Then each of
 * them fails with each errno of rules.h; of calls that come often the first.
 * A call that is in several kinds of run fails in the first of them, and once
 * more where a command is waiting.  With -a (all) the second and the last of
 * each fail, too, and every kind of run has the first errno of every call but
 * of those for memory.
 *
 * A run is right if
 *
 * - it ends by itself, in time, and leaves no child, no descriptor, no memory;
 * - its status is 0, the file is whole, the balance adds up, and the names are
 *   there; or a warning says what is not there;
 * - or its status is another, the message says which error it was, there is
 *   advice where sys/advice.c knows some, and the file is what it was before;
 * - nothing else is left in the directory.
 *
 * Prints a line per kind of run, and at the end a table.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/advice.h"
#include "sys/system.h"
#include "test/faults/rules.h"

enum {
	JOBS_MOST = 20000, CALLS_MOST = 1024, ARGS_MOST = 20, NAME_SIZE = 80,
	WORKERS = 2, PATIENCE_MS = 20000, WHY_SIZE = 240,
};

/* In place of an errno. */
enum { MOVE_ONE_BYTE = -1, END_OF_FILE = -2 };

static const struct {
	const char *name;
	int number;
} numbers[] = {
	{ "E2BIG", E2BIG }, { "EACCES", EACCES }, { "EAGAIN", EAGAIN },
	{ "EBUSY", EBUSY }, { "EDQUOT", EDQUOT }, { "EEXIST", EEXIST },
	{ "EFBIG", EFBIG }, { "EINTR", EINTR }, { "EINVAL", EINVAL },
	{ "EIO", EIO }, { "ELOOP", ELOOP }, { "EMFILE", EMFILE },
	{ "ENFILE", ENFILE }, { "ENODEV", ENODEV }, { "ENOENT", ENOENT },
	{ "ENOEXEC", ENOEXEC }, { "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC },
	{ "ENOSYS", ENOSYS }, { "ENOTDIR", ENOTDIR }, { "ENOTSUPP", 524 },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "EPERM", EPERM }, { "EPIPE", EPIPE },
	{ "EROFS", EROFS }, { "ESRCH", ESRCH }, { "ETXTBSY", ETXTBSY },
	{ "EXDEV", EXDEV }, { "short", MOVE_ONE_BYTE }, { "end", END_OF_FILE },
};

/* How the product is called; words in capitals are filled in. */
static const struct kind {
	const char *name, *faults;	/* faults that are there all the time */
	const char *args[ARGS_MOST];
	bool file;		/* -o, else standard output */
	bool in_place;		/* a half file cannot be avoided, but is said */
	bool spinner;		/* is sampled for certain */
	bool nowhere;		/* the output cannot be read */
	const char *calls;	/* only those that begin so, but always */
} kinds[] = {
	{ "system", NULL, { "-d0.04", "-oout.folded" }, .file = true },
	{ "command", NULL, { "-oout.folded", "--", "VICTIM", "0.03" },
	  .file = true },
	{ "targets", NULL, { "-pSPINNER", "-tPID", "-d0.1", "-oout.folded" },
	  .file = true, .spinner = true },
	{ "cgroup", NULL, { "--cgroup=CGROUP", "-d0.04", "-oout.folded" },
	  .file = true },
	/* Drains while the command runs. */
	{ "long-command", NULL,
	  { "--memory=1", "-F49", "-oout.folded", "--", "VICTIM", "0.25" },
	  .file = true, .calls = "bpf MAP_LOOKUP_AND_DELETE_BATCH" },
	{ "device", NULL, { "-d0.04", "-o/dev/null" }, .nowhere = true },
	{ "drains", NULL,
	  { "-d0.25", "--memory=1", "-F49", "-oout.folded" }, .file = true },
	{ "keys", "bpf MAP_LOOKUP_AND_DELETE_BATCH stacks0#1+=95",
	  { "-d0.04", "-oout.folded" }, .file = true },
	{ "stackid", NULL,
	  { "--engine=stackid", "-oout.folded", "--", "VICTIM", "0.03" },
	  .file = true },
	{ "stdout", NULL, { "-d0.04", "-C0" }, .file = false },
	{ "auto", "bpf PROG_LOAD profile_hash#1+=95",
	  { "--engine=auto", "-d0.04", "-oout.folded" }, .file = true },
	{ "membarrier", "bpf MAP_CREATE barrier#1+=95",
	  { "-d0.04", "-C0", "-oout.folded" }, .file = true },
	{ "kallsyms", "bpf PROG_TEST_RUN #1+=95",
	  { "-d0.04", "-C0", "-oout.folded" }, .file = true },
	{ "in-place", "rename out.folded#1+=16", { "-d0.04", "-oout.folded" },
	  .file = true, .in_place = true },
	{ "check", NULL, { "--check" }, .file = false },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct call {
	char name[NAME_SIZE];
	unsigned long count;
};

struct job {
	int kind, error;
	unsigned long nth;
	const struct rule *rule;
	char name[NAME_SIZE];
	bool may_be_silent;
};

enum outcome { NOT_STRUCK, FAILED, WARNED, SILENT, WRONG, OUTCOMES };

struct result {
	enum outcome outcome;
	char why[WHY_SIZE];
};

/* What one run left. */
struct run {
	int status;		/* of wait(2) */
	bool late, left_running;
	char *err, *out, *report;
};

static const char *faulty, *victim, *only;
static char *cgroup;		/* where cgroup v2 is; NULL: nowhere */
static char spinner_text[16], driver_text[16];
static bool all;
static struct job *jobs;
static size_t job_count, left_out;
static int no_lines;		/* `no` and `--` of --check without a fault */

/* ------------------------------------------------------------------ texts */

static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0, room = 1 << 16;
	char *text = malloc(room);
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + size, room - size - 1)) > 0) {
		size += (size_t)got;
		if (size == room - 1)
			text = realloc(text, room *= 2);
	}
	if (fd >= 0)
		close(fd);
	text[size] = '\0';
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		_exit(98);
}

static const char *error_name(int error)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].number == error)
			return numbers[i].name;
	return "?";
}

static int error_number(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (strlen(numbers[i].name) == length &&
		    !strncmp(numbers[i].name, name, length))
			return numbers[i].number;
	fprintf(stderr, "rules.h: %.*s: no such error\n", (int)length, name);
	exit(1);
}

/* The first line from `text` on that begins so, or NULL. */
static const char *line_with(const char *text, const char *begin)
{
	while (text && strncmp(text, begin, strlen(begin))) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

static int count_lines(const char *text, const char *begin)
{
	int count = 0;

	for (text = line_with(text, begin); text;
	     text = line_with(text + 1, begin))
		count++;
	return count;
}

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

/* ---------------------------------------------------------------- one run */

/* An argument with its word in capitals filled in. */
static char *fill_in(const char *arg)
{
	const struct {
		const char *word, *text;
	} words[] = {
		{ "VICTIM", victim }, { "SPINNER", spinner_text },
		{ "PID", driver_text }, { "CGROUP", cgroup },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *at = strstr(arg, words[i].word);
		char *text;

		if (!at)
			continue;
		text = calloc(1, strlen(arg) + strlen(words[i].text) + 1);
		sprintf(text, "%.*s%s", (int)(at - arg), arg, words[i].text);
		return text;
	}
	return (char *)arg;
}

static void become_product(const struct kind *kind, const char *faults)
{
	static const char *const head[] = { "-v", "-F499", "--memory=8" };
	char *argv[ARGS_MOST + 4];
	size_t count = 0;
	int fd = open("stdout.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	dup2(fd, 1);
	close(fd);
	fd = open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	dup2(fd, 2);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, 0);
	close(fd);
	setenv("FAULTS_REPORT", "report.txt", 1);
	setenv("FAULTS", faults, 1);
	argv[count++] = (char *)faulty;
	for (size_t i = 0; i < 3 && strcmp(kind->name, "check"); i++)
		argv[count++] = (char *)head[i];
	for (size_t i = 0; kind->args[i]; i++)
		argv[count++] = fill_in(kind->args[i]);
	argv[count] = NULL;
	execv(faulty, argv);
	_exit(97);
}

/* Of the children that this process has, one that is called so; 0: none. */
static int child_called(const char *name)
{
	char path[64], *list, *p, *comm;
	int found = 0;

	list = read_file("/proc/thread-self/children");
	for (p = strtok(list, " "); p && !found; p = strtok(NULL, " ")) {
		snprintf(path, sizeof(path), "/proc/%s/comm", p);
		comm = read_file(path);
		if (!strncmp(comm, name, strlen(name)))
			found = atoi(p);
		free(comm);
	}
	free(list);
	return found;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/*
 * What the product started comes to us when it ends.  The command must have
 * ended; a child that was still held notices that we are gone.
 */
static bool leaves_children(void)
{
	const char *slash = strrchr(victim, '/');
	int pid = child_called(slash ? slash + 1 : victim);
	bool left = pid != 0;

	/* The driver itself has the spinner, and no faults. */
	if (getpid() == atoi(driver_text))
		return false;
	for (int i = 0; !left && waitpid(-1, NULL, WNOHANG) >= 0; i++) {
		left = i == 1000;
		sleep_ms(1);
	}
	while (left && (pid = child_called(""))) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return left;
}

static struct run run_product(const struct kind *kind, const char *faults)
{
	struct run run = { 0 };
	struct pollfd end;
	pid_t pid;

	unlink("report.txt");
	unlink("out.folded");
	if (kind->file)
		write_file("out.folded", "old\n");
	pid = fork();
	if (!pid)
		become_product(kind, faults);
	end = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, pid, 0),
			       .events = POLLIN };
	if (poll(&end, 1, PATIENCE_MS) == 0) {
		run.late = true;
		kill(pid, SIGKILL);
	}
	close(end.fd);
	waitpid(pid, &run.status, 0);
	run.left_running = leaves_children();
	run.err = read_file("stderr.txt");
	run.out = read_file(kind->file ? "out.folded" : "stdout.txt");
	run.report = read_file("report.txt");
	return run;
}

static void run_free(struct run *run)
{
	free(run->err);
	free(run->out);
	free(run->report);
}

/* ------------------------------------------------------------------ judging */

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

	while (here && (entry = readdir(here))) {
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

static struct result judge(const struct run *run, const struct job *job)
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

/* -------------------------------------------------------------- which jobs */

static const struct rule *rule_of(const char *name, unsigned long nth)
{
	const struct rule *best = NULL;
	char exact[NAME_SIZE + 8];

	snprintf(exact, sizeof(exact), "%s#%lu", name, nth);
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!strcmp(rules[i].call, exact))
			return &rules[i];
		if (!strncmp(rules[i].call, name, strlen(rules[i].call)) &&
		    (!best || strlen(best->call) < strlen(rules[i].call)))
			best = &rules[i];
	}
	return best;
}

/* 0: with any error. */
static bool was_in_another(int kind, const char *name, int error)
{
	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].kind != kind &&
		    (!error || jobs[i].error == error) &&
		    !strcmp(jobs[i].name, name))
			return true;
	return false;
}

static void add_jobs(int kind, const char *name, unsigned long nth)
{
	const struct rule *rule = rule_of(name, nth);
	bool first = true;

	if (!rule) {
		printf("FAIL faults-rule: rules.h does not know \"%s\"\n",
		       name);
		return;
	}
	for (const char *p = rule->errors; *p; first = false) {
		struct job *job = &jobs[job_count];
		size_t length = strcspn(p, " ");
		bool silent = *p == '~';

		*job = (struct job){
			.kind = kind, .nth = nth, .rule = rule,
			.may_be_silent = silent,
			.error = error_number(p + silent, length - silent),
		};
		strcpy(job->name, name);
		/* For a try any CPU will do. */
		if (!strcmp(kinds[kind].name, "check") &&
		    job->error == ENODEV)
			job->may_be_silent = true;
		if (first || kinds[kind].calls ||
		    !was_in_another(kind, name, job->error))
			job_count++;
		if (job_count == JOBS_MOST)
			abort();
		p += length;
		p += strspn(p, " ");
	}
}

/* Of a call that comes `count` times. */
static void choose(int kind, const struct call *call)
{
	unsigned long firsts = all ? 2 : 1, chosen = 0;
	bool memory = strstr(call->name, "alloc at ");
	bool last = all || (kind == 0 && !memory);

	if (kinds[kind].calls ?
	    strncmp(call->name, kinds[kind].calls, strlen(kinds[kind].calls)) :
	    (!all || memory) && strcmp(kinds[kind].name, "command") &&
	    was_in_another(kind, call->name, 0)) {
		left_out += call->count;
		return;
	}
	for (unsigned long nth = 1; nth <= call->count; nth++) {
		if (nth > (memory ? 1 : firsts) &&
		    (nth < call->count || !last))
			continue;
		add_jobs(kind, call->name, nth);
		chosen++;
	}
	left_out += call->count - chosen;
}

static size_t read_calls(const char *report, struct call *calls)
{
	size_t count = 0;

	for (const char *p = report; (p = line_with(p, "call ")); p++) {
		char *end;

		calls[count].count = strtoul(p + 5, &end, 10);
		snprintf(calls[count].name, NAME_SIZE, "%.*s",
			 (int)strcspn(end + 1, "\n"), end + 1);
		if (++count == CALLS_MOST)
			abort();
	}
	return count;
}

/* A run without a fault of its own: is it right, and what does it call? */
static void count_calls(int kind)
{
	static struct call calls[CALLS_MOST];
	static const struct call in_child[] = {
		{ "child execvp split", 1 }, { "child read pipe:[N]", 1 },
		{ "child setpriority", 1 },
	};
	struct job none = { .kind = kind, .name = "none", .may_be_silent = true,
			    .rule = &rules[0] };
	const char *faults = kinds[kind].faults ? kinds[kind].faults : "";
	struct result result = { .outcome = SILENT };
	struct run run;
	size_t count;

	if (!strcmp(kinds[kind].name, "cgroup") && !cgroup) {
		printf("skip faults-cgroup: no cgroup v2 is mounted\n");
		return;
	}
	run = run_product(&kinds[kind], faults);
	count = read_calls(run.report, calls);
	if (!strcmp(kinds[kind].name, "check"))
		no_lines = count_lines(run.out, "no  ") +
			   count_lines(run.out, "--  ");
	if (!judge_rest(&run, &none, &result) || run.status ||
	    !judge_success(&run, &kinds[kind], &result)) {
		if (result.outcome != WRONG)
			wrong(&result, "status %d: %s", run.status, run.err);
		printf("FAIL faults-%s: without a fault: %s\n",
		       kinds[kind].name, result.why);
		run_free(&run);
		return;
	}
	run_free(&run);
	for (size_t i = 0; i < count; i++)
		choose(kind, &calls[i]);
	for (size_t i = 0; i < sizeof(in_child) / sizeof(*in_child); i++)
		if (!strcmp(kinds[kind].name, "command"))
			choose(kind, &in_child[i]);
}

/* --------------------------------------------------------------- all runs */

static struct result do_job(const struct job *job)
{
	const char *always = kinds[job->kind].faults;
	char faults[4 * NAME_SIZE], what[16];
	struct result result;
	struct run run;

	snprintf(what, sizeof(what), "%d", job->error);
	snprintf(faults, sizeof(faults), "%s#%lu=%s;%s", job->name, job->nth,
		 job->error > 0 ? what : error_name(job->error),
		 always ? always : "");
	run = run_product(&kinds[job->kind], faults);
	result = judge(&run, job);
	run_free(&run);
	return result;
}

static void work(size_t worker, size_t *next, struct result *results)
{
	char name[16];

	snprintf(name, sizeof(name), "%zu", worker);
	if ((mkdir(name, 0700) && errno != EEXIST) || chdir(name))
		_exit(98);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (;;) {
		size_t i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);

		if (i >= job_count)
			_exit(0);
		results[i] = do_job(&jobs[i]);
	}
}

static void tell_kind(int kind, const struct result *results)
{
	size_t sums[OUTCOMES] = { 0 }, runs = 0;

	for (size_t i = 0; i < job_count; i++) {
		if (jobs[i].kind != kind)
			continue;
		runs++;
		sums[results[i].outcome]++;
		if (results[i].outcome == WRONG)
			printf("FAIL faults-%s: %s#%lu %s: %s\n",
			       kinds[kind].name, jobs[i].name, jobs[i].nth,
			       error_name(jobs[i].error), results[i].why);
	}
	if (runs && !sums[WRONG])
		printf("ok faults-%s (%zu runs: %zu failed and said so, %zu "
		       "warned, %zu needed no word, %zu did not come to it)\n",
		       kinds[kind].name, runs, sums[FAILED], sums[WARNED],
		       sums[SILENT], sums[NOT_STRUCK]);
}

/* Calls as in the table: memory's places and the numbers' order do not matter. */
static void row_name(const struct job *job, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s", job->name);
	if (strstr(name, "alloc at "))
		*strchr(name, ' ') = '\0';
}

static void table(const struct result *results)
{
	bool *done = calloc(job_count + 1, sizeof(*done));

	printf("# %-48s %-10s %5s %6s %6s %6s %6s\n", "call", "errno", "runs",
	       "failed", "warned", "silent", "wrong");
	for (size_t i = 0; i < job_count; i++) {
		size_t sums[OUTCOMES] = { 0 }, runs = 0;
		char name[NAME_SIZE], other[NAME_SIZE];

		if (done[i])
			continue;
		row_name(&jobs[i], name);
		for (size_t j = i; j < job_count; j++) {
			row_name(&jobs[j], other);
			if (jobs[j].error != jobs[i].error ||
			    strcmp(name, other))
				continue;
			done[j] = true;
			runs += results[j].outcome != NOT_STRUCK;
			sums[results[j].outcome]++;
		}
		if (runs)
			printf("# %-48s %-10s %5zu %6zu %6zu %6zu %6zu\n", name,
			       error_name(jobs[i].error), runs, sums[FAILED],
			       sums[WARNED], sums[SILENT], sums[WRONG]);
	}
	free(done);
}

/* Where cgroup2 is mounted, or NULL. */
static char *find_cgroup(void)
{
	char *mounts = read_file("/proc/mounts"), *path = NULL;

	for (char *p = strtok(mounts, "\n"); p && !path; p = strtok(NULL, "\n"))
		if (strstr(p, " cgroup2 "))
			path = strndup(strchr(p, ' ') + 1,
				       strcspn(strchr(p, ' ') + 1, " "));
	free(mounts);
	return path;
}

/* Something to sample.  It ends with us. */
static pid_t start_spinner(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (nice(10) == -1)
			_exit(98);
		for (volatile unsigned long n = 0;; n++)
			;
	}
	return pid;
}

static void run_all(struct result *results)
{
	size_t *next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t workers[WORKERS];

	for (size_t i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (!workers[i])
			work(i, next, results);
	}
	for (size_t i = 0; i < WORKERS; i++)
		waitpid(workers[i], NULL, 0);
}

int main(int argc, char **argv)
{
	struct result *results = mmap(NULL, JOBS_MOST * sizeof(*results),
				      PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int option;
	pid_t spinner;

	while ((option = getopt(argc, argv, "ak:")) >= 0) {
		all |= option == 'a';
		only = option == 'k' ? optarg : only;
	}
	if (argc - optind != 3) {
		fprintf(stderr, "usage: drive [-a] [-k KIND] FAULTY VICTIM "
			"DIRECTORY\n");
		return 2;
	}
	faulty = realpath(argv[optind], NULL);
	victim = realpath(argv[optind + 1], NULL);
	if (!faulty || !victim || chdir(argv[optind + 2])) {
		perror("drive");
		return 1;
	}
	cgroup = find_cgroup();
	jobs = calloc(JOBS_MOST, sizeof(*jobs));
	spinner = start_spinner();
	snprintf(spinner_text, sizeof(spinner_text), "%d", spinner);
	snprintf(driver_text, sizeof(driver_text), "%d", getpid());
	for (int kind = 0; kind < KINDS; kind++)
		if (!only || !strcmp(only, kinds[kind].name))
			count_calls(kind);
	fflush(stdout);
	run_all(results);
	kill(spinner, SIGKILL);
	for (int kind = 0; kind < KINDS; kind++)
		tell_kind(kind, results);
	table(results);
	printf("# %zu runs; %zu calls more, each like one that failed\n",
	       job_count, left_out);
	return 0;
}
