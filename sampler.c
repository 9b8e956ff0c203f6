/* SPDX-License-Identifier: MIT */
/*
 * sampler: a perf event per CPU.
 *
 *	pid -1, cpu N	whatever runs on CPU N: what is opened here
 *	pid P, cpu -1	task P, wherever it runs
 *	pid -1, cpu -1	everything everywhere: refused (EINVAL)
 *
 * None is bound to a task: those that it starts would inherit the event, but
 * each begins its period anew, and one that is shorter than a period is never
 * sampled.  proc/targets.c sorts out afterwards whose a sample was.
 *
 * The usual event is a clock.  PERF_COUNT_SW_CPU_CLOCK is a timer of the
 * kernel's own: it needs no counters of the processor, so it works in every
 * virtual machine.  Its ticks come from a timer interrupt: code that runs with
 * interrupts off is seen where it turns them on again.  Idle CPUs tick, too:
 * what is not sampled cannot be told from what was lost.
 *
 * Of a clock a period is asked for, not a frequency: a frequency above the
 * sysctl perf_event_max_sample_rate is refused, and the kernel would turn it
 * into this period anyhow.  Of other events the kernel is asked for so many
 * samples a second, and looks for the period that gives them.
 *
 * A CPU can go off line.  Its event stops then, and stays dead when the CPU is
 * back: PERF_EVENT_IOC_ENABLE says 0 and does nothing.  The one sign is that
 * its time no longer advances (PERF_FORMAT_TOTAL_TIME_ENABLED, which is read for
 * this, and for how many ticks to expect); a new event has to be opened.  Linux
 * 5.10 gives events to CPUs that are only about to come: those never begin, their
 * time stays 0, and they are as dead.
 *
 * Source: man 2 perf_event_open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "sampler.h"
#include "sys/advice.h"
#include "sys/perf.h"
#include "sys/system.h"

/* The step at which a clock could not be had. */
struct step {
	const char *what;
	enum advice_on on;
};

static int say(uint32_t cpu, const struct step *step, int error)
{
	log_error("CPU %u: %s: %s", cpu, step->what, system_strerror(error));
	advice_tell(step->on, error);
	return error;
}

static int open_kind(const struct sampler *sampler, uint32_t cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = sampler->kind.type;
	attr.config = sampler->kind.config;
	if (sampler->kind.clock) {
		attr.sample_period = sampler->period;
	} else if (sampler->kind.period) {
		attr.sample_period = sampler->kind.period;
	} else {
		attr.freq = 1;
		attr.sample_freq = sampler->kind.hz;
	}
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.disabled = 1;
	/* pid -1: whatever runs on this CPU. */
	return perf_event_open(&attr, -1, (int)cpu, -1, 0);
}

/* Opens the clock of one CPU with its program, stopped.  fd, or -errno. */
static int open_event(const struct sampler *sampler, uint32_t cpu,
		      struct step *step)
{
	int fd, error;

	*step = (struct step){ "perf_event_open", ADVICE_EVENT };
	fd = open_kind(sampler, cpu);
	if (fd < 0)
		return fd;
	*step = (struct step){ "ioctl(PERF_EVENT_IOC_SET_BPF)", ADVICE_ATTACH };
	error = perf_event_set_bpf(fd, sampler->prog_fd);
	if (!error)
		return fd;
	close(fd);
	return error;
}

static void add_event(struct sampler *sampler, uint32_t cpu, int fd)
{
	struct sampler_event event = { .cpu = cpu, .fd = fd };

	sampler->events = memory_grow(sampler->events, &sampler->capacity,
				      sampler->count + 1, sizeof(event));
	sampler->events[sampler->count++] = event;
}

/* Machines without counters of the processor still have a clock. */
static void fall_back(struct sampler *sampler, int error)
{
	log_warning("-e %s: perf_event_open: %s: sampling cpu-clock instead",
		    sampler->kind.name, system_strerror(error));
	log_advice("this machine has no such counter, as most virtual "
		   "machines");
	event_find("cpu-clock", &sampler->kind);
}

