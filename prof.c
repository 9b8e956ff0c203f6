/* SPDX-License-Identifier: MIT */
/*
 * prof: a sampling CPU profiler that talks to the kernel by itself.
 *
 * The map of the house, in reading order.  A file includes only files of its
 * own room and of lower floors.
 *
 *	7  prof.c           you are here: one run, a verb a stage
 *	   options.[ch]     the command line, from one table
 *	   bpf_prog.c       in the kernel: a tick becomes a count and two stacks
 *	0  bpf_prog.h       what both sides know: keys and values of the maps
 *	   bpf/lanes.h      two hashes of a stack in one pass
 *	   bpf/helpers.h    how a BPF program calls helpers and declares maps
 *	   bpf/embed.S      the compiled BPF object, inside this program
 *	2  loader.[ch]      object file -> maps and programs in the kernel
 *	1  elf/object.[ch]  ELF: sections
 *	   elf/symbols.[ch] ELF: symbol tables
 *	   elf/btf.[ch]     BTF: types, of which a map's attributes are made
 *	   sys/bpf.[ch]     bpf(2), a function per command
 *	2  sampler.[ch]     a clock on each CPU, and the program at its tick
 *	1  sys/perf.[ch]    perf_event_open(2) and its ioctls
 *	   sys/cpus.[ch]    which CPUs are there
 *	   sys/system.[ch]  clocks, limits, sysctls
 *	   sys/signals.[ch] Ctrl-C, between two drains
 *	   sys/advice.[ch]  what to do about which errno
 *	3  samples.[ch]     drain: reads the maps while they are filled
 *	4  profile.[ch]     gathers samples, names them
 *	3  sym/kernel.[ch]  kernel stacks to names
 *	1  kallsyms.[ch]    /proc/kallsyms, read once
 *	3  sym/user.[ch]    user addresses to files and offsets
 *	2  proc/maps.[ch]   /proc/PID/maps
 *	   proc/stat.[ch]   /proc/stat: what the hypervisor took
 *	5  out/out.[ch]     the table of output formats
 *	   out/folded.[ch]  folded stacks
 *	   out/balance.[ch] where each tick went
 *	0  lib/log.[ch]     every message
 *	   lib/memory.[ch]  arrays that grow
 *	   lib/bytes.[ch]   foreign bytes, bounds checked
 *	   lib/text.[ch]    texts that grow, numbers, safe names
 *	   lib/file.[ch]    lines in, whole files out
 *	   lib/index.[ch]   hash index over an array
 *	   lib/names.[ch]   each text once
 *	   lib/lists.[ch]   each list of numbers once
 *	   arch/arch.h      which CPU, by arch/x86_64.h, arch/arm64.h and
 *	                    arch/other.h
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "loader.h"
#include "options.h"
#include "out/balance.h"
#include "out/out.h"
#include "proc/stat.h"
#include "profile.h"
#include "sampler.h"
#include "samples.h"
#include "sys/cpus.h"
#include "sys/signals.h"
#include "sys/system.h"

#ifndef PROF_VERSION
#define PROF_VERSION "0"
#endif

/* bpf/embed.S */
extern const unsigned char bpf_object[];
extern const uint64_t bpf_object_size;

/* All that a run holds; zeroed, each stage fills its own. */
struct run {
	struct options options;
	struct cpus cpus;
	struct samples_plan plan;
	struct loader *loader;
	struct samples *samples;
	struct sampler sampler;
	struct profile *profile;
	struct balance balance;
	struct stat_times *times;	/* of cpus.cpu[i]: since the start */
	uint64_t begin;		/* when main began, for -v */
	uint64_t cpu_time;	/* of ours, until the clocks stopped, for -v */
};

/* The CPUs that are on line now, or those of them that -C wants. */
static int online_cpus(const struct options *options, struct cpus *cpus)
{
	struct cpus wanted = { 0 };
	size_t kept = 0;
	int error = cpus_online(cpus);

	if (error || !options->cpus)
		return error;
	cpus_parse(&wanted, options->cpus);
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus_contain(&wanted, cpus->cpu[i]))
			cpus->cpu[kept++] = cpus->cpu[i];
	cpus->count = kept;
	cpus_free(&wanted);
	return 0;
}

static int choose_cpus(struct run *run)
{
	struct cpus wanted = { 0 };
	int error = online_cpus(&run->options, &run->cpus);

	if (error) {
		log_error("CPUs: list: neither /sys/devices/system/cpu/online "
			  "nor sched_getaffinity(2) tells");
		return error;
	}
	if (!run->cpus.count) {
		log_error("-C %s: CPUs: none of them is on line",
			  run->options.cpus);
		return -1;
	}
	if (run->options.cpus)
		cpus_parse(&wanted, run->options.cpus);
	for (size_t i = 0; i < wanted.count; i++)
		if (!cpus_contain(&run->cpus, wanted.cpu[i]))
			log_warning("CPU %u: -C: off line or not there",
				    wanted.cpu[i]);
	cpus_free(&wanted);
	return 0;
}

