/* SPDX-License-Identifier: MIT */
/*
 * run: the stages of one run, from the command line's wishes to the balance.
 *
 *	check ─> choose ─> load ─> open ─> start
 *	   ─> sample ─> name ─> write ─> balance ─> close
 *	      │  ^
 *	      └──┘ a drain each second
 *
 * prof.c calls them in this order; what passes between them is struct run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in/in.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "out/out.h"
#include "proc/namespace.h"
#include "run.h"
#include "sys/explain.h"
#include "sys/signals.h"
#include "sys/system.h"

/* ------------------------------------------------------------ what is asked */

/* Better to fail now than after an hour of sampling. */
int run_check(struct run *run)
{
	const struct options *options = run->options;

	explain_stage("check", "can the results be written?");
	if (!options->output_count)
		explain("standard output is all that is written: nothing to "
			"try");
	for (size_t i = 0; i < options->output_count; i++) {
		int error = file_out_check(options->outputs[i]);

		if (!error) {
			explain("%s: can be written", options->outputs[i]);
			continue;
		}
		log_error("%s: open: %s", options->outputs[i],
			  system_strerror(error));
		log_advice("give -o a file in a directory that is there and "
			   "can be written");
		return error;
	}
	return 0;
}

/* Of these CPUs those that -C wants; all, without it. */
void run_keep_wanted(const struct options *options, struct cpus *cpus)
{
	struct cpus wanted = { 0 };
	size_t kept = 0;

	if (!options->cpus)
		return;
	cpus_parse(&wanted, options->cpus);
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus_contain(&wanted, cpus->cpu[i]))
			cpus->cpu[kept++] = cpus->cpu[i];
	cpus->count = kept;
	cpus_free(&wanted);
}

static int choose_cpus(struct run *run)
{
	struct cpus wanted = { 0 };
	int error = cpus_online(&run->cpus);

	if (error) {
		log_error("CPUs: list: neither /sys/devices/system/cpu/online "
			  "nor sched_getaffinity(2) tells");
		return error;
	}
	run_keep_wanted(run->options, &run->cpus);
	if (!run->cpus.count) {
		char online[256];

		log_error("-C %s: CPUs: none of them is on line",
			  run->options->cpus);
		if (!file_read_text("/sys/devices/system/cpu/online", online,
				    sizeof(online)))
			log_advice("those on line are %s", online);
		return -1;
	}
	if (run->options->cpus)
		cpus_parse(&wanted, run->options->cpus);
	for (size_t i = 0; i < wanted.count; i++)
		if (!cpus_contain(&run->cpus, wanted.cpu[i]))
			log_warning("CPU %u: -C: off line or not there",
				    wanted.cpu[i]);
	cpus_free(&wanted);
	return 0;
}

static void say_command(const struct run *run, int error)
{
	log_error("%s: execute: %s", run->options->command[0],
		  system_strerror(error));
	if (error == -ENOENT && strchr(run->options->command[0], '/') &&
	    !access(run->options->command[0], F_OK))
		log_advice("it is there, but not its interpreter or dynamic "
			   "linker: file(1) names them");
	else if (error == -ENOENT)
		log_advice("give the path of a file that is there, or a name "
			   "in PATH");
	else if (error == -EACCES)
		log_advice("it has to be a file that may be executed: chmod +x");
	else if (error == -ENOEXEC)
		log_advice("no program of this machine; a script begins with "
			   "#! and its interpreter");
}

/* The command is there, but waits, so that nothing of it is missed. */
static int open_command(struct run *run)
{
	char **argv = run->options->command;
	int error = command_open(&run->command, argv);

	if (error) {
		say_command(run, error);
		run->command.status = error == -ENOENT ? 127 : 126;
		return error;
	}
	targets_add_child(run->targets, (uint32_t)run->command.pid);
	signals_pass_on(run->command.pid);
	return 0;
}

