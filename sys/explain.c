/* SPDX-License-Identifier: MIT */
/*
 * explain: what each system call is for, what it is given, what comes back.
 *
 *	# a clock on CPU 0: a tick every 10,101,010 ns, not started yet
 *	perf_event_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC) = 21
 *	    type=PERF_TYPE_SOFTWARE  size=PERF_ATTR_SIZE_VER7
 *	    config=PERF_COUNT_SW_CPU_CLOCK  sample_period=10101010
 *	    read_format=PERF_FORMAT_TOTAL_TIME_ENABLED  disabled=1
 *
 * Names are those of the kernel's headers.  Members that are zero are left out,
 * as zero is what the kernel takes for "not wanted" everywhere.  In parentheses
 * stands what a number means or a pointer leads to.
 *
 * Source: man 2 bpf, man 2 perf_event_open, their headers; man 5 proc for
 * /proc/self/fdinfo.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "sys/explain.h"
#include "sys/system.h"

enum { COLUMNS = 80 };

static enum explain_level explain_level;

/* What was made so far, so that descriptors can be told by name. */
static struct made {
	int fd;
	char name[BPF_OBJ_NAME_LEN];
	uint32_t type, key_size, value_size;	/* of a map */
} *made;
static size_t made_count, made_capacity;

void explain_open(enum explain_level level)
{
	explain_level = level;
}

bool explain_calls(void)
{
	return explain_level >= EXPLAIN_CALLS;
}

bool explain_code(void)
{
	return explain_level >= EXPLAIN_CODE;
}

void explain_stage(const char *name, const char *what)
{
	struct text line = { 0 };

	if (!explain_calls())
		return;
	text_format(&line, "== %s: %s ", name, what);
	while (line.length < COLUMNS - 1)
		text_add(&line, "=", 1);
	log_explain(LOG_TOLD, "");
	log_explain(LOG_STAGE, line.data);
	text_free(&line);
}

/* Breaks a line at words; what goes on is indented. */
static void tell(const char *line)
{
	const char *indent = "";
	char part[COLUMNS + 1];

	do {
		size_t room = COLUMNS - strlen(indent), end = strlen(line);

		if (end > room)
			for (end = room; end && line[end] != ' ';)
				end--;
		if (!end)
			end = strnlen(line, room);
		snprintf(part, sizeof(part), "%s%.*s", indent, (int)end, line);
		log_explain(LOG_TOLD, part);
		line += end;
		line += strspn(line, " ");
		indent = "        ";
	} while (*line);
}

void explain(const char *format, ...)
{
	struct text line = { 0 };
	va_list args;

	if (!explain_calls())
		return;
	va_start(args, format);
	text_vformat(&line, format, args);
	va_end(args);
	tell(line.data);
	text_free(&line);
}

/* ----------------------------------------------------- numbers and names */

struct word {
	uint64_t number;
	const char *name;
};

#define WORD(constant) { constant, #constant }
#define WORDS(array) array, sizeof(array) / sizeof(*(array))

static const struct word commands[] = {
	WORD(BPF_MAP_CREATE), WORD(BPF_MAP_LOOKUP_ELEM),
	WORD(BPF_MAP_UPDATE_ELEM), WORD(BPF_MAP_DELETE_ELEM),
	WORD(BPF_MAP_GET_NEXT_KEY), WORD(BPF_MAP_FREEZE),
	WORD(BPF_MAP_LOOKUP_AND_DELETE_BATCH), WORD(BPF_PROG_LOAD),
	WORD(BPF_PROG_TEST_RUN),
};

static const struct word map_types[] = {
	WORD(BPF_MAP_TYPE_HASH), WORD(BPF_MAP_TYPE_ARRAY),
	WORD(BPF_MAP_TYPE_PERCPU_ARRAY), WORD(BPF_MAP_TYPE_STACK_TRACE),
	WORD(BPF_MAP_TYPE_CGROUP_ARRAY), WORD(BPF_MAP_TYPE_ARRAY_OF_MAPS),
	WORD(BPF_MAP_TYPE_PROG_ARRAY), WORD(BPF_MAP_TYPE_RINGBUF),
};

