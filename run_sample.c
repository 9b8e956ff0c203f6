/* SPDX-License-Identifier: MIT */
/*
 * run_sample: the stage in which ticks come: drains, copies, and the end.
 *
 *	events of processes ─> targets, spaces, unwind     (run_replay)
 *	each second: turn, replay, read                    (drain)
 *	copies of stacks, as soon as there are some        (take_copies)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "run.h"
#include "sys/explain.h"
#include "sys/signals.h"
#include "sys/system.h"

/* A side_fn: who needs to know. */
static void tell(void *context, const struct side_event *event)
{
	struct run *run = context;

	if (run->targets)
		targets_event(run->targets, event);
	spaces_event(profile_spaces(run->profile), event);
	if (run->unwind)
		unwind_event(run->unwind, event);
}

void run_replay(void *context)
{
	struct run *run = context;

	if (run->sideband)
		sideband_replay(run->sideband, system_now(), tell, run);
}

/* A samples_fn: only what is of the tasks that were asked for. */
static void add_sample(void *context, const struct sample *sample)
{
	struct run *run = context;
	const struct count_key *key = &sample->key;
	bool wanted = !run->targets && run->cgroup_fd < 0;

	if (run->targets && !(key->flags & TASK_ELSEWHERE))
		wanted = targets_take(run->targets, key->tgid, key->tid,
				      sample->count.first,
				      sample->count.samples);
	if (key->flags & TASK_IN_CGROUP)
		wanted = true;
	if (wanted)
		profile_add(run->profile, sample);
	else
		profile_skip(run->profile, sample);
}

/*
 * Turn, replay, read: a sample of the quiet pair is older than the turn, and so
 * is every fork that matters for it; those are all in the rings by then.
 */
static int drain(struct run *run)
{
	int error = samples_turn(run->samples);

	if (error)
		return error;
	run_replay(run);
	profile_round(run->profile);
	error = samples_read(run->samples, add_sample, run);
	if (!error && run->unwind)
		unwind_read(run->unwind, add_sample, run);
	profile_drained(run->profile);
	return error;
}

/* CPUs come and go.  Forks are listened to on all, also where -C samples not. */
static void check_cpus(struct run *run)
{
	struct cpus online = { 0 };

	if (!cpus_online(&online)) {
		if (run->sideband) {
			sideband_check(run->sideband, &online);
			if (sideband_deaf(run->sideband))
				spaces_listen(profile_spaces(run->profile), 0,
					      NULL, NULL);
		}
		run_keep_wanted(run->options, &online);
		sampler_check(&run->sampler, &online);
	}
	cpus_free(&online);
}

static void show_progress(struct run *run)
{
	struct tally tally;

	/* A command writes to the same terminal. */
	if (run->command.pid || !system_is_terminal(STDERR_FILENO) ||
	    samples_tally(run->samples, &tally, NULL, 0))
		return;
	if (run->live)
		run_live_draw(run, &tally);
	else
		log_progress("%.0f s, %" PRIu64 " samples; Ctrl-C ends",
			     (double)(system_now() - run->balance.wall) / 1e9,
			     (uint64_t)tally.n[TALLY_TICKS]);
}

/* From times since boot to times since the start. */
static void subtract_times(struct run *run)
{
	struct stat_times *now = memory_new(run->cpus.count, sizeof(*now));

	if (!stat_read(&run->cpus, now))
		run->balance.blind = true;
	for (size_t i = 0; i < run->cpus.count; i++) {
		struct stat_times *then = &run->times[i];

		/*
		 * A CPU that is off line has no times; and now and then the
		 * kernel lets one go backwards (man 5 proc_stat).
		 */
		then->idle = then->idle && now[i].idle > then->idle ?
			     now[i].idle - then->idle : 0;
		then->steal = now[i].idle && now[i].steal > then->steal ?
			      now[i].steal - then->steal : 0;
	}
	free(now);
}

/* A CPU can be held up for so long, in ns, while it writes a record. */
enum { STRAGGLERS = 100000000 };

/* Copies of stacks are taken out so often, in ns, so that few are needed. */
enum { COPIES_EVERY = 20000000 };

static void take_copies(struct run *run)
{
	if (!run->unwind || system_now() < run->unwound + COPIES_EVERY)
		return;
	run_replay(run);
	unwind_read(run->unwind, add_sample, run);
	profile_drained(run->profile);
	run->unwound = system_now();
}

