/* SPDX-License-Identifier: MIT */
/*
 * explain_perf: perf events as --explain tells them.
 *
 * Source: man 2 perf_event_open, <linux/perf_event.h>.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "sys/explain.h"
#include "sys/explain_lines.h"

static const struct word event_types[] = {
	WORD(PERF_TYPE_HARDWARE), WORD(PERF_TYPE_SOFTWARE),
};

static const struct word software_events[] = {
	WORD(PERF_COUNT_SW_CPU_CLOCK), WORD(PERF_COUNT_SW_TASK_CLOCK),
	WORD(PERF_COUNT_SW_PAGE_FAULTS), WORD(PERF_COUNT_SW_CONTEXT_SWITCHES),
	WORD(PERF_COUNT_SW_CPU_MIGRATIONS), WORD(PERF_COUNT_SW_PAGE_FAULTS_MIN),
	WORD(PERF_COUNT_SW_PAGE_FAULTS_MAJ),
	WORD(PERF_COUNT_SW_ALIGNMENT_FAULTS), WORD(PERF_COUNT_SW_DUMMY),
};

static const struct word hardware_events[] = {
	WORD(PERF_COUNT_HW_CPU_CYCLES), WORD(PERF_COUNT_HW_INSTRUCTIONS),
	WORD(PERF_COUNT_HW_CACHE_REFERENCES), WORD(PERF_COUNT_HW_CACHE_MISSES),
	WORD(PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	WORD(PERF_COUNT_HW_BRANCH_MISSES), WORD(PERF_COUNT_HW_BUS_CYCLES),
	WORD(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	WORD(PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
	WORD(PERF_COUNT_HW_REF_CPU_CYCLES),
};

static const struct word sample_types[] = {
	WORD(PERF_SAMPLE_IP), WORD(PERF_SAMPLE_TID), WORD(PERF_SAMPLE_TIME),
	WORD(PERF_SAMPLE_CPU),
};

static const struct word read_formats[] = {
	WORD(PERF_FORMAT_TOTAL_TIME_ENABLED),
	WORD(PERF_FORMAT_TOTAL_TIME_RUNNING),
};

static const struct word open_flags[] = { WORD(PERF_FLAG_FD_CLOEXEC) };

static const struct word requests[] = {
	WORD(PERF_EVENT_IOC_ENABLE), WORD(PERF_EVENT_IOC_DISABLE),
	WORD(PERF_EVENT_IOC_SET_BPF),
};

static const struct word clocks[] = { WORD(CLOCK_MONOTONIC) };

/* struct perf_event_attr grew: man 2 perf_event_open, under `size`. */
static const struct word event_sizes[] = {
	{ 112, "PERF_ATTR_SIZE_VER5" }, { 120, "PERF_ATTR_SIZE_VER6" },
	{ 128, "PERF_ATTR_SIZE_VER7" }, { 136, "PERF_ATTR_SIZE_VER8" },
};