static int choose_tasks(struct run *run)
{
	const struct options *options = run->options;
	int error = 0;

	if (options->cgroup) {
		run->cgroup_fd = system_open_directory(options->cgroup);
		if (run->cgroup_fd < 0) {
			log_error("%s: --cgroup: open: %s", options->cgroup,
				  system_strerror(run->cgroup_fd));
			log_advice("give it as /sys/fs/cgroup/...; "
				   "/proc/PID/cgroup tells a process's own");
			return -1;
		}
	}
	if (!options->pid_count && !options->tid_count && !options->command)
		return 0;
	run->targets = targets_new();
	for (size_t i = 0; !error && i < options->pid_count; i++)
		error = targets_add_process(run->targets, options->pids[i]);
	for (size_t i = 0; !error && i < options->tid_count; i++)
		error = targets_add_thread(run->targets, options->tids[i]);
	if (!error && options->command)
		error = open_command(run);
	return error;
}

int run_choose(struct run *run)
{
	int error;

	explain_stage("choose", "which CPUs, which tasks");
	error = choose_cpus(run);
	if (error)
		return error;
	explain("%zu CPUs are on line and wanted", run->cpus.count);
	return choose_tasks(run);
}

/* ------------------------------------------------------------ getting ready */

/* How fast every-so-many of something come nobody knows. */
enum { UNKNOWN_HZ = 10000 };

static uint64_t samples_a_second(const struct options *options)
{
	if (!options->event.period)
		return options->hz;
	return options->event.clock ? 1000000000 / options->event.period :
				      UNKNOWN_HZ;
}

/* The kernel refuses a map of deeper stacks than it takes. */
static void fit_stackid(struct loader *loader)
{
	uint64_t depth = system_sysctl("kernel/perf_event_max_stack",
				       STACK_DEPTH);

	if (depth && depth < STACK_DEPTH)
		loader_resize(loader, "stackid_stacks", 0,
			      (uint32_t)depth * 8);
}

static int try_engine(struct run *run, enum engine engine)
{
	loader_close(run->loader);
	run->engine = engine;
	run->loader = loader_open(run->object, "bpf_prog.o");
	if (!run->loader || samples_resize(run->loader, &run->plan))
		return -1;
	loader_explain(run->loader);
	if (engine == ENGINE_STACKID)
		fit_stackid(run->loader);
	if (loader_choose(run->loader, samples_program(engine)))
		return -1;
	return loader_load(run->loader);
}

/* The textbook's engine is simple enough to be taken where the other is not. */
static int load_engine(struct run *run)
{
	int error = try_engine(run, run->options->engine == OPTION_STACKID ?
			       ENGINE_STACKID : ENGINE_HASH);

	/* Only if the program is what was refused, not we, or for want of room. */
	if (run->options->engine != OPTION_AUTO ||
	    (error != -EACCES && error != -EINVAL && error != -E2BIG &&
	     error != -EOPNOTSUPP))
		return error;
	log_warning("engine hash: was refused: trying stackid, which loses "
		    "stacks");
	return try_engine(run, ENGINE_STACKID);
}

int run_load(struct run *run)
{
	const struct options *options = run->options;
	struct scope scope = { .cgroup = run->cgroup_fd >= 0 };
	uint64_t device, inode, hz = samples_a_second(options);

	explain_stage("load", "an object file becomes maps and a program");
	run->plan = samples_plan(hz, run->cpus.count, options->memory);
	log_detail("maps: %u stacks and %u counts in each pair, %.1f MB, "
		   "drained every %.2f s", run->plan.stacks, run->plan.counts,
		   (double)run->plan.bytes / 1e6,
		   (double)run->plan.interval / 1e9);
	if (run->plan.cut)
		log_warning("--memory: %" PRIu64 " MB are too little for %"
			    PRIu64 " Hz on %zu CPUs: samples may be lost",
			    options->memory >> 20, hz, run->cpus.count);
	samples_explain(run->options->engine == OPTION_STACKID ?
			ENGINE_STACKID : ENGINE_HASH, &run->plan);
	/* Only kernels before 5.11 need it, and they say so: EPERM. */
	system_lift_memlock();
	if (load_engine(run))
		return -1;
	namespace_name(&device, &inode);
	scope.namespace_device = device;
	scope.namespace_inode = inode;
	run->samples = samples_open(run->loader, run->engine, true, &scope,
				    run->cgroup_fd);
	return run->samples ? 0 : -1;
}

/* What stdout gets: folded stacks, or a report if a person looks; or NULL. */
static const struct out_format *format_of_stdout(const struct options *options)
{
	if (options->format)
		return out_named(options->format);
	if (options->output_count)
		return NULL;
	return out_named(system_is_terminal(STDOUT_FILENO) ? "report" :
							     "folded");
}

