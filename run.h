/* SPDX-License-Identifier: MIT */
#ifndef RUN_H
#define RUN_H

#include "loader.h"
#include "meta.h"
#include "options.h"
#include "out/balance.h"
#include "proc/sideband.h"
#include "proc/stat.h"
#include "proc/targets.h"
#include "profile.h"
#include "sampler.h"
#include "samples.h"
#include "sys/command.h"
#include "sys/cpus.h"
#include "tui/live.h"
#include "unwind/unwind.h"

/* All that a run holds; zeroed, each stage fills its own. */
struct run {
	const struct options *options;
	struct bytes object;		/* the compiled BPF object */
	uint64_t begin;			/* when main began, for -v */

	struct cpus cpus;
	struct command command;
	struct targets *targets;	/* NULL: everybody */
	struct samples_plan plan;
	enum engine engine;
	struct loader *loader;
	int cgroup_fd;			/* -1: none is asked for */
	struct samples *samples;
	struct profile *profile;
	struct sideband *sideband;
	struct sampler sampler;
	struct unwind *unwind;		/* NULL: by frame pointers alone */
	uint64_t unwound;		/* when copies were last taken */
	int *fds;			/* to wait for */
	struct live *live;		/* NULL: nobody looks */
	struct stat_times *times;	/* of cpus.cpu[i]: at the start, then
					   since the start */
	struct balance balance;
	struct meta meta;
	uint64_t cpu_time;		/* ours until the stop, for -v */
};

/*
 * The stages, in this order.  Each returns 0, or something else after a
 * message; then only run_close() is left to do.
 */
int run_check(struct run *run);		/* can the outputs be written? */
int run_choose(struct run *run);	/* which CPUs, which tasks */
int run_load(struct run *run);		/* the program into the kernel */
int run_open(struct run *run);		/* the profile, still empty */
int run_start(struct run *run);		/* clocks, and the command */
int run_sample(struct run *run);	/* until the end; then all is still */
int run_read(struct run *run);		/* instead of all these: recordings */
int run_name(struct run *run);		/* addresses to names */
int run_describe(struct run *run);	/* what outputs tell beside it */
int run_write(struct run *run);		/* outputs */
int run_balance(struct run *run);	/* where each tick went */

/*
 * Frees all, after waiting for a command that still runs.  Returns the exit
 * status: the command's own if it is not 0; else 1 if `failed`.
 */
int run_close(struct run *run, int failed);

/* Between the stages' files: tells all up to now of what happened. */
void run_replay(void *run);

/* Of these CPUs those that -C wants; all, without it. */
void run_keep_wanted(const struct options *options, struct cpus *cpus);

/* Between the stages' files: what is drawn meanwhile. */
void run_live_open(struct run *run);
void run_live_draw(struct run *run, const struct tally *tally);

#endif
