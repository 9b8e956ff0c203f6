/* SPDX-License-Identifier: MIT */
/*
 * user: names for addresses of processes.
 *
 *	(process, time, address) ── proc/spaces ──> file, offset
 *	file ── proc/files ──> a descriptor, proved
 *	descriptor, offset ──> "[file+0xoffset]"
 *
 * All of it happens when a sample is drained, as its process and its file may
 * be gone in the next second.  Frames are numbers then, so that each distinct
 * one is made into text once.
 *
 * A frame that has no file has a reason in its place, in brackets.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/files.h"
#include "sym/user.h"
#include "sys/regular.h"

/* In user_frame.note, behind the notes of spaces.h. */
enum { NOTE_REPLACED = 100 };

struct user_names {
	struct files *files;
	struct spaces *spaces;
	/* Return addresses that were looked at, each once. */
	struct return_address {
		uint64_t offset;
		uint32_t file;
		bool trampoline;
	} *returns;
	size_t return_count, return_capacity;
	struct index return_index;
};

struct user_names *user_names_new(void)
{
	struct user_names *names = memory_new(1, sizeof(*names));

	names->files = files_new();
	names->spaces = spaces_new(names->files);
	return names;
}

struct files *user_names_files(struct user_names *names)
{
	return names->files;
}

struct spaces *user_names_spaces(struct user_names *names)
{
	return names->spaces;
}

void user_names_round(struct user_names *names)
{
	spaces_round(names->spaces);
}

/* ------------------------------------------------------- signal trampolines */

static bool return_equal(const void *array, uint32_t position,
			 const void *wanted)
{
	const struct return_address *a = array, *b = wanted;

	return a[position].file == b->file && a[position].offset == b->offset;
}

/* Whether the instructions there are a call of sigreturn(2). */
static bool read_trampoline(struct user_names *names, uint32_t file,
			    uint64_t offset)
{
	static const struct {
		const char *code;
		size_t size;
	} codes[] = { ARCH_SIGRETURNS };
	int fd = files_fd(names->files, file);
	char code[16];

	for (size_t i = 0; fd >= 0 && codes[i].size; i++)
		if (regular_read(fd, offset, code, codes[i].size) &&
		    !memcmp(code, codes[i].code, codes[i].size))
			return true;
	return false;
}

/*
 * The handler of a signal was not called: the kernel made it look so, with the
 * address of a trampoline.  What is before that address is another function.
 */
static bool is_trampoline(struct user_names *names, uint32_t file,
			  uint64_t offset)
{
	struct return_address new = { .file = file, .offset = offset };
	uint64_t hash = index_hash(&offset, sizeof(offset)) ^ file;
	uint32_t position = index_find(&names->return_index, hash,
				       return_equal, names->returns, &new);

	if (position != INDEX_NONE)
		return names->returns[position].trampoline;
	new.trampoline = read_trampoline(names, file, offset);
	names->returns = memory_grow(names->returns, &names->return_capacity,
				     names->return_count + 1, sizeof(new));
	names->returns[names->return_count] = new;
	index_add(&names->return_index, hash, (uint32_t)names->return_count);
	names->return_count++;
	return new.trampoline;
}

/* ---------------------------------------------------------------- frames */

/* The frame of a place that has a file, which is opened at its first sight. */
static struct user_frame file_frame(struct user_names *names,
				    const struct place *place)
{
	struct user_frame frame = {
		.value = place->offset, .file = place->file + 1,
	};
	enum file_state state;

	files_pin(names->files, place->file);
	if (files_kind(names->files, place->file) == FILE_MEMORY) {
		frame.value = 0;
		return frame;
	}
	state = files_open(names->files, place->file, &place->user);
	if (state == FILE_REPLACED)
		frame.note = NOTE_REPLACED;
	return frame;
}

static struct user_frame make_frame(struct user_names *names,
				    struct space_view *view, uint64_t address,
				    bool call)
{
	struct place place = spaces_find(names->spaces, view, address);
	struct user_frame frame = { .note = place.note };

	if (place.note == SPACE_FILE)
		frame = file_frame(names, &place);
	if (!call || !address)
		return frame;
	if (place.note == SPACE_FILE && !frame.note &&
	    is_trampoline(names, place.file, place.offset))
		return frame;
	/* Mostly in the same mapping, but the call can be the last in it. */
	place = spaces_find(names->spaces, view, address - 1);
	if (place.note == SPACE_FILE)
		return file_frame(names, &place);
	return (struct user_frame){ .note = place.note };
}

void user_names_stack(struct user_names *names,
		      const struct space_moment *task, const uint64_t *ip,
		      size_t depth, struct user_frame *frames)
{
	struct space_view view;

	if (!depth)
		return;
	view = spaces_view(names->spaces, task);
	for (size_t i = 0; i < depth; i++)
		frames[i] = make_frame(names, &view, ip[i], i > 0);
}

static const char *note_text(uint32_t note)
{
	switch (note) {
	case SPACE_UNMAPPED:
		return "[unmapped]";
	case SPACE_REMAPPED:
		return "[remapped]";
	case SPACE_EXEC:
		return "[exec]";
	case SPACE_FORBIDDEN:
		return "[not permitted]";
	case SPACE_TOO_MANY:
		return "[too many mappings]";
	case SPACE_NO_PROC:
		return "[no /proc]";
	case SPACE_ELSEWHERE:
		return "[elsewhere]";
	case NOTE_REPLACED:
		return "[replaced]";
	default:
		return "[exited]";
	}
}

bool user_names_is_note(const struct user_frame *frame)
{
	return frame->note || !frame->file;
}

void user_names_text(const struct user_names *names,
		     const struct user_frame *frame, struct text *text)
{
	const char *note, *name;
	uint32_t file = frame->file - 1;

	if (user_names_is_note(frame)) {
		note = note_text(frame->note);
		text_add(text, note, strlen(note));
		return;
	}
	/* Here is where files_fd(names->files, file) can be asked for a name. */
	name = files_name(names->files, file);
	if (files_kind(names->files, file) == FILE_MEMORY)
		text_format(text, "[%s]", name);
	else
		text_format(text, "[%s+0x%" PRIx64 "]", name, frame->value);
}

void user_names_report(const struct user_names *names)
{
	struct spaces_cost cost = spaces_cost(names->spaces);

	log_detail("processes: %zu in memory with %zu mappings; %" PRIu64
		   " looks at /proc/PID/maps, %" PRIu64 " lines",
		   cost.spaces, cost.ranges, cost.looks, cost.lines);
	if (cost.too_many)
		log_warning("/proc/PID/maps: %" PRIu64 " times too many "
			    "mappings: some user frames have no names",
			    cost.too_many);
	if (!cost.forbidden)
		return;
	log_warning("/proc/PID/maps: %" PRIu64 " times not permitted: some "
		    "user frames have no names", cost.forbidden);
	log_advice("run as root, or with CAP_SYS_PTRACE");
}

void user_names_free(struct user_names *names)
{
	if (!names)
		return;
	spaces_free(names->spaces);
	files_free(names->files);
	free(names->returns);
	index_free(&names->return_index);
	free(names);
}
