/* SPDX-License-Identifier: MIT */
/*
 * truth [-r FILE] [-c COMM] PROF'S ARGUMENTS...: prof itself, but each sample is
 * looked at on its way into the profile: is its user stack true?
 *
 *	calls	In front of each return address stands a call instruction.
 *		After a signal's frame that is not asked for.
 *	root	The last frame is where rules say that there is no caller
 *		(.eh_frame: an undefined return address, the entry point), or
 *		it has no rules and a frame pointer of 0.
 *
 * In the end a line per name of a thread (-c: only of this one), of all of
 * them if there are several, on standard error:
 *
 *	truth: COMM samples N root N plain N no-mapping N no-row N unreadable N
 *	too-deep N other N short N frames N calls N not-calls N strays N unread N
 *	kernel N kernel-root N
 *
 * `samples` are those in user mode, `kernel` those in the kernel that have a
 * user stack.  `plain`: roots without rules.  `other`: the last frame is no
 * root and nothing says why: frame pointers, before there were tables.
 * `not-calls`: in stacks that reach a root; `strays`: in others, where frame
 * pointers led astray.  `short`: of one or two frames.  -r: all stacks, one a
 * line: COMM TGID SAMPLES MODE, then addresses, leaf first.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "arch/arch.h"
#include "elf/file.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "profile.h"
#include "unwind/cfi.h"

void __real_profile_free(struct profile *profile);
void __wrap_profile_free(struct profile *profile);
void __real_profile_add(void *context, const struct sample *sample);
void __wrap_profile_add(void *context, const struct sample *sample);
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

/* ------------------------------------------------------------------- files */

struct code {
	bool tried, open;
	struct elf_file elf;
	uint64_t base;
	struct unwind_row *rows;
	size_t count, capacity;
};

static struct code *codes;
static size_t code_capacity;

static bool keep_row(void *context, const struct unwind_row *row)
{
	struct code *code = context;

	code->rows = memory_grow(code->rows, &code->capacity, code->count + 1,
				 sizeof(*row));
	code->rows[code->count++] = *row;
	return true;
}

static void open_code(struct code *code, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct input input;
	const char *why;

	code->tried = true;
	/* The descriptor is kept. */
	if (fd < 0 || input_file(&input, fd) ||
	    elf_file_open(&code->elf, &input, &why))
		return;
	code->open = true;
	code->base = cfi_base(&code->elf);
	cfi_rows(&code->elf, keep_row, code);
}

static struct code *code_of(struct files *files, uint32_t file)
{
	size_t before = code_capacity;
	struct code *code;

	if (files_kind(files, file) != FILE_PLAIN)
		return NULL;
	codes = memory_grow(codes, &code_capacity, file + 1, sizeof(*codes));
	memset(codes + before, 0, (code_capacity - before) * sizeof(*codes));
	code = &codes[file];
	if (!code->tried)
		open_code(code, files_path(files, file));
	return code->open ? code : NULL;
}

/* The rule at an offset of the file; CFA_NONE if there is none. */
static uint8_t rule_at(const struct code *code, uint64_t offset)
{
	uint64_t address;
	size_t low;

	if (!elf_file_address(&code->elf, offset, &address))
		return CFA_NONE;
	address -= code->base;
	low = search_upto_u32(code->rows, code->count, sizeof(*code->rows),
			      address);
	return low ? code->rows[low - 1].rule & 0x0f : CFA_NONE;
}

/* ------------------------------------------------------------ instructions */

/* Of a call by a register or from memory, by the byte behind its FF; or 0. */
static size_t call_length(uint8_t modes, uint8_t sib)
{
	uint8_t mode = modes >> 6, base = modes & 7;
	size_t length = 2;

	if ((modes >> 3 & 7) != 2)
		return 0;
	if (mode == 3)
		return length;
	if (base == 4) {
		length++;
		base = mode == 0 && (sib & 7) == 5 ? 5 : 0;
	}
	if (mode == 1)
		return length + 1;
	return mode == 2 || base == 5 ? length + 4 : length;
}

/* Whether code[8], which ends at a return address, ends with a call. */
static bool ends_with_call(const uint8_t *code)
{
	if (code[3] == 0xe8)
		return true;
	for (size_t length = 2; length <= 7; length++)
		if (code[8 - length] == 0xff &&
		    call_length(code[9 - length],
				length > 2 ? code[10 - length] : 0) == length)
			return true;
	return false;
}

static bool is_sigreturn(const uint8_t *code)
{
	static const struct {
		const char *bytes;
		size_t size;
	} returns[] = { ARCH_SIGRETURNS };

	for (size_t i = 0; returns[i].size; i++)
		if (!memcmp(code, returns[i].bytes, returns[i].size))
			return true;
	return false;
}