/* Better to fail now than after an hour of sampling. */
static int check_outputs(const struct options *options)
{
	for (size_t i = 0; i < options->output_count; i++) {
		int error = file_out_check(options->outputs[i]);

		if (!error)
			continue;
		log_error("%s: open: %s", options->outputs[i],
			  system_strerror(error));
		log_advice("give -o a file in a directory that is there and "
			   "can be written");
		return error;
	}
	if (options->kallsyms && access(options->kallsyms, R_OK)) {
		log_error("%s: --kallsyms: cannot be read", options->kallsyms);
		return -1;
	}
	return 0;
}

/* Brings the BPF object into the kernel. */
static int load_program(struct run *run)
{
	struct bytes object = { bpf_object, (size_t)bpf_object_size };

	run->plan = samples_plan(run->options.hz, run->cpus.count,
				 run->options.memory);
	log_detail("maps: %u stacks and %u counts in each pair, %.1f MB, "
		   "drained every %.2f s", run->plan.stacks, run->plan.counts,
		   (double)run->plan.bytes / 1e6,
		   (double)run->plan.interval / 1e9);
	if (run->plan.cut)
		log_warning("--memory: too little for %" PRIu64 " Hz on %zu "
			    "CPUs: samples may be lost",
			    run->options.hz,
			    run->cpus.count);
	/* Only kernels before 5.11 need it, and they say so: EPERM. */
	system_lift_memlock();
	run->loader = loader_open(object, "bpf_prog.o");
	if (!run->loader || samples_resize(run->loader, &run->plan) ||
	    loader_choose(run->loader, "profile_hash") ||
	    loader_load(run->loader))
		return -1;
	run->samples = samples_open(run->loader, true);
	return run->samples ? 0 : -1;
}

/* What is shown, and how deep stacks can be. */
static int open_profile(struct run *run)
{
	const struct options *options = &run->options;
	unsigned int show = options->no_idle ? 0 : SHOW_IDLE;

	if (options->kernel || !options->user)
		show |= SHOW_KERNEL;
	if (options->user || !options->kernel)
		show |= SHOW_USER;
	run->profile = profile_new(show,
				   system_sysctl("kernel/perf_event_max_stack",
						 STACK_DEPTH),
				   options->kallsyms);
	run->balance.max_rate =
		system_sysctl("kernel/perf_event_max_sample_rate", 0);
	if (run->balance.max_rate && options->hz > run->balance.max_rate / 2)
		log_warning("-F %" PRIu64 ": above half of "
			    "kernel.perf_event_max_sample_rate=%" PRIu64
			    ": the kernel will throttle",
			    options->hz,
			    run->balance.max_rate);
	return 0;
}

static int start_clocks(struct run *run)
{
	if (sampler_open(&run->sampler, &run->cpus, run->options.hz,
			 loader_prog_fd(run->loader, "profile_hash")))
		return -1;
	run->times = memory_new(run->cpus.count, sizeof(*run->times));
	stat_read(&run->cpus, run->times);
	run->balance.wall = system_now();
	if (sampler_start(&run->sampler))
		return -1;
	log_detail("armed: %zu CPUs, %.2f ms after main",
		   run->sampler.count,
		   (double)(system_now() - run->begin) / 1e6);
	return 0;
}

static int drain(struct run *run)
{
	profile_round(run->profile);
	return samples_drain(run->samples, profile_add, run->profile);
}

/* CPUs come and go. */
static void check_clocks(struct run *run)
{
	struct cpus online = { 0 };

	if (!online_cpus(&run->options, &online))
		sampler_check(&run->sampler, &online);
	cpus_free(&online);
}

static void show_progress(struct run *run, uint64_t begin)
{
	struct tally tally;

	if (!system_is_terminal(STDERR_FILENO) ||
	    samples_tally(run->samples, &tally, NULL, 0))
		return;
	log_progress("%.0f s, %" PRIu64 " samples; Ctrl-C ends",
		     (double)(system_now() - begin) / 1e9,
		     (uint64_t)tally.n[TALLY_TICKS]);
}

/* From times since boot to times since the start. */
static void subtract_times(struct run *run)
{
	struct stat_times *now = memory_new(run->cpus.count, sizeof(*now));

	stat_read(&run->cpus, now);
	for (size_t i = 0; i < run->cpus.count; i++) {
		/* A CPU that is off line by now has no times any more. */
		if (now[i].idle < run->times[i].idle)
			now[i] = run->times[i];
		run->times[i].idle = now[i].idle - run->times[i].idle;
		run->times[i].steal = now[i].steal - run->times[i].steal;
	}
	free(now);
}

