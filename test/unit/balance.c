/* SPDX-License-Identifier: MIT */
/* What is said at the end of where each tick went. */
#include <string.h>

#include "lib/log.h"
#include "out/balance.h"
#include "test/unit/unit.h"

/* 10 s of 2 CPUs at 100 Hz, of which all 2000 ticks came. */
static void make_balance(struct balance *balance, struct profile *profile)
{
	*balance = (struct balance){
		.hz = 100, .cpus = 2, .wall = 10000000000,
		.cpu_time = 20000000000, .expected = 2000, .max_rate = 100000,
		.drained = 2000,
	};
	CHECK(event_find("cpu-clock", &balance->kind));
	balance->tally.n[TALLY_TICKS] = 2000;
	balance->tally.n[TALLY_COUNTED] = 2000;
	*profile = (struct profile){ .filtered = 100 };
	profile->by_mode[MODE_USER] = 1000;
	profile->by_mode[MODE_KERNEL] = 900;
	unit_messages();
}

/* So many of the ticks did not come. */
static void take_away(struct balance *balance, uint64_t ticks)
{
	balance->tally.n[TALLY_TICKS] -= ticks;
	balance->tally.n[TALLY_COUNTED] -= ticks;
	balance->drained -= ticks;
}

static const char *said(const struct balance *balance,
			const struct profile *profile)
{
	struct meta meta = { 0 };

	balance_describe(balance, profile, &meta);
	meta_tell(&meta);
	meta_free(&meta);
	return unit_messages();
}

static void check_said(const struct balance *balance,
		       const struct profile *profile, const char *part)
{
	const char *text = said(balance, profile);

	if (!strstr(text, part))
		unit_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", part, text);
}

TEST(balance_of_a_clock)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	CHECK_TEXT(said(&balance, &profile),
		   "prof: 10.00 s on 2 CPUs at 100 Hz: 2000 ticks expected, "
		   "2000 sampled (100.0 Hz)\n"
		   "prof:        user       1000   50.0 %\n"
		   "prof:      kernel        900   45.0 %\n"
		   "prof:        idle          0    0.0 %\n"
		   "prof:     softirq          0    0.0 %\n"
		   "prof:    filtered        100    5.0 %\n"
		   "prof:        lost          0    0.0 %\n"
		   "prof: unaccounted          0    0.0 %\n");
}

/* Nothing at all ran: no division by it. */
TEST(balance_of_nothing)
{
	struct balance balance = { .cpus = 1 };
	struct profile profile = { 0 };

	CHECK(event_find("cpu-clock", &balance.kind));
	check_said(&balance, &profile, "0.00 s on 1 CPU at 0 Hz: 0 ticks "
		   "expected, 0 sampled (0.0 Hz)");
}

/* Every 1000th of an event can be expected; a rate of it cannot. */
TEST(balance_of_events)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	CHECK(event_find("page-faults/1000", &balance.kind));
	check_said(&balance, &profile, "10.00 s on 2 CPUs, every 1000 "
		   "page-faults: 2000 expected, 2000 sampled\n");
	take_away(&balance, 100);
	check_said(&balance, &profile, "unaccounted        100    5.0 %: "
		   "inside bpf(2) calls, or throttled\n");
	CHECK(event_find("page-faults", &balance.kind));
	check_said(&balance, &profile, "page-faults: 1900 sampled (95.0 Hz, "
		   "at most 100 are asked for)\n");
	CHECK(!strstr(said(&balance, &profile), "unaccounted"));
}

/* The cause of what is missing is what the other numbers point at. */
TEST(balance_causes)
{
	struct balance balance;
	struct profile profile;

	/* A tick a CPU is the clocks' own. */
	make_balance(&balance, &profile);
	take_away(&balance, 2);
	check_said(&balance, &profile, "unaccounted          2    0.1 %\n");
	take_away(&balance, 98);
	check_said(&balance, &profile, ": inside bpf(2) calls, or held up\n");
	check_said(&balance, &profile, "prof: warning: 5.0 % of the samples "
		   "did not come\n      interrupts were held up");
	balance.blind = true;
	check_said(&balance, &profile, ": why, /proc/stat would tell\n");
	balance.blind = false;
	balance.asleep = 51;
	check_said(&balance, &profile, ": idle CPUs whose clock stood still\n");
	check_said(&balance, &profile, "\n      idle CPUs got no timer");
	balance.steal = 510000000;
	check_said(&balance, &profile, ": the hypervisor ran others (steal)\n");
	check_said(&balance, &profile, "took 2.5 % of the CPU time");
	balance.max_rate = 150;
	check_said(&balance, &profile, ": throttled by the kernel\n");
	check_said(&balance, &profile,
		   "kernel.perf_event_max_sample_rate=150: raise it");
	/* Half of them is a majority no more. */
	balance.max_rate = 0;
	balance.steal = 500000000;
	balance.asleep = 50;
	check_said(&balance, &profile, "held up\n");
}

/* What is little gets its line, but no warning. */
TEST(balance_warns_above_two_percent)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	take_away(&balance, 40);
	CHECK(!strstr(said(&balance, &profile), "warning"));
	take_away(&balance, 1);
	check_said(&balance, &profile, "warning: 2.0 % of the samples");
}

/* More ticks than expected: the clocks are not read in one instant. */
TEST(balance_below_zero)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	balance.expected = 1999;
	check_said(&balance, &profile, "unaccounted         -1   -0.1 %\n");
}

TEST(balance_of_what_was_lost)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	balance.tally.n[TALLY_COUNTED] = balance.drained = 1940;
	balance.tally.n[TALLY_COUNT_FULL] = 10;
	balance.tally.n[TALLY_COUNT_BUSY] = 20;
	balance.tally.n[TALLY_COUNT_FAILED] = 30;
	CHECK_U64(balance_lost(&balance), 60);
	check_said(&balance, &profile, "lost         60    3.0 %\n");
	check_said(&balance, &profile, "a larger --memory, or a lower -F, "
		   "loses none\n");
	balance.late = 2500000000;
	check_said(&balance, &profile, "prof got no CPU for 2.5 s at a time");
	balance.late = 0;
	balance.fixed = true;
	CHECK(!strstr(said(&balance, &profile), "--memory"));
}

/* What must not be is said, loudly. */
TEST(balance_bugs)
{
	struct balance balance;
	struct profile profile;

	make_balance(&balance, &profile);
	balance.drained = 1999;
	check_said(&balance, &profile, "1999 samples were drained, but 2000 "
		   "counted: this is a bug in prof or the kernel");
	balance.drained = 2000;
	balance.dangling = 3;
	check_said(&balance, &profile, "3 stacks were named but not stored");
	balance.dangling = 0;
	profile.dropped = 4;
	profile.elsewhere = 5;
	profile.by_mode[MODE_UNKNOWN] = 6;
	check_said(&balance, &profile, "4  stacks: too many distinct ones\n");
	check_said(&balance, &profile, "5  of these: in other PID namespaces\n");
	check_said(&balance, &profile, "unknown          6    0.3 %\n");
}