/* ------------------------------------------------------------------ stacks */

enum { BEFORE = 8, BYTES = 17 };	/* of code, around an address */

struct frame {
	uint64_t ip, offset;	/* of ip - 1 in the file */
	uint32_t file;
	bool in_file, read;
	uint8_t bytes[BYTES];
};

/* What is counted, per name of a thread. */
struct truth {
	char comm[COMM_SIZE];
	uint64_t samples, root, plain, causes[WALK_CAUSES], other, low, frames,
		calls, not_calls, strays, unread, kernel, kernel_root;
};

/* A sample, kept to the end: looking at it takes time that prof has not. */
struct stack_kept {
	struct truth *count;
	uint64_t samples, cause;
	bool in_kernel;
	size_t frames, depth;
};

static struct truth counts[512];
static size_t count_count;
static const char *only;
static FILE *raw;
static struct stack_kept *stacks;
static struct frame *frames;
static size_t stack_count, stack_capacity, frame_count, frame_capacity;

static struct truth *count_of(const char *comm)
{
	size_t i;

	for (i = 0; i < count_count; i++)
		if (!strncmp(counts[i].comm, comm, COMM_SIZE))
			return &counts[i];
	if (i == sizeof(counts) / sizeof(*counts))
		return &counts[0];
	memcpy(counts[i].comm, comm, COMM_SIZE);
	count_count++;
	return &counts[i];
}

/* Code of no file can be gone soon. */
static void keep_frame(struct profile *profile, struct space_view *view,
		       uint32_t tgid, uint64_t ip)
{
	struct place place = spaces_find(profile_spaces(profile), view, ip - 1);
	struct frame frame = { .ip = ip };
	struct iovec here = { frame.bytes, BYTES };
	struct iovec there = { (void *)(ip - BEFORE), BYTES };

	frame.in_file = place.note == SPACE_FILE &&
			files_kind(profile_files(profile), place.file) ==
			FILE_PLAIN;
	frame.file = place.file;
	frame.offset = place.offset;
	if (frame.in_file)
		files_pin(profile_files(profile), place.file);
	else
		frame.read = process_vm_readv((pid_t)tgid, &here, 1, &there, 1,
					      0) >= BEFORE;
	frames = memory_grow(frames, &frame_capacity, frame_count + 1,
			     sizeof(frame));
	frames[frame_count++] = frame;
}

static void keep_stack(struct profile *profile, const struct sample *sample)
{
	struct space_view view = spaces_view(profile_spaces(profile),
					     &(struct space_moment){
		.tgid = sample->key.tgid, .tid = sample->key.tid,
		.comm = sample->key.comm, .first = sample->count.first,
		.last = sample->count.last, .in_kernel = sample->kernel,
	});
	struct stack_kept stack = {
		.count = count_of(sample->key.comm), .frames = frame_count,
		.samples = sample->count.samples, .in_kernel = sample->kernel,
		.depth = sample->user_depth,
	};

	if (stack.depth && sample->user[stack.depth - 1] < WALK_CAUSES)
		stack.cause = sample->user[--stack.depth];
	for (size_t i = 0; i < stack.depth; i++)
		keep_frame(profile, &view, sample->key.tgid, sample->user[i]);
	stacks = memory_grow(stacks, &stack_capacity, stack_count + 1,
			     sizeof(stack));
	stacks[stack_count++] = stack;
}

static void print_raw(const struct sample *sample)
{
	fprintf(raw, "%s %" PRIu32 " %" PRIu64 " %s", sample->key.comm,
		sample->key.tgid, (uint64_t)sample->count.samples,
		sample->kernel ? "kernel" : "user");
	for (size_t i = 0; i < sample->user_depth; i++)
		fprintf(raw, " %" PRIx64, sample->user[i]);
	fprintf(raw, "\n");
}

void __wrap_profile_add(void *profile, const struct sample *sample)
{
	__real_profile_add(profile, sample);
	if (!sample->user ||
	    (only && strncmp(only, sample->key.comm, COMM_SIZE)))
		return;
	if (raw)
		print_raw(sample);
	keep_stack(profile, sample);
}

/* ---------------------------------------------------------------- the truth */

static void read_code(struct files *files, struct frame *frame)
{
	struct code *code = frame->in_file ? code_of(files, frame->file) : NULL;

	if (code && frame->offset >= BEFORE - 1)
		frame->read = input_some(&code->elf.input,
					 frame->offset - (BEFORE - 1),
					 frame->bytes, BYTES) >= BEFORE;
}

/* Go's threads return to where they did not come from: nop; call; nop. */
static bool is_goexit(const struct frame *frame)
{
	return frame->bytes[BEFORE - 1] == 0x90 && frame->bytes[BEFORE] == 0xe8;
}

