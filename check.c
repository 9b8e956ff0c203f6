/* SPDX-License-Identifier: MIT */
/*
 * check: what this machine allows, by trying it.
 *
 * A line is `ok`, `no` (the main job needs it) or `--` (something less works
 * without it), what was tried, and what came out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>

#include "check.h"
#include "kallsyms.h"
#include "lib/file.h"
#include "lib/text.h"
#include "loader.h"
#include "proc/namespace.h"
#include "proc/sideband.h"
#include "samples.h"
#include "sym/asked.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/events.h"
#include "sys/perf.h"
#include "sys/system.h"

struct check {
	struct text text;
	bool works;
};

enum weight { NEEDED, HELPFUL };

/* `why` is shown where it works, too: a detail. */
static void tell(struct check *check, bool ok, enum weight weight,
		 const char *what, const char *why, const char *remedy)
{
	text_format(&check->text, "%s  %-34s %s\n",
		    ok ? "ok" : weight == NEEDED ? "no" : "--", what, why);
	if (!ok && remedy)
		text_format(&check->text, "      %s\n", remedy);
	if (!ok && weight == NEEDED)
		check->works = false;
}

static void tell_error(struct check *check, int error, enum weight weight,
		       const char *what, enum advice_on on)
{
	tell(check, !error, weight, what, error ? system_strerror(error) : "",
	     advice(on, error));
}

/* ------------------------------------------------------------- the kernel */