/* What the options and the outputs want: SHOW_ flags. */
static unsigned int what_to_show(const struct options *options)
{
	const struct out_format *format = format_of_stdout(options);
	unsigned int show = options->no_idle ? 0 : SHOW_IDLE;

	explain_stage("open", "what samples are gathered in");
	if (options->kernel || !options->user)
		show |= SHOW_KERNEL;
	if (options->user || !options->kernel)
		show |= SHOW_USER;
	if (options->no_demangle)
		show |= SHOW_MANGLED;
	for (size_t i = 0; i < options->output_count; i++)
		show |= out_for_file(options->outputs[i])->show;
	if (format)
		show |= format->show;
	return show;
}

/* The profile, still empty, and how deep its stacks can be. */
int run_open(struct run *run)
{
	const struct options *options = run->options;

	run->profile = profile_new(what_to_show(options),
				   system_sysctl("kernel/perf_event_max_stack",
						 STACK_DEPTH),
				   options->kallsyms, run->object);
	if (profile_check(run->profile))
		return -1;
	/*
	 * The kernel allows max_rate / CONFIG_HZ ticks per timer tick, rounded
	 * up, and ticks come in bunches: 997 Hz with a limit of 1000 give two
	 * thirds.  At half of the limit none is dropped.
	 */
	run->balance.max_rate =
		system_sysctl("kernel/perf_event_max_sample_rate", 0);
	explain("tasks, frames, stacks, each once, in our own memory; nothing "
		"of the kernel's");
	if (options->event.clock && run->balance.max_rate &&
	    samples_a_second(options) > run->balance.max_rate / 2)
		log_warning("%" PRIu64 " Hz: above half of "
			    "kernel.perf_event_max_sample_rate=%" PRIu64
			    ": the kernel will throttle",
			    samples_a_second(options), run->balance.max_rate);
	return 0;
}

/*
 * Processes are born on all CPUs, also on those that -C leaves out.  Who is
 * sampled with targets cannot be known without; names can do with less.
 */
static int listen(struct run *run)
{
	struct cpus all = { 0 };

	if (cpus_online(&all))
		log_error("CPUs: list: cannot be had any more");
	else
		run->sideband = sideband_open(&all, run->targets != NULL);
	cpus_free(&all);
	if (!run->sideband)
		return -1;
	if (!sideband_deaf(run->sideband))
		spaces_listen(profile_spaces(run->profile), system_now(),
			      run_replay, run);
	if (run->engine == ENGINE_STACKID)
		spaces_timeless(profile_spaces(run->profile));
	return 0;
}

/* What had mapped its code before anybody listened. */
static void look_around(struct run *run)
{
	struct spaces *spaces = profile_spaces(run->profile);
	const struct options *options = run->options;
	uint64_t begin = system_now();

	for (size_t i = 0; i < options->pid_count; i++)
		spaces_look(spaces, options->pids[i]);
	if (!run->targets)
		spaces_look_around(spaces);
	log_detail("looked at what runs: %.2f ms",
		   (double)(system_now() - begin) / 1e6);
}

/*
 * Whether stacks of a sample's process are to be walked: for unwind_open().  A
 * thread that is asked for has others beside it, which are not.
 */
static bool is_wanted(void *context, const struct sample *sample)
{
	const struct run *run = context;

	return run->options->tid_count ||
	       (sample->key.flags & TASK_IN_CGROUP) ||
	       (run->targets &&
		targets_has(run->targets, sample->key.tgid, sample->key.tid,
			    sample->count.first));
}

/*
 * The walker comes behind the clocks: what ticks before it is there is walked
 * by frame pointers.
 */
static int start_unwind(struct run *run)
{
	const struct options *options = run->options;
	uint64_t begin = system_now(), hz = samples_a_second(options);
	struct unwind_world world = {
		.loader = run->loader, .files = profile_files(run->profile),
		.spaces = profile_spaces(run->profile),
		.hz = hz * run->cpus.count,
		.memory = options->memory > run->plan.bytes ?
			  options->memory - run->plan.bytes : 0,
		.must = options->unwind == OPTION_CFI,
		.wanted = run->targets || run->cgroup_fd >= 0 ? is_wanted :
			  NULL,
		.context = run,
	};
	const char *why = "engine stackid has its stacks from the kernel";

	if (options->unwind == OPTION_FP || (options->kernel && !options->user))
		return 0;
	if (run->engine == ENGINE_HASH)
		run->unwind = unwind_open(&world, &why);
	if (run->unwind) {
		log_detail("unwinding by tables, too: %.2f ms",
			   (double)(system_now() - begin) / 1e6);
		return 0;
	}
	if (options->unwind == OPTION_CFI) {
		log_error("--unwind cfi: the walker: %s", why);
		log_advice("--unwind fp does without it");
		return -1;
	}
	log_warning("unwinding: by frame pointers alone: %s", why);
	return 0;
}

