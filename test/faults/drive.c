/* SPDX-License-Identifier: MIT */
/*
 * drive [-a] [-k KIND] FAULTY VICTIM DIRECTORY: runs the product again and
 * again, each time with one call that fails, and judges what comes of it.
 *
 * For each kind of run the calls are counted first (faults.c).  Then each of
 * them fails with each errno of rules.h; of calls that come often the first,
 * and of those on the output the last.
 * A call that is in several kinds of run fails in the first of them, and once
 * more where a command is waiting.  With -a (all) the second and the last of
 * each fail, too, and every kind of run has the first errno of every call but
 * of those for memory.
 *
 * What is right says judge.c.  Prints a line per kind of run, and at the end
 * a table.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

#include "test/faults/drive.h"
#include "test/faults/rules.h"

enum {
	JOBS_MOST = 20000, CALLS_MOST = 1024, WORKERS = 2, PATIENCE_MS = 20000,
};

const struct kind kinds[] = {
	{ "system", NULL, { "-d0.04", "-oout.folded" }, .file = true },
	{ "command", NULL, { "-oout.folded", "--", "VICTIM", "0.03" },
	  .file = true },
	{ "targets", NULL, { "-pSPINNER", "-tPID", "-d0.1", "-oout.folded" },
	  .file = true, .spinner = true },
	{ "cgroup", NULL, { "--cgroup=CGROUP", "-d0.04", "-oout.folded" },
	  .file = true },
	/* Drains while the command runs. */
	{ "long-command", NULL,
	  { "--memory=1", "-F49", "-oout.folded", "--", "VICTIM", "0.15" },
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

static const char *faulty, *victim, *only;
static char *cgroup;		/* where cgroup v2 is; NULL: nowhere */
static char spinner_text[16], driver_text[16];
static bool all;
static struct job *jobs;
static size_t job_count, left_out;

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
		if (!text)
			_exit(98);
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
	/* A file is tried, then written, then put in place. */
	bool last = all || strstr(call->name, "out.folded") ||
		    strstr(call->name, ".prof.X");

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
	struct result result;
	struct run run;
	size_t count;

	if (!strcmp(kinds[kind].name, "cgroup") && !cgroup) {
		printf("skip faults-cgroup: no cgroup v2 is mounted\n");
		return;
	}
	run = run_product(&kinds[kind], faults);
	count = read_calls(run.report, calls);
	result = judge_plain(&run, &none);
	run_free(&run);
	if (result.outcome == WRONG) {
		printf("FAIL faults-%s: without a fault: %s\n",
		       kinds[kind].name, result.why);
		return;
	}
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
