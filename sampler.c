/* SPDX-License-Identifier: MIT */
/*
 * sampler: a perf event per CPU.
 *
 * PERF_COUNT_SW_CPU_CLOCK is a timer of the kernel's own: it needs no counters
 * of the processor, so it works in every virtual machine.  Its ticks come from
 * a timer interrupt: code that runs with interrupts off is seen where it turns
 * them on again.  Idle CPUs tick, too: what is not sampled cannot be told from
 * what was lost.
 *
 * A period is asked for, not a frequency: a frequency above the sysctl
 * perf_event_max_sample_rate is refused, and the kernel would turn it into
 * this period anyhow.
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

static int say(const char *what, uint32_t cpu, enum advice_on on, int error)
{
	const char *what_to_do = advice(on, error);

	log_error("CPU %u: %s: %s", cpu, what, system_strerror(error));
	if (what_to_do)
		log_advice("%s", what_to_do);
	return error;
}

static int open_clock(const struct sampler *sampler, uint32_t cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = sampler->period;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.disabled = 1;
	/* pid -1: whatever runs on this CPU. */
	return perf_event_open(&attr, -1, (int)cpu, -1, 0);
}

int sampler_open(struct sampler *sampler, const struct cpus *cpus, uint64_t hz,
		 int prog_fd)
{
	int error;

	*sampler = (struct sampler){ .period = (1000000000 + hz / 2) / hz };
	for (size_t i = 0; i < cpus->count; i++) {
		struct sampler_event event = { .cpu = cpus->cpu[i] };

		event.fd = open_clock(sampler, event.cpu);
		/* It went off line between the look at the list and now. */
		if (event.fd == -ENODEV && cpus->count > 1) {
			log_warning("CPU %u: perf_event_open: off line, left "
				    "out", event.cpu);
			continue;
		}
		if (event.fd < 0) {
			error = say("perf_event_open", event.cpu, ADVICE_EVENT,
				    event.fd);
			goto fail;
		}
		sampler->events = memory_grow(sampler->events,
					      &sampler->capacity,
					      sampler->count + 1,
					      sizeof(event));
		sampler->events[sampler->count++] = event;
		error = perf_event_set_bpf(event.fd, prog_fd);
		if (error) {
			say("ioctl(PERF_EVENT_IOC_SET_BPF)", event.cpu,
			    ADVICE_ATTACH, error);
			goto fail;
		}
	}
	if (sampler->count)
		return 0;
	log_error("CPUs: perf_event_open: none of them is on line");
	error = -ENODEV;
fail:
	sampler_close(sampler);
	return error;
}

int sampler_start(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++) {
		struct sampler_event *event = &sampler->events[i];
		int error = perf_event_enable(event->fd);

		if (error) {
			say("ioctl(PERF_EVENT_IOC_ENABLE)", event->cpu,
			    ADVICE_EVENT, error);
			sampler_stop(sampler);
			return error;
		}
		event->started = system_now();
	}
	return 0;
}

/* The wall clock, or less where the CPU was off line for a while. */
static uint64_t event_time(const struct sampler_event *event)
{
	uint64_t wall = system_now() - event->started, enabled;

	if (!event->started)
		return 0;
	if (!perf_event_time_enabled(event->fd, &enabled) && enabled &&
	    enabled < wall)
		return enabled;
	return wall;
}

void sampler_stop(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++) {
		struct sampler_event *event = &sampler->events[i];

		perf_event_disable(event->fd);
		event->on += event_time(event);
		event->started = 0;
	}
}

/* The first tick comes a whole period after the start. */
uint64_t sampler_ticks(const struct sampler *sampler,
		       const struct sampler_event *event)
{
	return event->on / sampler->period;
}

void sampler_close(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++)
		close(sampler->events[i].fd);
	free(sampler->events);
	*sampler = (struct sampler){ 0 };
}