int run_start(struct run *run)
{
	int error;

	explain_stage("start", "a clock on each CPU, the program at its tick");
	/* Not before: the command keeps the priority that we had. */
	system_set_priority(-20);
	if (listen(run) ||
	    sampler_open(&run->sampler, &run->cpus, &run->options->event,
			 loader_prog_fd(run->loader,
					samples_program(run->engine))))
		return -1;
	run->times = memory_new(run->cpus.count, sizeof(*run->times));
	run->balance.blind = !stat_read(&run->cpus, run->times);
	run->balance.wall = run->meta.start = system_now();
	run->meta.time = system_wall_clock();
	explain("all events are there; now they start, one soon after the "
		"other");
	if (sampler_start(&run->sampler))
		return -1;
	log_detail("armed: %zu CPUs, %.2f ms after main", run->sampler.count,
		   (double)(system_now() - run->begin) / 1e6);
	error = run->options->command ? command_go(&run->command) : 0;
	look_around(run);
	if (!error && start_unwind(run))
		return -1;
	if (error) {
		say_command(run, error);
		command_ended(&run->command, true);
	}
	return error;
}

/* -------------------------------------------------------------- or reading */

int run_read(struct run *run)
{
	const struct options *options = run->options;
	unsigned int show = what_to_show(options);

	if (options->old)
		run->profile = in_compare(options->old, options->new, show,
					  &run->meta);
	else
		run->profile = in_read(options->read, show, &run->meta);
	if (!run->profile)
		return -1;
	log_detail("read: %zu stacks of %zu frames with a name each, %" PRIu64
		   " %s", run->profile->stack_count, run->profile->frame_count,
		   run->profile->total, run->meta.type);
	return 0;
}

/* ----------------------------------------------------------------- the end */

int run_name(struct run *run)
{
	explain_stage("name", "kernel addresses become names");
	profile_name(run->profile);
	explain("%zu different stacks, made of %zu different frames",
		run->profile->stack_count, run->profile->frame_count);
	return 0;
}

/* The command line, as it could be typed again. */
static void describe_command(struct run *run)
{
	struct text text = { 0 };

	for (char **word = run->options->words; word && *word; word++) {
		if (text.length)
			text_add(&text, " ", 1);
		text_word(&text, *word);
	}
	meta_set(&run->meta.command, text.data);
	text_free(&text);
}

static void complete_balance(struct run *run)
{
	struct samples_cost cost = samples_cost(run->samples);
	struct balance *balance = &run->balance;

	balance->hz = run->options->hz;
	balance->kind = run->sampler.kind;
	if (run->sampler.kind.clock && run->sampler.kind.period)
		balance->hz = 1000000000 / run->sampler.kind.period;
	balance->cpus = run->sampler.count;
	balance->dangling = cost.dangling;
	balance->drained = cost.samples;
	if (run->unwind)
		balance->drained += unwind_cost(run->unwind).copies;
	balance->fixed = run->engine == ENGINE_STACKID;
	if (cost.longest > run->plan.longest)
		balance->late = cost.longest;
}

int run_describe(struct run *run)
{
	struct meta *meta = &run->meta;
	char name[256];

	complete_balance(run);
	balance_describe(&run->balance, run->profile, meta);
	describe_command(run);
	meta_set(&meta->program, "prof " PROF_VERSION);
	system_host(name, sizeof(name));
	meta_set(&meta->host, *name ? name : NULL);
	system_kernel(name, sizeof(name));
	meta_set(&meta->kernel, name);
	meta_set(&meta->event, run->balance.kind.name);
	meta_set(&meta->type, "samples");
	meta_set(&meta->unit, "count");
	meta->clock = run->balance.kind.clock;
	meta->hz = run->balance.hz;
	meta->period = meta->clock ? run->sampler.period :
		       run->balance.kind.period;
	meta->cpus = run->balance.cpus;
	meta->duration = run->balance.wall;
	return 0;
}