/* Until `until`, or something is in a ring. */
static int wait_for(struct run *run, uint64_t until)
{
	size_t count = 0;
	const int *rings = run->sideband ?
			   sideband_fds(run->sideband, &count) : NULL;
	uint64_t soon = run->unwound + COPIES_EVERY;

	free(run->fds);
	run->fds = memory_new(count + 1, sizeof(*run->fds));
	if (count)
		memcpy(run->fds, rings, count * sizeof(*run->fds));
	if (run->unwind && system_now() >= soon)
		run->fds[count++] = unwind_fd(run->unwind);
	else if (run->unwind && soon < until)
		until = soon;
	return signals_wait(until, run->fds, count);
}

/* Drains until a signal, the time, or the command's end. */
static int drain_until_end(struct run *run, uint64_t end)
{
	/* Somebody who waits for the first numbers gets them sooner. */
	uint64_t next = system_now() + run->plan.interval /
			(run->live ? 2 : 1);

	for (;;) {
		int signal = wait_for(run, next < end ? next : end), error;

		if (signal < 0)
			log_error("signals: ppoll: %s",
				  system_strerror(signal));
		if (signal || system_now() >= end)
			return signal < 0 ? signal : 0;
		if (run->command.pid && command_ended(&run->command, false))
			return 0;
		/* What is older than this has come from all CPUs. */
		if (run->sideband)
			sideband_replay(run->sideband,
					system_now() - STRAGGLERS, tell, run);
		take_copies(run);
		spaces_look_again(profile_spaces(run->profile));
		if (system_now() < next)
			continue;
		next = system_now() + run->plan.interval;
		check_cpus(run);
		error = drain(run);
		if (error)
			return error;
		if (run->targets && !targets_live(run->targets))
			return 0;
		show_progress(run);
	}
}

static void explain_ticks(const struct sampler *sampler, const uint64_t *ticks)
{
	struct text text = { 0 };

	for (size_t i = 0; i < sampler->count; i++)
		text_format(&text, "%s CPU %u %" PRIu64, i ? "," : "",
			    sampler->events[i].cpu,
			    ticks[sampler->events[i].cpu]);
	explain("ticks, as the program counted them:%s",
		text.length ? text.data : " none");
	text_free(&text);
}

/* What each clock should have given, did give, and what its CPU did instead. */
static int count_ticks(struct run *run)
{
	struct balance *balance = &run->balance;
	uint64_t *ticks = memory_new(CPUS_MOST, sizeof(*ticks));
	int error = samples_tally(run->samples, &balance->tally, ticks,
				  CPUS_MOST);

	for (size_t i = 0; i < run->sampler.count; i++) {
		struct sampler_event *event = &run->sampler.events[i];
		uint64_t got = ticks[event->cpu];
		uint64_t idle = 0;

		for (size_t j = 0; j < run->cpus.count; j++) {
			if (run->cpus.cpu[j] != event->cpu)
				continue;
			balance->steal += run->times[j].steal;
			if (run->sampler.kind.clock)
				idle = run->times[j].idle /
				       run->sampler.period;
		}
		if (got < event->ticks)
			balance->asleep += event->ticks - got < idle ?
					   event->ticks - got : idle;
		balance->cpu_time += event->on;
		balance->expected += event->ticks;
	}
	explain_ticks(&run->sampler, ticks);
	free(ticks);
	return error;
}

int run_sample(struct run *run)
{
	uint64_t begin = run->balance.wall;
	int error;

	explain_stage("sample", "ticks fill the maps, drains empty them");
	if (run->engine == ENGINE_STACKID)
		explain("asleep until the end; then the maps are read");
	else
		explain("asleep; a drain every %.2f s, and at the end",
			(double)run->plan.interval / 1e9);
	run_live_open(run);
	if (run->live)
		profile_watch(run->profile);
	error = drain_until_end(run, run->options->duration ?
				begin + run->options->duration : UINT64_MAX);
	explain("the end: no more ticks, then the last drains");
	sampler_stop(&run->sampler);
	run->balance.wall = system_now() - begin;
	subtract_times(run);
	profile_round(run->profile);
	if (!error)
		error = samples_end(run->samples, add_sample, run_replay, run);
	if (!error && run->unwind)
		unwind_read(run->unwind, add_sample, run);
	profile_drained(run->profile);
	if (!error)
		error = count_ticks(run);
	signals_allow();
	live_close(run->live);
	run->cpu_time = system_cpu_time();
	return error;
}