static const struct word map_flags[] = {
	WORD(BPF_F_NO_PREALLOC), WORD(BPF_F_RDONLY_PROG),
	WORD(BPF_F_WRONLY_PROG), WORD(BPF_F_MMAPABLE),
};

static const struct word program_types[] = {
	WORD(BPF_PROG_TYPE_PERF_EVENT), WORD(BPF_PROG_TYPE_TRACEPOINT),
	WORD(BPF_PROG_TYPE_SYSCALL),
};

static const struct word program_flags[] = { WORD(BPF_F_SLEEPABLE) };

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

static const struct word errors[] = {
	WORD(EPERM), WORD(ENOENT), WORD(EINTR), WORD(E2BIG), WORD(EBADF),
	WORD(EAGAIN), WORD(ENOMEM), WORD(EACCES), WORD(EFAULT), WORD(EBUSY),
	WORD(EEXIST), WORD(ENODEV), WORD(EINVAL), WORD(ENFILE), WORD(EMFILE),
	WORD(ENOSPC), WORD(ENOSYS), WORD(EOPNOTSUPP), WORD(ENXIO), WORD(ENOTTY),
};

/* The name of a number that has one, or the number; valid until the next. */
static const char *name_of(const struct word *words, size_t count,
			   uint64_t number)
{
	static char digits[24];

	for (size_t i = 0; i < count; i++)
		if (words[i].number == number)
			return words[i].name;
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return digits;
}

/* ------------------------------------------------------- a call in lines */

/* One member of what a call is given, on a line that is long enough. */
static void member(struct text *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void member(struct text *line, const char *format, ...)
{
	struct text item = { 0 };
	va_list args;

	va_start(args, format);
	text_vformat(&item, format, args);
	va_end(args);
	if (line->length && line->length + item.length + 2 > COLUMNS) {
		log_explain(LOG_TOLD, line->data);
		line->length = 0;
	}
	text_format(line, "%s%s", line->length ? "  " : "    ", item.data);
	text_free(&item);
}

static void end_members(struct text *line)
{
	if (line->length)
		log_explain(LOG_TOLD, line->data);
	text_free(line);
}

static void number(struct text *line, const char *name, uint64_t value)
{
	if (value)
		member(line, "%s=%" PRIu64, name, value);
}

/* Bits that are set, by their names. */
static void bits(struct text *line, const char *name, const struct word *words,
		 size_t count, uint64_t value)
{
	struct text text = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!(value & words[i].number))
			continue;
		text_format(&text, "%s%s", text.length ? "|" : "",
			    words[i].name);
		value &= ~words[i].number;
	}
	if (value)
		text_format(&text, "%s%#" PRIx64, text.length ? "|" : "", value);
	if (text.length)
		member(line, "%s=%s", name, text.data);
	text_free(&text);
}

/* The call and its result, below what it is for. */
static void call(const char *why, const char *what, long result)
{
	struct text line = { 0 };

	text_format(&line, "# %s", why);
	log_explain(LOG_WHY, line.data);
	line.length = 0;
	if (result < 0)
		text_format(&line, "%s = -1 %s", what,
			    name_of(WORDS(errors), (uint64_t)-result));
	else
		text_format(&line, "%s = %ld", what, result);
	log_explain(result < 0 ? LOG_REFUSED : LOG_CALL, line.data);
	text_free(&line);
}

/* --------------------------------------------------- maps and programs */

static const struct made *find_made(int fd)
{
	static const struct made nothing = { .name = "?" };

	for (size_t i = made_count; i-- > 0;)
		if (made[i].fd == fd)
			return &made[i];
	return &nothing;
}