int sampler_open(struct sampler *sampler, const struct cpus *cpus,
		 const struct event_kind *kind, int prog_fd)
{
	uint64_t hz = kind->hz;

	*sampler = (struct sampler){
		.kind = *kind, .prog_fd = prog_fd,
		.period = kind->clock && kind->period ? kind->period :
			  (1000000000 + hz / 2) / hz,
	};
	for (size_t i = 0; i < cpus->count; i++) {
		uint32_t cpu = cpus->cpu[i];
		struct step step;
		int fd = open_event(sampler, cpu, &step);

		if ((fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV) &&
		    !sampler->count && !sampler->kind.clock) {
			fall_back(sampler, fd);
			fd = open_event(sampler, cpu, &step);
		}
		/* It went off line between the look at the list and now. */
		if (fd == -ENODEV && cpus->count > 1) {
			log_warning("CPU %u: perf_event_open: off line, left "
				    "out", cpu);
			continue;
		}
		if (fd < 0) {
			sampler_close(sampler);
			return say(cpu, &step, fd);
		}
		add_event(sampler, cpu, fd);
	}
	if (sampler->count)
		return 0;
	log_error("CPUs: perf_event_open: none of them is on line");
	return -ENODEV;
}

static int start_event(struct sampler_event *event)
{
	int error = perf_event_enable(event->fd);

	if (!error) {
		event->started = system_now();
		event->enabled = 0;
	}
	return error;
}

int sampler_start(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++) {
		struct sampler_event *event = &sampler->events[i];
		int error = start_event(event);

		if (error) {
			struct step step = {
				"ioctl(PERF_EVENT_IOC_ENABLE)", ADVICE_EVENT,
			};

			sampler_stop(sampler);
			return say(event->cpu, &step, error);
		}
	}
	return 0;
}

/* The wall clock, or less where the CPU was off line for a while. */
static uint64_t event_time(const struct sampler_event *event)
{
	uint64_t wall = system_now() - event->started, enabled;

	if (!perf_event_time_enabled(event->fd, &enabled) && enabled < wall)
		return enabled;
	return wall;
}

/* How many samples `time` should have given: the first comes at a whole period. */
static uint64_t expected(const struct sampler *sampler,
			 const struct sampler_event *event, uint64_t time)
{
	uint64_t count;

	if (sampler->kind.clock)
		return time / sampler->period;
	if (!sampler->kind.period || perf_event_count(event->fd, &count))
		return 0;
	return count / sampler->kind.period;
}

static void end_event(const struct sampler *sampler,
		      struct sampler_event *event, uint64_t time)
{
	event->on += time;
	event->ticks += expected(sampler, event, time);
	event->started = 0;
}

/* Closes a clock that stands still, opens one whose CPU is back. */
static void check_event(struct sampler *sampler, struct sampler_event *event)
{
	struct step step;

	if (event->fd >= 0) {
		uint64_t time = event_time(event);

		if (time != event->enabled) {
			event->enabled = time;
			return;
		}
		end_event(sampler, event, time);
		close(event->fd);
		event->fd = -1;
		log_detail("CPU %u: off line", event->cpu);
	}
	event->fd = open_event(sampler, event->cpu, &step);
	if (event->fd < 0) {
		event->fd = -1;
		return;
	}
	if (start_event(event)) {
		close(event->fd);
		event->fd = -1;
		return;
	}
	log_detail("CPU %u: on line again", event->cpu);
}

static bool has_event(const struct sampler *sampler, uint32_t cpu)
{
	for (size_t i = 0; i < sampler->count; i++)
		if (sampler->events[i].cpu == cpu)
			return true;
	return false;
}

void sampler_check(struct sampler *sampler, const struct cpus *cpus)
{
	for (size_t i = 0; i < sampler->count; i++)
		check_event(sampler, &sampler->events[i]);
	for (size_t i = 0; i < cpus->count; i++) {
		if (has_event(sampler, cpus->cpu[i]))
			continue;
		add_event(sampler, cpus->cpu[i], -1);
		check_event(sampler, &sampler->events[sampler->count - 1]);
	}
}

void sampler_stop(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++) {
		struct sampler_event *event = &sampler->events[i];

		if (!event->started)
			continue;
		perf_event_disable(event->fd);
		end_event(sampler, event, event_time(event));
	}
}

void sampler_close(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++)
		if (sampler->events[i].fd >= 0)
			close(sampler->events[i].fd);
	free(sampler->events);
	*sampler = (struct sampler){ 0 };
}
