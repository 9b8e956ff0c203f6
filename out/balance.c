/* SPDX-License-Identifier: MIT */
/*
 * balance: where each tick went.
 *
 *	expected = sampled + unaccounted
 *	sampled  = user + kernel + idle + softirq + unknown + filtered + lost
 *
 *	expected	sampler.c, by each clock's time; summed by run.c
 *	sampled		bpf_prog.c: TALLY_TICKS, on each CPU
 *	user		profile.c, mode_of(): without a kernel stack
 *	kernel		... with one, and none of the next two
 *	idle		... of thread 0, but for its interrupts
 *	softirq		... in a softirq, or an interrupt on an idle CPU
 *	unknown		... with neither stack; shown if there are any
 *	filtered	profile.c: of tasks or modes that were not asked for
 *	lost		bpf_prog.c: TALLY_COUNT_FULL, _BUSY, _FAILED
 *	unaccounted	here: expected - sampled
 *	lines below	bpf_prog.c: what else it tallied, if it is not 0
 *
 * `lost` are samples that the BPF program had and could not store, each
 * counted under its cause.  `unaccounted` are ticks for which the program
 * never ran, so that nothing could count them; the cause is named where other
 * numbers point at it.  It can be a little below zero, as the clocks are not
 * read in the instant in which they start and stop: one tick per CPU at most.
 */
#include <inttypes.h>

#include "out/balance.h"