static void remember(int fd, const char *name, const union bpf_attr *map)
{
	struct made new = { .fd = fd };

	snprintf(new.name, sizeof(new.name), "%s", name);
	if (map) {
		new.type = map->map_type;
		new.key_size = map->key_size;
		new.value_size = map->value_size;
	}
	made = memory_grow(made, &made_capacity, made_count + 1, sizeof(new));
	made[made_count++] = new;
}

/* What /proc/self/fdinfo knows of a new map or program. */
static void tell_info(int fd)
{
	char path[64];
	uint64_t memory = 0, verified = 0, jited = 0;
	struct text text = { 0 };
	struct lines lines;
	char *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (lines_open(&lines, path))
		return;
	while ((line = lines_next(&lines))) {
		if (!strncmp(line, "memlock:", 8))
			memory = strtoull(line + 8, NULL, 10);
		if (!strncmp(line, "verified_insns:", 15))
			verified = strtoull(line + 15, NULL, 10);
		if (!strncmp(line, "prog_jited:", 11))
			jited = strtoull(line + 11, NULL, 10);
	}
	lines_close(&lines);
	text_format(&text, "    -> fd %d takes %" PRIu64 " bytes of kernel "
		    "memory", fd, memory);
	if (verified)
		text_format(&text, "; %" PRIu64 " instructions verified%s",
			    verified, jited ? ", compiled for this CPU" : "");
	tell(text.data);
	text_free(&text);
}

/* A pointer to a key or value, and what it leads to. */
static void pointer(struct text *line, const char *name, uint64_t address,
		    uint32_t size, bool readable)
{
	const void *bytes = (const void *)(uintptr_t)address;
	uint64_t value = 0;

	if (!address)
		member(line, "%s=NULL", name);
	else if (!readable || !size)
		member(line, "%s=%#" PRIx64, name, address);
	else if (size > sizeof(value))
		member(line, "%s=%#" PRIx64 " (%" PRIu32 " bytes)", name,
		       address, size);
	else {
		/* The few CPUs that BPF runs on here are little-endian. */
		memcpy(&value, bytes, size);
		member(line, "%s=%#" PRIx64 " (%" PRIu64 ")", name, address,
		       value);
	}
}

static void map_members(const union bpf_attr *map)
{
	struct text line = { 0 };

	member(&line, "map_type=%s", name_of(WORDS(map_types), map->map_type));
	number(&line, "key_size", map->key_size);
	number(&line, "value_size", map->value_size);
	number(&line, "max_entries", map->max_entries);
	bits(&line, "map_flags", WORDS(map_flags), map->map_flags);
	if (map->inner_map_fd)
		member(&line, "inner_map_fd=%u (%s)", map->inner_map_fd,
		       find_made((int)map->inner_map_fd)->name);
	member(&line, "map_name=\"%s\"", map->map_name);
	end_members(&line);
}

/* LOOKUP, UPDATE, DELETE, GET_NEXT_KEY, FREEZE. */
static void element_members(int cmd, const union bpf_attr *attr, long result)
{
	const struct made *map = find_made((int)attr->map_fd);
	struct text line = { 0 };

	member(&line, "map_fd=%u (%s)", attr->map_fd, map->name);
	if (cmd != BPF_MAP_FREEZE)
		pointer(&line, "key", attr->key, map->key_size, true);
	if (cmd == BPF_MAP_UPDATE_ELEM || cmd == BPF_MAP_LOOKUP_ELEM)
		pointer(&line, "value", attr->value, map->value_size,
			result >= 0);
	if (cmd == BPF_MAP_GET_NEXT_KEY)
		pointer(&line, "next_key", attr->next_key, map->key_size,
			result >= 0);
	if (cmd == BPF_MAP_UPDATE_ELEM)
		number(&line, "flags", attr->flags);
	end_members(&line);
}