/* Members of one bit, all that there are up to Linux 5.10. */
static void event_bits(struct text *line, const struct perf_event_attr *attr)
{
	const struct {
		uint64_t is_set;
		const char *name;
	} flags[] = {
		{ attr->disabled, "disabled" }, { attr->inherit, "inherit" },
		{ attr->pinned, "pinned" }, { attr->exclusive, "exclusive" },
		{ attr->exclude_user, "exclude_user" },
		{ attr->exclude_kernel, "exclude_kernel" },
		{ attr->exclude_hv, "exclude_hv" },
		{ attr->exclude_idle, "exclude_idle" },
		{ attr->mmap, "mmap" }, { attr->comm, "comm" },
		{ attr->freq, "freq" }, { attr->inherit_stat, "inherit_stat" },
		{ attr->enable_on_exec, "enable_on_exec" },
		{ attr->task, "task" }, { attr->watermark, "watermark" },
		{ attr->precise_ip, "precise_ip" },
		{ attr->mmap_data, "mmap_data" },
		{ attr->sample_id_all, "sample_id_all" },
		{ attr->exclude_host, "exclude_host" },
		{ attr->exclude_guest, "exclude_guest" },
		{ attr->mmap2, "mmap2" }, { attr->comm_exec, "comm_exec" },
		{ attr->use_clockid, "use_clockid" },
		{ attr->context_switch, "context_switch" },
		{ attr->write_backward, "write_backward" },
		{ attr->namespaces, "namespaces" },
		{ attr->ksymbol, "ksymbol" }, { attr->bpf_event, "bpf_event" },
		{ attr->aux_output, "aux_output" },
		{ attr->cgroup, "cgroup" }, { attr->text_poke, "text_poke" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		tell_number(line, flags[i].name, flags[i].is_set);
}

static const char *event_name(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return name_of(WORDS(software_events), attr->config);
	if (attr->type == PERF_TYPE_HARDWARE)
		return name_of(WORDS(hardware_events), attr->config);
	return name_of(NULL, 0, attr->config);
}

static void event_members(const struct perf_event_attr *attr)
{
	struct text line = { 0 };

	tell_member(&line, "type=%s", name_of(WORDS(event_types), attr->type));
	tell_member(&line, "size=%s", name_of(WORDS(event_sizes), attr->size));
	tell_member(&line, "config=%s", event_name(attr));
	tell_number(&line, attr->freq ? "sample_freq" : "sample_period",
		    attr->sample_period);
	tell_bits(&line, "sample_type", WORDS(sample_types), attr->sample_type);
	tell_bits(&line, "read_format", WORDS(read_formats), attr->read_format);
	event_bits(&line, attr);
	tell_number(&line, attr->watermark ? "wakeup_watermark" :
		    "wakeup_events", attr->wakeup_watermark);
	if (attr->use_clockid)
		tell_member(&line, "clockid=%s",
			    name_of(WORDS(clocks), (uint64_t)attr->clockid));
	tell_end(&line);
}

static void event_purpose(const struct perf_event_attr *attr, int cpu,
			  struct text *why)
{
	if (attr->type == PERF_TYPE_SOFTWARE &&
	    attr->config == PERF_COUNT_SW_DUMMY)
		text_format(why, "on CPU %d: counts nothing, but its ring tells "
			    "of processes", cpu);
	else if (attr->freq)
		text_format(why, "on CPU %d: %" PRIu64 " samples a second of "
			    "an event", cpu, (uint64_t)attr->sample_freq);
	else if (attr->type == PERF_TYPE_SOFTWARE &&
		 attr->config == PERF_COUNT_SW_CPU_CLOCK)
		text_format(why, "a clock on CPU %d: a tick every %" PRIu64
			    " ns, whatever runs there", cpu,
			    (uint64_t)attr->sample_period);
	else
		text_format(why, "on CPU %d: a sample of every %" PRIu64
			    "th event", cpu, (uint64_t)attr->sample_period);
}

/* Of what is told later the descriptor alone says little. */
static void remember(const struct perf_event_attr *attr, int cpu, int fd)
{
	struct explain_made new = {
		.fd = fd, .name = "event", .cpu = cpu,
		.clock = attr->type == PERF_TYPE_SOFTWARE &&
			 attr->config == PERF_COUNT_SW_CPU_CLOCK,
	};

	explain_remember(&new);
}

static void event_text(struct text *text, int fd)
{
	const struct explain_made *event = explain_made(fd);

	if (event->clock)
		text_format(text, "the clock of CPU %d (event %d)", event->cpu,
			    fd);
	else
		text_format(text, "event %d of CPU %d", fd, event->cpu);
}

void explain_perf_event_open(const struct perf_event_attr *attr, int pid,
			     int cpu, int group_fd, unsigned long flags,
			     long result)
{
	struct text why = { 0 }, what = { 0 };

	event_purpose(attr, cpu, &why);
	text_format(&what, "perf_event_open(&attr, %d, %d, %d, %s)", pid, cpu,
		    group_fd, name_of(WORDS(open_flags), flags));
	tell_call(why.data, what.data, result);
	event_members(attr);
	if (result >= 0)
		remember(attr, cpu, (int)result);
	text_free(&why);
	text_free(&what);
}

void explain_ioctl(int fd, unsigned long request, long argument, long result)
{
	struct text why = { 0 }, what = { 0 };

	if (request == PERF_EVENT_IOC_SET_BPF)
		text_format(&why, "run `%s` at each tick of ",
			    explain_made((int)argument)->name);
	else
		text_format(&why, request == PERF_EVENT_IOC_ENABLE ? "start " :
			    "stop ");
	event_text(&why, fd);
	text_format(&what, "ioctl(%d, %s, %ld)", fd,
		    name_of(WORDS(requests), request), argument);
	tell_call(why.data, what.data, result);
	text_free(&why);
	text_free(&what);
}

void explain_read(int fd, size_t bytes, const uint64_t values[2], long result)
{
	struct text why = { 0 }, what = { 0 };

	text_format(&why, "what did ");
	event_text(&why, fd);
	text_format(&why, " count, and how long was it on?");
	text_format(&what, "read(%d, &values, %zu)", fd, bytes);
	tell_call(why.data, what.data, result);
	if (result == (long)bytes)
		explain("    -> counted %" PRIu64 ", on for %.6f s", values[0],
			(double)values[1] / 1e9);
	text_free(&why);
	text_free(&what);
}

void explain_mmap(size_t bytes, int fd, long result)
{
	struct text why = { 0 }, what = { 0 };

	text_format(&why, "share the ring of ");
	event_text(&why, fd);
	text_format(&why, " with the kernel");
	text_format(&what, "mmap(NULL, %zu, PROT_READ|PROT_WRITE, MAP_SHARED, "
		    "%d, 0)", bytes, fd);
	tell_call(why.data, what.data, result);
	if (result >= 0)
		explain("    -> one page of positions, then the records");
	text_free(&why);
	text_free(&what);
}

void explain_membarrier(long result)
{
	tell_call("wait until every program that runs now has ended",
		  "membarrier(MEMBARRIER_CMD_GLOBAL, 0, 0)", result);
}