/* Drains until the time is over or a signal comes, then stops the clocks. */
static int sample(struct run *run)
{
	uint64_t begin = run->balance.wall;
	uint64_t end = run->options.duration ?
		       begin + run->options.duration : UINT64_MAX;
	int error = 0, signal = 0;

	while (!error && !signal && system_now() < end) {
		uint64_t next = system_now() + run->plan.interval;

		signal = signals_wait(next < end ? next : end);
		if (!signal && system_now() < end) {
			check_clocks(run);
			error = drain(run);
			show_progress(run, begin);
		}
	}
	sampler_stop(&run->sampler);
	run->balance.wall = system_now() - begin;
	subtract_times(run);
	/* One pair is quiet, the other was live: both may hold something. */
	if (!error)
		error = drain(run);
	if (!error)
		error = drain(run);
	signals_allow();
	run->cpu_time = system_cpu_time();
	return error;
}

static int write_outputs(struct run *run)
{
	const struct options *options = &run->options;
	int failed = 0;

	for (size_t i = 0; i < options->output_count; i++)
		failed |= out_write(run->profile,
				    out_for_file(options->outputs[i]),
				    options->outputs[i]);
	if (!options->output_count || options->format)
		failed |= out_write(run->profile,
				    out_named(options->format ?
					      options->format : "folded"),
				    NULL);
	return failed;
}

/* What each clock should have given, did give, and what its CPU did instead. */
static int count_ticks(struct run *run)
{
	struct balance *balance = &run->balance;
	size_t possible = cpus_possible(), cpus = run->cpus.count;
	uint64_t *ticks = memory_new(possible, sizeof(*ticks));
	int error = samples_tally(run->samples, &balance->tally, ticks,
				  possible);

	for (size_t i = 0; i < run->sampler.count; i++) {
		struct sampler_event *event = &run->sampler.events[i];
		uint64_t expected = event->ticks;
		uint64_t got = ticks[event->cpu], idle = 0;

		for (size_t j = 0; j < cpus; j++) {
			if (run->cpus.cpu[j] != event->cpu)
				continue;
			balance->steal += run->times[j].steal;
			idle = run->times[j].idle;
		}
		idle /= run->sampler.period;
		if (got < expected)
			balance->asleep += expected - got < idle ?
					   expected - got : idle;
		balance->cpu_time += event->on;
		balance->expected += expected;
	}
	free(ticks);
	return error;
}

static int close_balance(struct run *run)
{
	struct samples_cost cost = samples_cost(run->samples);

	run->balance.hz = run->options.hz;
	run->balance.cpus = run->sampler.count;
	run->balance.dangling = cost.dangling;
	if (count_ticks(run))
		return -1;
	out_balance(&run->balance, run->profile);
	log_detail("%" PRIu64 " drains (%s) of %" PRIu64 " keys: %.2f ms "
		   "reading, %.2f ms waiting (%.2f at most)",
		   cost.drains, cost.batches ? "batches" : "key by key",
		   cost.keys, (double)cost.read_ns / 1e6,
		   (double)cost.wait_ns / 1e6, (double)cost.wait_most / 1e6);
	log_detail("own CPU %.1f ms to the stop, %.1f ms in all; peak RSS "
		   "%" PRIu64 " KB", (double)run->cpu_time / 1e6,
		   (double)system_cpu_time() / 1e6, system_peak_rss());
	return 0;
}

static int run_profiler(struct run *run)
{
	int failed;

	signals_open();
	failed = check_outputs(&run->options) ||
		 choose_cpus(run) ||		/* sys/cpus */
		 load_program(run) ||		/* loader, samples */
		 open_profile(run) ||		/* profile */
		 start_clocks(run) ||		/* sampler */
		 sample(run) ||			/* samples -> profile */
		 profile_name(run->profile) ||	/* sym/, kallsyms */
		 write_outputs(run) ||		/* out/ */
		 close_balance(run);		/* out/balance */

	profile_free(run->profile);
	sampler_close(&run->sampler);
	samples_close(run->samples);
	loader_close(run->loader);
	cpus_free(&run->cpus);
	free(run->times);
	return failed ? 1 : 0;
}

static const char version[] =
	"prof " PROF_VERSION "\n"
	"engines: hash\nunwinders: frame pointers\noutputs: folded\n";

/* --help and --version: all that is written without a profile. */
static int print(const char *text)
{
	struct file_out out;
	int error;

	file_out_open(&out, NULL);
	file_out_write(&out, text, strlen(text));
	error = file_out_close(&out);
	if (error)
		log_error("stdout: write: %s", system_strerror(error));
	return error ? 1 : 0;
}

static int print_help(void)
{
	struct text text = { 0 };
	int status;

	options_help(&text);
	status = print(text.data);
	text_free(&text);
	return status;
}

int main(int argc, char **argv)
{
	struct run run = { .begin = system_now() };
	int status;

	system_guard_descriptors();
	if (options_parse(&run.options, argc, argv)) {
		status = 2;
	} else if (run.options.help) {
		status = print_help();
	} else if (run.options.version) {
		status = print(version);
	} else {
		log_open(run.options.quiet ? LOG_QUIET :
			 run.options.verbose ? LOG_VERBOSE : LOG_NORMAL);
		status = run_profiler(&run);
	}
	options_free(&run.options);
	return status;
}