static void batch_members(const union bpf_attr *given,
			  const union bpf_attr *got)
{
	struct text line = { 0 };

	member(&line, "map_fd=%u (%s)", given->batch.map_fd,
	       find_made((int)given->batch.map_fd)->name);
	pointer(&line, "in_batch", given->batch.in_batch, 0, false);
	pointer(&line, "out_batch", given->batch.out_batch, 0, false);
	pointer(&line, "keys", given->batch.keys, 0, false);
	pointer(&line, "values", given->batch.values, 0, false);
	member(&line, "count=%u (%u came)", given->batch.count,
	       got->batch.count);
	end_members(&line);
}

static void program_members(const union bpf_attr *attr)
{
	struct text line = { 0 };

	member(&line, "prog_type=%s",
	       name_of(WORDS(program_types), attr->prog_type));
	number(&line, "insn_cnt", attr->insn_cnt);
	member(&line, "license=\"%s\"",
	       (const char *)(uintptr_t)attr->license);
	number(&line, "log_level", attr->log_level);
	number(&line, "log_size", attr->log_size);
	bits(&line, "prog_flags", WORDS(program_flags), attr->prog_flags);
	member(&line, "prog_name=\"%s\"", attr->prog_name);
	end_members(&line);
}

static const char *map_purpose(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_HASH:
		return "a hash table; all its memory is taken now";
	case BPF_MAP_TYPE_ARRAY:
		return "an array, zeroed";
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return "an array of which each CPU has its own";
	case BPF_MAP_TYPE_STACK_TRACE:
		return "call stacks, at the place that their hash says";
	case BPF_MAP_TYPE_CGROUP_ARRAY:
		return "an array of cgroups, put in by descriptor";
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return "an array whose elements are maps";
	case BPF_MAP_TYPE_PROG_ARRAY:
		return "an array of programs, which call each other";
	case BPF_MAP_TYPE_RINGBUF:
		return "a ring that programs write records to";
	default:
		return "a map";
	}
}