static int try_map(uint32_t type, uint32_t key, uint32_t value, uint32_t most)
{
	struct bpf_map_attr attr = {
		.type = type, .key_size = key, .value_size = value,
		.max_entries = most, .name = "check",
	};
	int fd = bpf_map_create(&attr);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_batches(void)
{
	struct bpf_map_attr attr = {
		.type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 8,
		.max_entries = 1, .name = "check",
	};
	struct bpf_batch_token token = { 0 };
	uint64_t key, value;
	uint32_t count = 1;
	int fd = bpf_map_create(&attr), error = fd;

	if (fd < 0)
		return error;
	error = bpf_map_lookup_and_delete_batch(fd, &token, 1, &key, &value,
						&count);
	close(fd);
	return error == -ENOENT ? 0 : error;
}

static int try_program(struct bytes object, const char *program)
{
	struct loader *loader = loader_open(object, "bpf_prog.o");
	int error = -ENOEXEC;

	if (loader) {
		loader_silence(loader, true);
		error = loader_choose(loader, program);
		if (!error)
			error = loader_load(loader);
	}
	loader_close(loader);
	return error;
}

static int try_event(const char *name)
{
	struct perf_event_attr attr;
	struct event_kind kind;
	int fd;

	event_find(name, &kind);
	memset(&attr, 0, sizeof(attr));
	attr.type = kind.type;
	attr.config = kind.config;
	attr.sample_period = 100000000;
	attr.disabled = 1;
	fd = perf_event_open(&attr, -1, 0, -1, 0);
	/* CPU 0 can be off line; any other does for a try. */
	for (int cpu = 1; fd == -ENODEV && cpu < 64; cpu++)
		fd = perf_event_open(&attr, -1, cpu, -1, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void check_kernel(struct check *check, struct bytes object)
{
	int error;

	tell_error(check, try_map(BPF_MAP_TYPE_HASH, 8, 1040, 1024), NEEDED,
		   "bpf(BPF_MAP_CREATE), 1 MB", ADVICE_MAP);
	tell_error(check, try_program(object, samples_program(ENGINE_HASH)),
		   NEEDED, "bpf(BPF_PROG_LOAD), engine hash", ADVICE_TRY);
	tell_error(check,
		   try_program(object, samples_program(ENGINE_STACKID)),
		   HELPFUL, "bpf(BPF_PROG_LOAD), engine stackid", ADVICE_TRY);
	error = try_program(object, "walk_steps");
	if (!error)
		error = try_program(object, "walk_copy");
	tell(check, !error, HELPFUL, "bpf(BPF_PROG_LOAD), stack walker",
	     error ? system_strerror(error) : "",
	     "without it user stacks are by frame pointers alone");
	error = try_program(object, "walk_begin");
	tell(check, !error, HELPFUL, "... for samples in the kernel, too",
	     error ? system_strerror(error) : "",
	     "they are by frame pointers: Linux 5.15 and CONFIG_DEBUG_INFO_BTF "
	     "are wanted");
	error = try_batches();
	tell(check, !error, HELPFUL, "bpf(.._LOOKUP_AND_DELETE_BATCH)",
	     error ? system_strerror(error) : "",
	     "without batches a drain takes ten times as long, nothing else");
	tell_error(check, try_event("cpu-clock"), NEEDED,
		   "perf_event_open, cpu-clock", ADVICE_EVENT);
	tell_error(check, try_event("cycles"), HELPFUL,
		   "perf_event_open, cycles (hardware)", ADVICE_EVENT);
}

static void check_sideband(struct check *check)
{
	struct cpus cpus = { 0 };
	struct sideband *sideband = NULL;

	if (!cpus_online(&cpus))
		sideband = sideband_open(&cpus, true);
	tell(check, sideband, HELPFUL, "ring of forks and exits, -p, --",
	     "", "why is on standard error");
	sideband_close(sideband);
	cpus_free(&cpus);
}

/* ------------------------------------------------------------------ names */

static void check_names(struct check *check, struct bytes object)
{
	struct kallsyms_facts facts;
	int error = kallsyms_find("/proc/kallsyms", NULL, 0, &facts);
	/* Any address will do: that it can be asked for is the question. */
	struct kallsyms_name name = { .address = 4096 };
	int asked = asked_names(object, &name, 1);

	tell(check, !asked, HELPFUL, "kernel names, by asking it",
	     asked ? "not before Linux 5.14, or not permitted" : "",
	     error || facts.hidden ? "without this and /proc/kallsyms kernel "
	     "frames stay addresses" : NULL);
	tell(check, !error && !facts.hidden, HELPFUL,
	     "kernel names, /proc/kallsyms", error ? system_strerror(error) :
	     facts.hidden ? "all addresses are hidden" : "",
	     error ? "mount -t proc proc /proc" :
	     "sysctl kernel.kptr_restrict=0, or CAP_SYSLOG");
}

static void check_processes(struct check *check)
{
	uint64_t device, inode;
	int error = namespace_check_proc();

	tell(check, !error, HELPFUL, "files of user frames, /proc/PID",
	     error == -EXDEV ? "/proc is another PID namespace's" :
	     error ? "/proc is not mounted" : "",
	     "mount -t proc proc /proc");
	namespace_name(&device, &inode);
	tell(check, true, HELPFUL, "PID namespace",
	     inode ? "not the first: numbers are translated" : "the first",
	     NULL);
}

/* --------------------------------------------------------------- settings */

static void tell_sysctl(struct check *check, const char *name)
{
	char value[64] = "not there";
	struct text path = { 0 };

	text_format(&path, "/proc/sys/kernel/%s", name);
	if (file_read_text(path.data, value, sizeof(value)))
		strcpy(value, "not there");
	text_free(&path);
	text_format(&check->text, "    kernel.%-27s %s\n", name, value);
}

/* The capabilities that matter, of those that this process has. */
static void tell_capabilities(struct check *check)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} wanted[] = {
		{ CAP_SYS_ADMIN, "sys_admin" }, { 39, "bpf" },
		{ 38, "perfmon" }, { CAP_SYSLOG, "syslog" },
		{ CAP_SYS_PTRACE, "sys_ptrace" },
		{ CAP_SYS_RESOURCE, "sys_resource" },
		{ CAP_SYS_NICE, "sys_nice" },
	};
	struct lines lines;
	uint64_t have = 0;
	char *line;

	if (lines_open(&lines, "/proc/self/status"))
		return;
	while ((line = lines_next(&lines)))
		if (!strncmp(line, "CapEff:", 7))
			have = strtoull(line + 7, NULL, 16);
	lines_close(&lines);
	text_format(&check->text, "    %-34s", "capabilities");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		text_format(&check->text, " %s%s",
			    have >> wanted[i].bit & 1 ? "" : "no-",
			    wanted[i].name);
	text_format(&check->text, "\n");
}

static void check_settings(struct check *check)
{
	static const char *const names[] = {
		"perf_event_paranoid", "kptr_restrict", "perf_event_max_stack",
		"perf_event_max_sample_rate", "unprivileged_bpf_disabled",
	};
	char lockdown[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		tell_sysctl(check, names[i]);
	if (!file_read_text("/sys/kernel/security/lockdown", lockdown,
			    sizeof(lockdown)))
		text_format(&check->text, "    %-34s %s\n", "lockdown",
			    lockdown);
	tell_capabilities(check);
}

bool check_machine(struct bytes object, struct text *text)
{
	struct check check = { .works = true };

	system_lift_memlock();
	check_kernel(&check, object);
	check_sideband(&check);
	check_names(&check, object);
	check_processes(&check);
	check_settings(&check);
	text_format(text, "%s%s\n", check.text.data, check.works ?
		    "prof works here" : "prof does not work here");
	text_free(&check.text);
	return check.works;
}
