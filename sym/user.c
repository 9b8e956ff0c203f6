/* SPDX-License-Identifier: MIT */
/*
 * user: names for addresses of processes.
 *
 *	(process, time, address) ── proc/spaces ──> file, offset
 *	file ── proc/files ──> a descriptor, proved
 *	memory without a file ── sym/jit ──> a name, or [anon]
 *
 * That much happens when a sample is drained, as its process and its file may
 * be gone in the next second.  Frames are numbers then, so that each distinct
 * one is made into text once, some drains later:
 *
 *	descriptor, offset ── sym/image ──> a symbol ── sym/demangle ──> a name,
 *		or [file+0xstart] of a function without one,
 *		or [file+0xoffset]
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
#include "lib/names.h"
#include "proc/files.h"
#include "proc/roots.h"
#include "sym/demangle.h"
#include "sym/images.h"
#include "sym/jit.h"
#include "sym/user.h"
#include "sys/regular.h"
#include "sys/system.h"

/* In user_frame.note, behind the notes of spaces.h. */
enum {
	NOTE_REPLACED = 100,
	NOTE_MADE,		/* value: in names->made */
	NOTE_LATE,		/* + a number of jit_find(); value: address */
};

struct user_names {
	struct files *files;
	struct spaces *spaces;
	struct images *images;
	struct roots roots;
	uint32_t settled;	/* how often they were forgotten */
	struct jit *jit;
	struct names made;	/* of code without files */
	bool mangled;
	const struct user_frame *batch;
	size_t batch_count;
	/* What is known of a file, by its number. */
	struct user_file {
		uint32_t root;	/* of who had it mapped, in names->roots */
		uint32_t settled;	/* ... which was then; 0: not known */
		uint32_t tried;		/* a process whose root is not to be had */
		enum { FORM_UNKNOWN, FORM_ELF, FORM_OTHER } form;
	} *of_file;
	size_t file_count, file_capacity;
	/* Return addresses that were looked at, each once. */
	struct return_address {
		uint64_t offset;
		uint32_t file;
		bool trampoline;
	} *returns;
	size_t return_count, return_capacity;
	struct index return_index;
};

struct user_names *user_names_new(bool mangled)
{
	struct user_names *names = memory_new(1, sizeof(*names));

	names->files = files_new();
	names->spaces = spaces_new(names->files);
	names->images = images_new(names->files);
	names->jit = jit_new();
	names->settled = 1;
	names->mangled = mangled;
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
	user_names_batch(names, NULL, 0);
	spaces_round(names->spaces);
	jit_round(names->jit);
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

static struct user_file *of_file(struct user_names *names, uint32_t file)
{
	size_t before = names->file_count;