int run_write(struct run *run)
{
	const struct options *options = run->options;
	const struct out_format *format = format_of_stdout(options);
	int failed = 0;

	explain_stage("write", "the profile, to its files or standard output");
	for (size_t i = 0; i < options->output_count; i++)
		failed |= out_write(run->profile, &run->meta,
				    out_for_file(options->outputs[i]),
				    options->outputs[i]);
	if (format)
		failed |= out_write(run->profile, &run->meta, format, NULL);
	return failed;
}

/* Targets that were not there, and forks that were not told of. */
static void report_targets(struct run *run)
{
	uint64_t lost = sideband_lost(run->sideband);

	if (run->targets)
		targets_report(run->targets);
	if (sideband_gaps(run->sideband))
		log_warning("CPUs came back on line: what began there in the "
			    "first two seconds may have no names%s",
			    run->targets ? ", or be counted as filtered" : "");
	if (!lost)
		return;
	log_warning("%" PRIu64 " records of forks, execs and mappings were "
		    "lost: user frames of some processes have no names%s",
		    lost, run->targets ? ", and samples of new ones may be "
		    "counted as filtered" : "");
}

static void report_unwind(struct run *run)
{
	struct unwind_cost cost = unwind_cost(run->unwind);

	log_detail("unwinding: %zu files with %zu rows in %.1f MB, %.2f ms; "
		   "%" PRIu64 " copies, %" PRIu64 " processes, %.2f ms in all%s",
		   cost.tables.files, cost.tables.rows,
		   (double)cost.tables.bytes / 1e6,
		   (double)cost.tables.ns / 1e6, cost.copies, cost.spaces,
		   (double)cost.ns / 1e6, cost.kernel_mode ? "" :
		   "; samples in the kernel are by frame pointers");
	if (cost.full)
		log_warning("unwinding: no room for more tables: some user "
			    "stacks are by frame pointers; a larger --memory "
			    "has room");
}

/* A report ends with the balance: a person need not see it twice. */
static bool is_told(const struct options *options)
{
	const struct out_format *format = format_of_stdout(options);

	return format && format == out_named("report") &&
	       system_is_terminal(STDOUT_FILENO) &&
	       system_is_terminal(STDERR_FILENO);
}

int run_balance(struct run *run)
{
	struct samples_cost cost = samples_cost(run->samples);

	explain_stage("balance", "where each tick went");
	if (!is_told(run->options))
		meta_tell(&run->meta);
	else
		explain("the report ends with it");
	report_targets(run);
	log_detail("%" PRIu64 " drains (%s) of %" PRIu64 " keys: %.2f ms "
		   "reading, %.2f ms waiting (%.2f at most)",
		   cost.drains, cost.batches ? "batches" : "key by key",
		   cost.keys, (double)cost.read_ns / 1e6,
		   (double)cost.wait_ns / 1e6, (double)cost.wait_most / 1e6);
	if (run->unwind)
		report_unwind(run);
	log_detail("own CPU %.1f ms to the stop, %.1f ms in all; peak RSS "
		   "%" PRIu64 " KB", (double)run->cpu_time / 1e6,
		   (double)system_cpu_time() / 1e6, system_peak_rss());
	return 0;
}

int run_close(struct run *run, int failed)
{
	int status = failed ? 1 : 0;

	explain_stage("close", "with its last descriptor each thing goes");
	explain("first the events, then the maps that no program knows, the "
		"program, its maps");
	/* A command that runs on (-d was shorter) still has its status. */
	if (run->command.pid && run->command.gate < 0)
		command_ended(&run->command, true);
	if (run->command.status)
		status = run->command.status;
	command_close(&run->command);
	unwind_close(run->unwind);
	free(run->fds);
	sideband_close(run->sideband);
	targets_free(run->targets);
	profile_free(run->profile);
	meta_free(&run->meta);
	sampler_close(&run->sampler);
	samples_close(run->samples);
	loader_close(run->loader);
	if (run->cgroup_fd >= 0)
		close(run->cgroup_fd);
	cpus_free(&run->cpus);
	free(run->times);
	return status;
}
