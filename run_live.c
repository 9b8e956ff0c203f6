/* SPDX-License-Identifier: MIT */
/* run_live: what is drawn while a run lasts, for somebody who waits for it. */
#include "run.h"
#include "sys/system.h"

/* Only if nothing else is asked for, and no other program draws there. */
void run_live_open(struct run *run)
{
	const struct options *options = run->options;

	if (!options->output_count && !options->format && !options->command &&
	    !options->quiet && !options->explain &&
	    run->engine != ENGINE_STACKID)
		run->live = live_open(run->profile);
}

void run_live_draw(struct run *run, const struct tally *tally)
{
	const struct event_kind *kind = &run->sampler.kind;
	struct balance balance = { .tally = *tally };
	uint64_t ticks = tally->n[TALLY_TICKS];
	uint64_t others = run->profile->filtered;

	live_draw(run->live, &(struct live_state){
		.time = system_now() - run->balance.wall,
		.samples = ticks > others ? ticks - others : 0,
		.lost = balance_lost(&balance),
		.event = kind->clock ? NULL : kind->name,
		.hz = kind->clock && kind->period ?
		      1000000000 / kind->period : run->options->hz,
		.period = kind->clock ? run->sampler.period : 0,
		.cpus = run->sampler.count,
	});
}