/* Whether the last frame is where walks by rules end. */
static bool count_root(struct truth *count, struct files *files,
		       const struct frame *frame, bool called, bool in_kernel)
{
	struct code *code = frame->in_file ? code_of(files, frame->file) : NULL;
	uint8_t rule = code ? rule_at(code, frame->offset + !called) :
		       CFA_NONE;
	bool root = rule == CFA_END || (is_goexit(frame) && (called || in_kernel));

	if (in_kernel)
		count->kernel_root += root;
	else if (root)
		count->root++;
	else if (rule == CFA_NONE && frame->in_file)
		count->plain++;
	else
		count->other++;
	return root;
}

static void look(struct files *files, const struct stack_kept *stack)
{
	struct truth *count = stack->count;
	struct frame *frame = frames + stack->frames;
	bool called = false, last_called = false, whole = false;
	uint64_t not_calls = 0;

	count->frames += stack->depth;
	count->low += stack->depth <= 2 && !stack->in_kernel;
	for (size_t i = 0; i < stack->depth; i++) {
		read_code(files, &frame[i]);
		last_called = called;
		if (i && is_sigreturn(frame[i].bytes + BEFORE)) {
			called = false;
			continue;
		}
		if (called && !frame[i].read)
			count->unread++;
		else if (called && (ends_with_call(frame[i].bytes) ||
				    (i + 1 == stack->depth &&
				     is_goexit(&frame[i]))))
			count->calls++;
		else if (called)
			not_calls++;
		if (raw && called && frame[i].read &&
		    !ends_with_call(frame[i].bytes))
			fprintf(raw, "# not a call: %" PRIx64 "\n",
				frame[i].ip);
		called = true;
	}
	if (stack->cause && !stack->in_kernel)
		count->causes[stack->cause]++;
	else if (!stack->cause && stack->depth)
		whole = count_root(count, files, &frame[stack->depth - 1],
				   last_called, stack->in_kernel);
	*(whole ? &count->not_calls : &count->strays) += not_calls;
}

/* Before its files are gone. */
void __wrap_profile_free(struct profile *profile)
{
	for (size_t i = 0; profile && i < stack_count; i++) {
		struct truth *count = stacks[i].count, before = *count;

		if (stacks[i].in_kernel)
			count->kernel++;
		else
			count->samples++;
		look(profile_files(profile), &stacks[i]);
		/* Equal samples count as many times. */
		for (uint64_t *now = &count->samples, *then = &before.samples;
		     now <= &count->kernel_root; now++, then++)
			*now = *then + (*now - *then) * stacks[i].samples;
	}
	__real_profile_free(profile);
}

/* ------------------------------------------------------------------- report */

static void print_count(const struct truth *count)
{
	fprintf(stderr, "truth: %s samples %" PRIu64 " root %" PRIu64
		" plain %" PRIu64 " no-mapping %" PRIu64 " no-row %" PRIu64
		" unreadable %" PRIu64 " too-deep %" PRIu64 " other %" PRIu64
		" short %" PRIu64 " frames %" PRIu64 " calls %" PRIu64
		" not-calls %" PRIu64 " strays %" PRIu64 " unread %" PRIu64
		" kernel %" PRIu64 " kernel-root %" PRIu64 "\n",
		count->comm, count->samples, count->root, count->plain,
		count->causes[WALK_NO_MAPPING],
		count->causes[WALK_NO_ROW], count->causes[WALK_UNREADABLE],
		count->causes[WALK_TOO_DEEP], count->other, count->low,
		count->frames, count->calls, count->not_calls, count->strays,
		count->unread, count->kernel, count->kernel_root);
}

static void print_counts(void)
{
	struct truth sum = { .comm = "all" };

	for (size_t i = 0; i < count_count; i++) {
		const uint64_t *part = &counts[i].samples;

		uint64_t *all = &sum.samples;
		const size_t numbers = (offsetof(struct truth, kernel_root) -
					offsetof(struct truth, samples)) /
				       sizeof(*all) + 1;

		for (size_t j = 0; j < numbers; j++)
			/* cppcheck-suppress objectIndex */
			all[j] += part[j];
		for (char *c = counts[i].comm; *c; c++)
			if (*c == ' ')
				*c = '_';
		print_count(&counts[i]);
	}
	if (count_count > 1)
		print_count(&sum);
}

int __wrap_main(int argc, char **argv)
{
	int status;

	while (argc > 2 && (!strcmp(argv[1], "-r") || !strcmp(argv[1], "-c"))) {
		if (argv[1][1] == 'r')
			raw = fopen(argv[2], "w");
		else
			only = argv[2];
		argv[2] = argv[0];
		argv += 2;
		argc -= 2;
	}
	status = __real_main(argc, argv);
	print_counts();
	if (raw)
		fclose(raw);
	return status;
}