	if (file >= before) {
		names->of_file = memory_grow(names->of_file,
					     &names->file_capacity,
					     (size_t)file + 1,
					     sizeof(*names->of_file));
		names->file_count = (size_t)file + 1;
		memset(names->of_file + before, 0,
		       (names->file_count - before) * sizeof(*names->of_file));
	}
	return &names->of_file[file];
}

/* Code that its process made, and maybe has told what it is. */
static struct user_frame made_frame(struct user_names *names,
				    const struct place *place,
				    uint64_t address,
				    const struct user_frame *other)
{
	const struct jit_task task = {
		.tgid = place->user.tgid, .born = place->born,
	};
	struct user_frame frame = { .file = place->file + 1 };
	uint32_t late;
	const char *name = jit_find(names->jit, &task, address, &late);

	if (!name && !late)
		return *other;
	frame.note = name ? NOTE_MADE : NOTE_LATE + late;
	frame.value = name ? names_add(&names->made, name) : address;
	return frame;
}

/* Whether the file is a program or a library, and not memory with a name. */
static bool is_elf(struct user_names *names, uint32_t file)
{
	struct user_file *known = of_file(names, file);
	char head[4];

	if (known->form == FORM_UNKNOWN)
		known->form = regular_read(files_fd(names->files, file), 0,
					   head, 4) &&
			      !memcmp(head, "\177ELF", 4) ? FORM_ELF :
							    FORM_OTHER;
	return known->form == FORM_ELF;
}

/* For the debug file, which is looked for when names are made. */
static void hold_root(struct user_names *names, struct user_file *file,
		      const struct file_user *user)
{
	if (file->settled == names->settled || file->tried == user->tgid)
		return;
	if (roots_get(&names->roots, user->tgid, &file->root) ||
	    (user->tid && roots_get(&names->roots, user->tid, &file->root)))
		file->settled = names->settled;
	else
		file->tried = user->tgid;
}

/* The frame of a place that has a file, which is opened at its first sight. */
static struct user_frame file_frame(struct user_names *names,
				    const struct place *place,
				    uint64_t address)
{
	struct user_frame frame = { .file = place->file + 1 };
	enum file_state state;

	files_pin(names->files, place->file);
	if (files_kind(names->files, place->file) == FILE_MEMORY)
		return made_frame(names, place, address, &frame);
	frame.value = place->offset;
	state = files_open(names->files, place->file, &place->user);
	if (state == FILE_OPEN)
		hold_root(names, of_file(names, place->file), &place->user);
	if (state == FILE_REPLACED)
		frame.note = NOTE_REPLACED;
	if (state == FILE_OPEN && !is_elf(names, place->file))
		return made_frame(names, place, address, &frame);
	return frame;
}

static struct user_frame make_frame(struct user_names *names,
				    struct space_view *view, uint64_t address,
				    bool call)
{
	struct place place = spaces_find(names->spaces, view, address);
	struct user_frame frame = { .note = place.note };

	if (place.note == SPACE_FILE)
		frame = file_frame(names, &place, address);
	if (!call || !address)
		return frame;
	if (place.note == SPACE_FILE && !frame.note &&
	    is_trampoline(names, place.file, place.offset))
		return frame;
	/* Mostly in the same mapping, but the call can be the last in it. */
	place = spaces_find(names->spaces, view, address - 1);
	if (place.note == SPACE_FILE)
		return file_frame(names, &place, address - 1);
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

/* ------------------------------------------------------------------- texts */

static struct user_origin note(const char *words, struct text *text)
{
	text_add(text, words, strlen(words));
	return (struct user_origin){ .kind = USER_NOTE };
}

static struct user_origin made(const char *name, uint64_t address,
			       struct text *text)
{
	text_add(text, name, strlen(name));
	return (struct user_origin){ .kind = USER_JIT, .address = address };
}

/* "[anon]", "[heap]", "[vsyscall]". */
static struct user_origin memory_text_of(const struct user_names *names,
					 uint32_t file, struct text *text)
{
	text_format(text, "[%s]", files_name(names->files, file));
	return (struct user_origin){ .kind = USER_NOTE };
}

void user_names_batch(struct user_names *names,
		      const struct user_frame *frames, size_t count)
{
	images_trim(names->images);
	names->batch = frames;
	names->batch_count = count;
}

/* The image of a file that is open; it is told what of it is wanted. */
static struct image *image_of(struct user_names *names, uint32_t file)
{
	struct image *image = images_have(names->images, file);
	struct images_batch batch = { 0 };
	struct user_file *known;
	uint64_t *offsets;

	if (image)
		return image;
	offsets = memory_new(names->batch_count, sizeof(*offsets));
	for (size_t i = 0; i < names->batch_count; i++)
		if (names->batch[i].file == file + 1 && !names->batch[i].note)
			offsets[batch.count++] = names->batch[i].value;
	batch.offsets = offsets;
	known = of_file(names, file);
	image = images_get(names->images, file,
			   known->settled == names->settled ?
			   roots_fd(&names->roots, known->root) : -1, &batch);
	free(offsets);
	return image;
}

/* The name of an offset of a file that is open, or where its function begins. */
static void code_text(struct user_names *names, uint32_t file,
		      uint64_t offset, struct user_origin *origin,
		      struct text *text)
{
	struct image *image = image_of(names, file);
	enum image_found found = IMAGE_NOTHING;
	struct image_name name;

	if (image) {
		found = image_find(image, offset, &name);
		origin->address = name.address;
	}
	if (found == IMAGE_NAME) {
		if (names->mangled || !demangle(text, name.name))
			text_add(text, name.name, strlen(name.name));
		return;
	}
	text_format(text, "[%s+0x%" PRIx64 "]", files_name(names->files, file),
		    found == IMAGE_FUNCTION ? name.start : offset);
}

struct user_origin user_names_text(struct user_names *names,
				   const struct user_frame *frame,
				   struct text *text)
{
	struct user_origin origin = { .kind = USER_CODE };
	uint32_t file = frame->file - 1;
	const char *name;

	if (frame->note == NOTE_MADE)
		return made(names->made.text[frame->value], 0, text);
	if (frame->note >= NOTE_LATE) {
		name = jit_late(names->jit, frame->note - NOTE_LATE,
				frame->value);
		if (name)
			return made(name, frame->value, text);
		return memory_text_of(names, file, text);
	}
	if (frame->note || !frame->file)
		return note(note_text(frame->note), text);
	if (files_kind(names->files, file) == FILE_MEMORY)
		return memory_text_of(names, file, text);
	code_text(names, file, frame->value, &origin, text);
	origin.path = files_path(names->files, file);
	origin.build_id = images_build_id(names->images, file);
	return origin;
}

void user_names_settle(struct user_names *names)
{
	files_settle(names->files);
	images_forget_roots(names->images);
	roots_forget(&names->roots);
	names->settled++;
}

bool user_names_is_late(const struct user_frame *frame)
{
	return frame->note >= NOTE_LATE;
}

void user_names_report(const struct user_names *names)
{
	struct spaces_cost cost = spaces_cost(names->spaces);

	log_detail("processes: %zu in memory with %zu mappings; %" PRIu64
		   " looks at /proc/PID/maps, %" PRIu64 " lines",
		   cost.spaces, cost.ranges, cost.looks, cost.lines);
	jit_report(names->jit);
	if (cost.too_many)
		log_warning("/proc/PID/maps: %" PRIu64 " times too many "
			    "mappings: some user frames have no names",
			    cost.too_many);
	if (!cost.forbidden)
		return;
	log_warning("/proc/PID/maps: not permitted (%" PRIu64 "): some user "
		    "frames have no names", cost.forbidden);
	log_advice(!system_user() ?
		   "not even to root: of a process that is guarded" :
		   "run as root, or with CAP_SYS_PTRACE");
}

void user_names_free(struct user_names *names)
{
	if (!names)
		return;
	images_free(names->images);
	jit_free(names->jit);
	names_free(&names->made);
	free(names->of_file);
	roots_free(&names->roots);
	spaces_free(names->spaces);
	files_free(names->files);
	free(names->returns);
	index_free(&names->return_index);
	free(names);
}