/* One line on what this call is for. */
static void bpf_purpose(int cmd, const union bpf_attr *attr, struct text *why)
{
	const struct made *map = find_made((int)attr->map_fd);

	switch (cmd) {
	case BPF_MAP_CREATE:
		text_format(why, "make map `%s`: %s", attr->map_name,
			    map_purpose(attr->map_type));
		break;
	case BPF_MAP_LOOKUP_ELEM:
		text_format(why, "copy the value of one key out of `%s`",
			    map->name);
		break;
	case BPF_MAP_UPDATE_ELEM:
		if (map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
			text_format(why, "put a map into `%s`: returns when no "
				    "program runs that saw the old one",
				    map->name);
		else
			text_format(why, "write one value into `%s`",
				    map->name);
		break;
	case BPF_MAP_DELETE_ELEM:
		text_format(why, "delete one key of `%s`", map->name);
		break;
	case BPF_MAP_GET_NEXT_KEY:
		text_format(why, attr->key ? "which key comes after this one "
			    "in `%s`?" : "which is the first key of `%s`?",
			    map->name);
		break;
	case BPF_MAP_FREEZE:
		text_format(why, "from now on user space cannot change `%s`",
			    map->name);
		break;
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		text_format(why, "move up to %u elements out of `%s`, in one "
			    "call", attr->batch.count,
			    find_made((int)attr->batch.map_fd)->name);
		break;
	case BPF_PROG_LOAD:
		text_format(why, "let the verifier check `%s`, all paths of "
			    "it", attr->prog_name);
		break;
	case BPF_PROG_TEST_RUN:
		text_format(why, "run program `%s` once, here and now",
			    find_made((int)attr->test.prog_fd)->name);
		break;
	default:
		text_format(why, "bpf");
		break;
	}
}

static void bpf_members(int cmd, const union bpf_attr *given,
			const union bpf_attr *got, long result)
{
	struct text line = { 0 };

	switch (cmd) {
	case BPF_MAP_CREATE:
		map_members(given);
		break;
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		batch_members(given, got);
		break;
	case BPF_PROG_LOAD:
		program_members(given);
		break;
	case BPF_PROG_TEST_RUN:
		member(&line, "prog_fd=%u (%s)", given->test.prog_fd,
		       find_made((int)given->test.prog_fd)->name);
		end_members(&line);
		break;
	default:
		element_members(cmd, given, result);
		break;
	}
}

void explain_bpf(int cmd, const union bpf_attr *given,
		 const union bpf_attr *got, long result)
{
	struct text why = { 0 }, what = { 0 };

	bpf_purpose(cmd, given, &why);
	text_format(&what, "bpf(%s, &attr, %zu)",
		    name_of(WORDS(commands), (uint64_t)cmd), sizeof(*given));
	call(why.data, what.data, result);
	bpf_members(cmd, given, got, result);
	if (result >= 0 && cmd == BPF_MAP_CREATE)
		remember((int)result, given->map_name, given);
	if (result >= 0 && cmd == BPF_PROG_LOAD)
		remember((int)result, given->prog_name, NULL);
	if (result >= 0 && (cmd == BPF_MAP_CREATE || cmd == BPF_PROG_LOAD))
		tell_info((int)result);
	if (result == -ENOENT && (cmd == BPF_MAP_GET_NEXT_KEY ||
				  cmd == BPF_MAP_LOOKUP_AND_DELETE_BATCH))
		explain("    -> ENOENT: that was the end of the map");
	text_free(&why);
	text_free(&what);
}

void explain_verifier(const char *log)
{
	while (*log) {
		size_t length = strcspn(log, "\n");

		explain("    verifier: %.*s", (int)length, log);
		log += length + (log[length] == '\n');
	}
}

/* ------------------------------------------------------------- perf events */

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
		number(line, flags[i].name, flags[i].is_set);
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

	member(&line, "type=%s", name_of(WORDS(event_types), attr->type));
	member(&line, "size=%s", name_of(WORDS(event_sizes), attr->size));
	member(&line, "config=%s", event_name(attr));
	number(&line, attr->freq ? "sample_freq" : "sample_period",
	       attr->sample_period);
	bits(&line, "sample_type", WORDS(sample_types), attr->sample_type);
	bits(&line, "read_format", WORDS(read_formats), attr->read_format);
	event_bits(&line, attr);
	number(&line, attr->watermark ? "wakeup_watermark" : "wakeup_events",
	       attr->wakeup_watermark);
	if (attr->use_clockid)
		member(&line, "clockid=%s",
		       name_of(WORDS(clocks), (uint64_t)attr->clockid));
	end_members(&line);
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

void explain_perf_event_open(const struct perf_event_attr *attr, int pid,
			     int cpu, int group_fd, unsigned long flags,
			     long result)
{
	struct text why = { 0 }, what = { 0 };

	event_purpose(attr, cpu, &why);
	text_format(&what, "perf_event_open(&attr, %d, %d, %d, %s)", pid, cpu,
		    group_fd, name_of(WORDS(open_flags), flags));
	call(why.data, what.data, result);
	event_members(attr);
	text_free(&why);
	text_free(&what);
}

void explain_ioctl(int fd, unsigned long request, long argument, long result)
{
	struct text why = { 0 }, what = { 0 };

	if (request == PERF_EVENT_IOC_SET_BPF)
		text_format(&why, "at each tick of event %d run program `%s`",
			    fd, find_made((int)argument)->name);
	else
		text_format(&why, "%s event %d",
			    request == PERF_EVENT_IOC_ENABLE ? "start" :
			    "stop", fd);
	text_format(&what, "ioctl(%d, %s, %ld)", fd,
		    name_of(WORDS(requests), request), argument);
	call(why.data, what.data, result);
	text_free(&why);
	text_free(&what);
}

void explain_mmap(size_t bytes, int fd, long error, const void *base)
{
	struct text what = { 0 };

	text_format(&what, "mmap(NULL, %zu, PROT_READ|PROT_WRITE, MAP_SHARED, "
		    "%d, 0)", bytes, fd);
	call("share the ring of this event with the kernel", what.data, error);
	if (!error)
		explain("    -> %p: one page of positions, then the records",
			base);
	text_free(&what);
}
