/* SPDX-License-Identifier: MIT */
/*
 * explain_bpf: calls of bpf(2) as --explain tells them.
 *
 * Sources: man 2 bpf, <linux/bpf.h>; man 5 proc for /proc/self/fdinfo.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "sys/explain.h"
#include "sys/explain_lines.h"

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

static void remember(int fd, const char *name, const union bpf_attr *map)
{
	struct explain_made new = { .fd = fd };

	snprintf(new.name, sizeof(new.name), "%s", name);
	if (map) {
		new.type = map->map_type;
		new.key_size = map->key_size;
		new.value_size = map->value_size;
	}
	explain_remember(&new);
}

/* What /proc/self/fdinfo knows of a new map or program. */
struct info {
	uint64_t memory, verified, jited;
};

static bool read_info(int fd, struct info *info)
{
	char path[64], *line;
	struct lines lines;

	*info = (struct info){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (lines_open(&lines, path))
		return false;
	while ((line = lines_next(&lines))) {
		if (!strncmp(line, "memlock:", 8))
			info->memory = strtoull(line + 8, NULL, 10);
		if (!strncmp(line, "verified_insns:", 15))
			info->verified = strtoull(line + 15, NULL, 10);
		if (!strncmp(line, "prog_jited:", 11))
			info->jited = strtoull(line + 11, NULL, 10);
	}
	lines_close(&lines);
	return true;
}

static void tell_map_info(int fd, const union bpf_attr *map)
{
	struct info info;

	if (read_info(fd, &info))
		explain("    -> fd %d takes %" PRIu64 " bytes of kernel memory"
			"%s", fd, info.memory,
			map->map_type == BPF_MAP_TYPE_PERCPU_ARRAY ?
			", for all CPUs" : "");
}

static void tell_program_info(int fd, const union bpf_attr *program)
{
	struct info info;

	if (!read_info(fd, &info))
		return;
	explain("    -> fd %d takes %" PRIu64 " bytes of kernel memory%s", fd,
		info.memory, info.jited ? ", compiled for this CPU" : "");
	if (info.verified)
		explain("    -> %" PRIu64 " instructions looked at, of %" PRIu32
			": each path, each turn of a loop", info.verified,
			program->insn_cnt);
}

/* Three characters or more, and nothing but zeros behind them. */
static bool is_text(const unsigned char *bytes, uint32_t size)
{
	uint32_t length = 0;

	while (length < size && bytes[length] >= ' ' && bytes[length] < 0x7f)
		length++;
	for (uint32_t i = length; i < size; i++)
		if (bytes[i])
			return false;
	/* Longer ones are records, and what looks like a text is chance. */
	return length >= 3 && length < size && size <= 16;
}

/* What is at an address: a text, a number, a few numbers, or how much it is. */
static void tell_bytes(struct text *text, const void *bytes, uint32_t size)
{
	uint64_t number[3] = { 0 };

	if (is_text(bytes, size)) {
		text_format(text, " (\"%s\")", (const char *)bytes);
		return;
	}
	if (size > sizeof(number) || (size > 8 && size % 8)) {
		text_format(text, " (%" PRIu32 " bytes)", size);
		return;
	}
	/* The few CPUs that BPF runs on here are little-endian. */
	memcpy(number, bytes, size);
	for (uint32_t i = 0; i * 8 < size; i++)
		text_format(text, "%s%" PRIu64, i ? " " : " (", number[i]);
	text_format(text, ")");
}

/* A pointer to a key or value, and what it leads to if that can be read. */
static void pointer(struct text *line, const char *name, uint64_t address,
		    uint32_t size, bool readable)
{
	struct text there = { 0 };

	if (!address) {
		tell_member(line, "%s=NULL", name);
		return;
	}
	if (readable && size)
		tell_bytes(&there, (const void *)(uintptr_t)address, size);
	tell_member(line, "%s=%#" PRIx64 "%s", name, address,
		    there.length ? there.data : "");
	text_free(&there);
}

/* Values of some maps are not what they seem. */
static void value_pointer(struct text *line, const struct explain_made *map,
			  uint64_t address, bool readable)
{
	const struct explain_made *made;
	int fd;

	switch (address && readable ? map->type : 0) {
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		tell_member(line, "value=%#" PRIx64 " (%" PRIu32 " bytes for "
			    "each possible CPU)", address, map->value_size);
		break;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
		memcpy(&fd, (const void *)(uintptr_t)address, sizeof(fd));
		made = explain_made(fd);
		tell_member(line, "value=%#" PRIx64 " (fd %d: %s)", address, fd,
			    *made->name == '?' ? "a cgroup" : made->name);
		break;
	default:
		pointer(line, "value", address, map->value_size, readable);
		break;
	}
}

static void map_members(const union bpf_attr *map)
{
	struct text line = { 0 };

	tell_member(&line, "map_type=%s",
		    name_of(WORDS(map_types), map->map_type));
	tell_number(&line, "key_size", map->key_size);
	tell_number(&line, "value_size", map->value_size);
	tell_number(&line, "max_entries", map->max_entries);
	tell_bits(&line, "map_flags", WORDS(map_flags), map->map_flags);
	if (map->inner_map_fd)
		tell_member(&line, "inner_map_fd=%u (%s)", map->inner_map_fd,
			    explain_made((int)map->inner_map_fd)->name);
	tell_member(&line, "map_name=\"%s\"", map->map_name);
	tell_end(&line);
}

/* LOOKUP, UPDATE, DELETE, GET_NEXT_KEY, FREEZE. */
static void element_members(int cmd, const union bpf_attr *attr, long result)
{
	const struct explain_made *map = explain_made((int)attr->map_fd);
	struct text line = { 0 };

	tell_member(&line, "map_fd=%u (%s)", attr->map_fd, map->name);
	if (cmd != BPF_MAP_FREEZE)
		pointer(&line, "key", attr->key, map->key_size, true);
	if (cmd == BPF_MAP_UPDATE_ELEM || cmd == BPF_MAP_LOOKUP_ELEM)
		value_pointer(&line, map, attr->value,
			      cmd == BPF_MAP_UPDATE_ELEM || result >= 0);
	if (cmd == BPF_MAP_GET_NEXT_KEY)
		pointer(&line, "next_key", attr->next_key, map->key_size,
			result >= 0);
	if (cmd == BPF_MAP_UPDATE_ELEM)
		tell_number(&line, "flags", attr->flags);
	tell_end(&line);
}

static void batch_members(const union bpf_attr *given,
			  const union bpf_attr *got)
{
	struct text line = { 0 };

	tell_member(&line, "map_fd=%u (%s)", given->batch.map_fd,
		    explain_made((int)given->batch.map_fd)->name);
	pointer(&line, "in_batch", given->batch.in_batch, 0, false);
	pointer(&line, "out_batch", given->batch.out_batch, 0, false);
	pointer(&line, "keys", given->batch.keys, 0, false);
	pointer(&line, "values", given->batch.values, 0, false);
	tell_member(&line, "count=%u (%u came)", given->batch.count,
		    got->batch.count);
	tell_end(&line);
}

/* Its results are like those of no other command. */
static void batch_result(const union bpf_attr *given,
			 const union bpf_attr *got, long result)
{
	uint32_t wanted = given->batch.count, came = got->batch.count;

	if (result == -ENOENT)
		explain("    -> ENOENT: %s; no failure", came ?
			"no more elements after these" : "there are none");
	else if (result == -ENOSPC)
		explain("    -> ENOSPC: one bucket holds more than %" PRIu32
			": again, with more room", wanted);
	else if (!result && came < wanted)
		explain("    -> not %" PRIu32 ": a bucket comes whole or not "
			"at all; the next did not fit", wanted);
}

static void program_members(const union bpf_attr *attr)
{
	struct text line = { 0 };

	tell_member(&line, "prog_type=%s",
		    name_of(WORDS(program_types), attr->prog_type));
	tell_number(&line, "insn_cnt", attr->insn_cnt);
	tell_member(&line, "license=\"%s\"",
		    (const char *)(uintptr_t)attr->license);
	tell_number(&line, "log_level", attr->log_level);
	tell_number(&line, "log_size", attr->log_size);
	tell_bits(&line, "prog_flags", WORDS(program_flags), attr->prog_flags);
	tell_member(&line, "prog_name=\"%s\"", attr->prog_name);
	tell_end(&line);
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
		return "call stacks, each in the bucket of its hash";
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
	const struct explain_made *map = explain_made((int)attr->map_fd);

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
			    explain_made((int)attr->batch.map_fd)->name);
		break;
	case BPF_PROG_LOAD:
		text_format(why, "let the verifier check `%s`, all paths of "
			    "it", attr->prog_name);
		break;
	case BPF_PROG_TEST_RUN:
		text_format(why, "run program `%s` once, here and now",
			    explain_made((int)attr->test.prog_fd)->name);
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
		tell_member(&line, "prog_fd=%u (%s)", given->test.prog_fd,
			    explain_made((int)given->test.prog_fd)->name);
		tell_end(&line);
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
	tell_call(why.data, what.data, result);
	bpf_members(cmd, given, got, result);
	if (result >= 0 && cmd == BPF_MAP_CREATE) {
		remember((int)result, given->map_name, given);
		tell_map_info((int)result, given);
	}
	if (result >= 0 && cmd == BPF_PROG_LOAD) {
		remember((int)result, given->prog_name, NULL);
		tell_program_info((int)result, given);
	}
	if (cmd == BPF_MAP_GET_NEXT_KEY && result == -ENOENT)
		explain("    -> ENOENT: %s; no failure", given->key ?
			"that was the last key" : "the map is empty");
	if (cmd == BPF_MAP_LOOKUP_AND_DELETE_BATCH)
		batch_result(given, got, result);
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
