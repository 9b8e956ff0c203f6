/* SPDX-License-Identifier: MIT */
/*
 * events: what a sample can be taken of, by perf's names.
 *
 * Software events are the kernel's own and always there.  Hardware events need
 * counters of the processor (a PMU), which few virtual machines have.
 *
 * Source: man 2 perf_event_open, man 1 perf-list.
 */
#include <string.h>

#include <linux/perf_event.h>

#include "lib/text.h"
#include "sys/events.h"

#define SOFTWARE(name, config) { name, PERF_TYPE_SOFTWARE, config, false, 0, 0 }
#define HARDWARE(name, config) { name, PERF_TYPE_HARDWARE, config, false, 0, 0 }

static const struct event_kind kinds[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, 0, 0 },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true, 0,
	  0 },
	SOFTWARE("page-faults", PERF_COUNT_SW_PAGE_FAULTS),
	SOFTWARE("faults", PERF_COUNT_SW_PAGE_FAULTS),
	SOFTWARE("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES),
	SOFTWARE("cs", PERF_COUNT_SW_CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS),
	SOFTWARE("migrations", PERF_COUNT_SW_CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS),
	HARDWARE("cycles", PERF_COUNT_HW_CPU_CYCLES),
	HARDWARE("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES),
	HARDWARE("instructions", PERF_COUNT_HW_INSTRUCTIONS),
	HARDWARE("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
	HARDWARE("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
	HARDWARE("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
	HARDWARE("bus-cycles", PERF_COUNT_HW_BUS_CYCLES),
	HARDWARE("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend",
		 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend",
		 PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
};

const char event_names[] =
	"cpu-clock task-clock page-faults minor-faults major-faults "
	"context-switches cpu-migrations alignment-faults cycles instructions "
	"cache-references cache-misses branches branch-misses bus-cycles "
	"ref-cycles stalled-cycles-frontend stalled-cycles-backend";

bool event_find(const char *text, struct event_kind *kind)
{
	size_t length = strcspn(text, "/");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strncmp(kinds[i].name, text, length) ||
		    kinds[i].name[length])
			continue;
		*kind = kinds[i];
		/* A clock cannot go faster than at 10,000 ns. */
		return !text[length] ||
		       text_number(text + length + 1, 10,
				   kind->clock ? 10000 : 1,
				   kind->clock ? 1000000000 : INT64_MAX,
				   &kind->period);
	}
	return false;
}