/* The sum of the causes for which a sample is in no line. */
uint64_t balance_lost(const struct balance *balance)
{
	return balance->tally.n[TALLY_COUNT_FULL] +
	       balance->tally.n[TALLY_COUNT_BUSY] +
	       balance->tally.n[TALLY_COUNT_FAILED];
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void line(struct meta *meta, const char *label, uint64_t count,
		 uint64_t all)
{
	meta_note(meta, "%11s %10" PRIu64 "  %5.1f %%", label, count,
		 share(count, all));
}

/* Why most of the missing ticks never reached the program. */
static enum cause {
	CAUSE_NONE,
	CAUSE_THROTTLED,
	CAUSE_STOLEN,
	CAUSE_ASLEEP,
	CAUSE_OTHER,
	CAUSE_NOT_KNOWN,
	CAUSE_EVENTS,
} cause_of(const struct balance *balance, int64_t missing)
{
	double half = (double)missing / 2;

	if (missing <= (int64_t)balance->cpus)
		return CAUSE_NONE;
	if (!balance->kind.clock)
		return CAUSE_EVENTS;
	if (balance->max_rate && balance->hz > balance->max_rate / 2)
		return CAUSE_THROTTLED;
	if ((double)balance->steal * (double)balance->hz / 1e9 > half)
		return CAUSE_STOLEN;
	if ((double)balance->asleep > half)
		return CAUSE_ASLEEP;
	return balance->blind ? CAUSE_NOT_KNOWN : CAUSE_OTHER;
}

static void unaccounted(struct meta *meta, const struct balance *balance,
			int64_t missing)
{
	static const char *const causes[] = {
		[CAUSE_NONE] = "",
		[CAUSE_THROTTLED] = ": throttled by the kernel",
		[CAUSE_STOLEN] = ": the hypervisor ran others (steal)",
		[CAUSE_ASLEEP] = ": idle CPUs whose clock stood still",
		[CAUSE_OTHER] = ": inside bpf(2) calls, or held up",
		[CAUSE_NOT_KNOWN] = ": why, /proc/stat would tell",
		[CAUSE_EVENTS] = ": inside bpf(2) calls, or throttled",
	};

	meta_note(meta, "%11s %10" PRId64 "  %5.1f %%%s", "unaccounted",
		  missing, balance->expected ? 100.0 * (double)missing /
		 (double)balance->expected : 0,
		 causes[cause_of(balance, missing)]);
}

/* More than 2 % missing is worth a word, and what it means. */
static void warn(struct meta *meta, const struct balance *balance,
		 int64_t missing)
{
	enum cause cause = cause_of(balance, missing);

	if (cause == CAUSE_NONE ||
	    (uint64_t)missing * 50 <= balance->expected)
		return;
	meta_warning(meta, "%.1f %% of the samples did not come",
		    share((uint64_t)missing, balance->expected));
	if (cause == CAUSE_THROTTLED)
		meta_advice(meta, "the kernel throttles above half of "
			    "kernel.perf_event_max_sample_rate=%" PRIu64
			    ": raise it, or ask for less with -F",
			    balance->max_rate);
	else if (cause == CAUSE_STOLEN)
		meta_advice(meta, "the hypervisor took %.1f %% of the CPU time "
			    "for others (steal): it is in no profile",
			    share(balance->steal, balance->cpu_time));
	else if (cause == CAUSE_ASLEEP)
		meta_advice(meta, "idle CPUs got no timer interrupts: only "
			    "idle time is missing");
	else if (cause == CAUSE_OTHER)
		meta_advice(meta, "interrupts were held up, or another user of "
			    "bpf(2) was busy: what ran then is not seen");
}

static void head(struct meta *meta, const struct balance *balance,
		 uint64_t sampled, uint64_t expected)
{
	double seconds = (double)balance->wall / 1e9;
	const char *plural = balance->cpus == 1 ? "" : "s";

	if (balance->kind.clock)
		meta_note(meta, "%.2f s on %zu CPU%s at %" PRIu64 " Hz: %"
			  PRIu64 " ticks expected, %" PRIu64
			  " sampled (%.1f Hz)", seconds, balance->cpus, plural,
			  balance->hz, expected, sampled, balance->cpu_time ?
			  (double)sampled * 1e9 / (double)balance->cpu_time :
			  0);
	else if (balance->kind.period)
		meta_note(meta, "%.2f s on %zu CPU%s, every %" PRIu64 " %s: %"
			  PRIu64 " expected, %" PRIu64 " sampled", seconds,
			  balance->cpus, plural, balance->kind.period,
			  balance->kind.name, expected, sampled);
	else
		meta_note(meta, "%.2f s on %zu CPU%s, %s: %" PRIu64 " sampled "
			  "(%.1f Hz, at most %" PRIu64 " are asked for)",
			  seconds, balance->cpus, plural, balance->kind.name,
			  sampled, balance->cpu_time ? (double)sampled * 1e9 /
			  (double)balance->cpu_time : 0, balance->hz);
}

static void warn_of_bugs(struct meta *meta, const struct balance *balance)
{
	uint64_t counted = balance->tally.n[TALLY_COUNTED] +
			   balance->tally.n[TALLY_COPIED];

	if (balance->drained != counted)
		meta_warning(meta, "%" PRIu64 " samples were drained, but %"
			     PRIu64 " counted: this is a bug in prof or the "
			     "kernel", balance->drained, counted);
	if (balance->dangling)
		meta_warning(meta, "%" PRIu64 " stacks were named but not "
			     "stored: this is a bug in prof",
			     balance->dangling);
}

void balance_describe(const struct balance *balance,
		      const struct profile *profile, struct meta *meta)
{
	static const char *const modes[MODE_COUNT] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};
	static const char *const causes[WALK_CAUSES] = {
		"", "no mapping", "no row", "unreadable", "too deep",
	};
	uint64_t sampled = balance->tally.n[TALLY_TICKS];
	uint64_t lost = balance_lost(balance);
	enum engine engine = balance->fixed ? ENGINE_STACKID : ENGINE_HASH;
	/* How often events come at a frequency cannot be foreseen. */
	bool known = balance->kind.clock || balance->kind.period;
	uint64_t expected = known ? balance->expected : sampled;
	int64_t missing = (int64_t)(expected - sampled);

	meta->balanced = true;
	meta->foreseen = known;
	meta->sampled = sampled;
	meta->expected = expected;
	meta->lost = lost;
	meta->unaccounted = missing;
	head(meta, balance, sampled, expected);
	for (size_t i = 0; i < MODE_COUNT; i++)
		if (i != MODE_UNKNOWN || profile->by_mode[i])
			line(meta, modes[i], profile->by_mode[i], expected);
	line(meta, "filtered", profile->filtered, expected);
	if (profile->elsewhere)
		meta_note(meta, "%11s %10" PRIu64 "  of these: in other PID "
			  "namespaces", "", profile->elsewhere);
	line(meta, "lost", lost, expected);
	if (known)
		unaccounted(meta, balance, missing);
	for (unsigned int i = 0; i < TALLY_SIZE; i++)
		if (balance->tally.n[i] && samples_tally_text(engine, i))
			meta_note(meta, "%11s %10" PRIu64 "  %s", "",
				  (uint64_t)balance->tally.n[i],
				  samples_tally_text(engine, i));
	for (unsigned int i = 0; i < WALK_CAUSES; i++)
		if (profile->unfinished[i])
			meta_note(meta, "%11s %10" PRIu64 "  user stacks: end "
				  "before their root: %s", "",
				  profile->unfinished[i], causes[i]);
	if (profile->dropped)
		meta_note(meta, "%11s %10" PRIu64 "  stacks: too many "
			  "distinct ones", "", profile->dropped);
	warn_of_bugs(meta, balance);
	if (lost && balance->late)
		meta_advice(meta, "prof got no CPU for %.1f s at a time: a "
			    "larger --memory, or a lower -F, bridges that",
			    (double)balance->late / 1e9);
	else if (lost && !balance->fixed)
		meta_advice(meta, "a larger --memory, or a lower -F, loses "
			    "none");
	warn(meta, balance, missing);
}
