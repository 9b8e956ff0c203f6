/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * walk.h: walks user stacks by tables, in the kernel, at the tick.
 *
 *	profile_hash ──> walk_begin ──> walk_steps ─┐
 *	     │                │           ^     └───┘ 5 frames a time
 *	     │                │           │
 *	     │                v           v
 *	     │           walk_copy    walk_end ──> stacks, counts
 *	     v                │
 *	(no walker)           └──> ring ──> walked in user space
 *
 * The arrows are tail calls: a program ends and another begins, on the same
 * context.  The verifier checks each by itself, so that 126 frames cost it
 * 5 frames' work.  What a program has to know of the one before is in
 * scratch->walk.
 *
 * The tables are in unwind.h.  Where they have nothing (a JIT, assembly, a
 * program without tables), what is behind a call is looked for, most of all
 * where frame pointers say, for that one frame.
 *
 * Included by bpf_prog.c; a file of its own because it is a matter of its own.
 */
#ifndef BPF_WALK_H
#define BPF_WALK_H

#include <linux/bpf_perf_event.h>

#include "bpf/helpers.h"
#include "bpf/unwind.h"

enum {
	STEPS_AT_ONCE = 5,	/* 33 tail calls in a row are the most */
	FRAMES_MOST = STACK_DEPTH - 1,	/* the last is for the cause */

	/* Beside the causes of unwind.h. */
	WALK_GOES_ON = 0,
	WALK_ROOT = 15,
};

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct unwind_space);
	MAP_NUMBER(max_entries, SPACES_MOST);
} spaces SECTION(".maps");

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct unwind_mappings);
	MAP_NUMBER(max_entries, 1);
	MAP_NUMBER(map_flags, BPF_F_MMAPABLE);
} mappings SECTION(".maps");

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct unwind_parts);
	MAP_NUMBER(max_entries, 1);
	MAP_NUMBER(map_flags, BPF_F_MMAPABLE);
} parts SECTION(".maps");

/* max_entries: grows with what is needed, by loading the walker anew. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct unwind_chunk);
	MAP_NUMBER(max_entries, 512);
	MAP_NUMBER(map_flags, BPF_F_MMAPABLE);
} rows SECTION(".maps");

/* What walk_copy sends; bytes, a power of two. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_RINGBUF);
	MAP_NUMBER(max_entries, 4194304);
} copies SECTION(".maps");

/* ----------------------------------------------------------- one frame up */

/*
 * Searches without branches: the verifier follows both ways of each branch, and
 * 15 of them in a row are 32768 ways.  All ones if a < b, else 0, for numbers
 * below 2^63.  In assembly, or the compiler makes a branch of it.
 */
INLINE __u64 if_less(__u64 a, __u64 b)
{
	__u64 mask = a - b;

	asm volatile("%0 s>>= 63" : "+r"(mask));
	return mask;
}

/* Most processes and files have few, which are found in fewer steps. */
enum { FEW = 64 };

/* The last mapping from `at` on that begins at or before `pc`. */
INLINE __u64 search_mappings(const struct unwind_mappings *all, __u64 at,
			     __u64 end, __u64 pc, __u64 step, __u64 last)
{
#pragma clang loop unroll(full)
	for (; step >= last; step >>= 1) {
		__u64 next = at + step;
		__u64 start = all->at[next & (MAPPINGS_MOST - 1)].start;

		at += step & if_less(next, end) & ~if_less(pc, start);
	}
	return at;
}

INLINE __u64 search_parts(const struct unwind_parts *all, __u64 at, __u64 end,
			  __u64 pc, __u64 step, __u64 last)
{
#pragma clang loop unroll(full)
	for (; step >= last; step >>= 1) {
		__u64 next = at + step;
		__u64 start = all->at[next & (PARTS_MOST - 1)].pc;

		at += step & if_less(next, end) & ~if_less(pc, start);
	}
	return at;
}

/* The mapping of an address, or NULL. */
INLINE const struct unwind_mapping *
find_mapping(struct walk *walk, const struct unwind_mappings *all,
	     __u64 pc)
{
	const struct unwind_mapping *mapping;
	__u64 at = walk->first, end = at + walk->count;

	/* Not for the address of [vsyscall], which is a kernel's. */
	if (pc >> 63)
		return 0;
	/* Callers are often in the same file. */
	mapping = &all->at[walk->mapping & (MAPPINGS_MOST - 1)];
	if (pc >= mapping->start && pc < mapping->end)
		return mapping;
	if (walk->count > FEW)
		at = search_mappings(all, at, end, pc, MAPPINGS_OF_SPACE / 2,
				     FEW);
	at = search_mappings(all, at, end, pc, FEW / 2, 1);
	walk->mapping = at;
	mapping = &all->at[at & (MAPPINGS_MOST - 1)];
	return pc >= mapping->start && pc < mapping->end ? mapping : 0;
}

/* The chunk in which a file's row for `pc` must be: its number. */
INLINE __u32 find_chunk(const struct unwind_mapping *mapping,
			const struct unwind_parts *all, __u64 pc)
{
	__u64 at = mapping->part, end = at + mapping->parts;

	if (mapping->parts > FEW)
		at = search_parts(all, at, end, pc, PARTS_OF_FILE / 2, FEW);
	at = search_parts(all, at, end, pc, FEW / 2, 1);
	return all->at[at & (PARTS_MOST - 1)].chunk;
}

INLINE const struct unwind_row *find_row(const struct unwind_chunk *chunk,
					 __u64 pc)
{
	__u64 at = 0;

#pragma clang loop unroll(full)
	for (__u64 step = ROWS_IN_CHUNK / 2; step; step >>= 1) {
		__u64 start = chunk->at[(at + step) & (ROWS_IN_CHUNK - 1)].pc;

		at += step & ~if_less(pc, start);
	}
	return &chunk->at[at & (ROWS_IN_CHUNK - 1)];
}

INLINE long read_words(struct walk *walk, __u32 words, __u64 address)
{
	return bpf_probe_read_user(walk->words, words * 8, (void *)address);
}

/* The way of programs that keep a chain of frames: [fp] and [fp + 8]. */
INLINE __u32 step_by_pointer(struct walk *walk)
{
	__u64 fp = walk->at.fp;

	/* The ABI's mark of the outermost frame. */
	if (!fp)
		return WALK_ROOT;
	if (read_words(walk, 2, fp))
		return WALK_UNREADABLE;
	if (!walk->words[1])
		return WALK_ROOT;
	/* Stacks grow downwards, and Go goes over to another one once. */
	if (walk->words[0] && walk->words[0] <= fp && walk->switched++)
		return WALK_NO_ROW;
	walk->at.sp = fp + 16;
	walk->at.fp = walk->words[0];
	walk->at.ip = walk->words[1];
	walk->adjust = 1;
	return WALK_GOES_ON;
}

/* What stands in front of an address. */
struct call_seen {
	__u64 is;	/* all ones: a call, else 0 */
	__u64 blind;	/* all ones: one that does not say of what */
	__u64 ahead;	/* how far in front of where we are is what it calls; FAR if it
			   does not say so, or something else */
};

#define FAR	(~0ull >> 1)

INLINE struct call_seen look_before(struct walk *walk, __u64 address)
{
	static const struct {
		__u64 shift, mask, value;
	} calls[] = { ARCH_CALLS };
	struct call_seen seen = { 0 };
	__u64 is;

	/* Where nothing can be read, zeroes are. */
	bpf_probe_read_user(&walk->code, sizeof(walk->code),
			    (void *)(address - sizeof(walk->code)));
#pragma clang loop unroll(full)
	for (__u32 i = sizeof(calls) / sizeof(*calls); i-- > 0;) {
		is = if_less((walk->code >> calls[i].shift & calls[i].mask) ^
			     calls[i].value, 1);
		seen.is |= is;
		seen.blind |= i ? is : 0;
	}
	seen.ahead = walk->at.ip - address - ARCH_CALL_DISTANCE(walk->code);
	seen.ahead |= ~(is & if_less(seen.ahead / FUNCTION_MOST, 1));
	seen.ahead &= FAR;
	return seen;
}

/* The return address is the word number `i` from the stack pointer on. */
INLINE __u32 step_out(struct walk *walk, __u64 ip, __u64 i)
{
	walk->at.ip = ip;
	walk->at.sp += i * 8 + 8;
	walk->adjust = 1;
	return WALK_GOES_ON;
}

/*
 * Of code that no table knows.  A function without a frame has its return address
 * at the stack pointer; else a frame pointer leads to it; else it may be behind a
 * register or two that were pushed.  It has a call in front of it.  Words on the
 * stack can be left over from other functions, so the call has to be one of this
 * code: of two, the one of what begins nearest in front of us.  What was interrupted
 * (the first frame) is content with less.  `none`: no code can be there, so somebody
 * has called nothing, or what the kernel has put above all (vsyscall).
 */
INLINE __u32 step_bare(struct walk *walk, bool none)
{
	__u64 fp = walk->at.fp, near[NEAR_WORDS], first;
	struct call_seen top, seen;
	__u64 ahead;

	first = if_less(walk->frames, 2);
	read_words(walk, NEAR_WORDS, walk->at.sp);
	__builtin_memcpy(near, walk->words, sizeof(near));
	top = look_before(walk, near[0]);
	if (none)
		return top.is ? step_out(walk, near[0], 0) : WALK_NO_MAPPING;
	ahead = top.ahead | (~first & FAR);
	if (fp && !read_words(walk, 2, fp)) {
		seen = look_before(walk, walk->words[1]);
		if (seen.is & ~if_less(ahead, seen.ahead))
			return step_by_pointer(walk);
	}
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < NEAR_WORDS; i++) {
		seen = i ? look_before(walk, near[i]) : top;
		if (if_less(seen.ahead, FAR) | (seen.blind & first))
			return step_out(walk, near[i], i);
	}
	if (top.is & first)
		return step_out(walk, near[0], 0);
	return step_by_pointer(walk);
}

/* From the registers that a signal's delivery saved. */
INLINE __u32 step_over_signal(struct walk *walk, __u64 saved)
{
	if (read_words(walk, 1, saved + ARCH_SIGNAL_FP))
		return WALK_UNREADABLE;
	walk->at.fp = walk->words[0];
	if (read_words(walk, 2, saved))
		return WALK_UNREADABLE;
	walk->at.sp = walk->words[0];
	walk->at.ip = walk->words[1];
	/* What was interrupted is no call. */
	walk->adjust = 0;
	return WALK_GOES_ON;
}

/* The registers of the caller, given its CFA. */
INLINE __u32 step_to_caller(struct walk *walk, const struct unwind_row *row,
			    __u64 cfa)
{
	__s64 fp = (__s64)row->fp * 8;
	__u32 rule = row->rule & 0xf0;

	/* Stacks grow downwards; only the first frame may be empty. */
	if (cfa <= walk->at.sp && walk->frames > 1)
		return WALK_NO_ROW;
	if (rule == FP_CFA && fp == -16) {
		/* Right below the return address: both at once. */
		if (read_words(walk, 2, cfa - 16))
			return WALK_UNREADABLE;
		walk->at.fp = walk->words[0];
		walk->at.ip = walk->words[1];
	} else {
		if (rule == FP_CFA || rule == FP_FP) {
			if (read_words(walk, 1, (rule == FP_CFA ? cfa :
						 walk->at.fp) + fp))
				return WALK_UNREADABLE;
			walk->at.fp = walk->words[0];
		}
		if (read_words(walk, 1, cfa - 8))
			return WALK_UNREADABLE;
		walk->at.ip = walk->words[0];
	}
	walk->at.sp = cfa;
	walk->adjust = 1;
	return walk->at.ip ? WALK_GOES_ON : WALK_ROOT;
}

INLINE __u32 step_by_row(struct walk *walk, const struct unwind_row *row)
{
	__s64 offset = (__s64)row->cfa * 8;

	switch (row->rule & 0x0f) {
	case CFA_SP:
		return step_to_caller(walk, row, walk->at.sp + offset);
	case CFA_FP:
		return step_to_caller(walk, row, walk->at.fp + offset);
	case CFA_PLT:
		return step_to_caller(walk, row, walk->at.sp + 8 +
				      ((walk->at.ip & 15) >= (__u64)row->cfa ?
				       8 : 0));
	case CFA_DEREF:
		if (read_words(walk, 1, walk->at.fp + offset))
			return WALK_UNREADABLE;
		return step_to_caller(walk, row, walk->words[0]);
	case CFA_SIGNAL:
		return step_over_signal(walk, walk->at.sp + offset);
	case CFA_END:
		return WALK_ROOT;
	default:
		return WALK_NO_ROW;
	}
}

/* From walk->at to its caller: WALK_GOES_ON, WALK_ROOT, or a cause. */
INLINE __u32 step(struct walk *walk, const struct unwind_mappings *all,
		  const struct unwind_parts *tables)
{
	__u64 address = walk->at.ip - walk->adjust;
	const struct unwind_mapping *mapping = find_mapping(walk, all, address);
	const struct unwind_chunk *chunk;
	const struct unwind_row *row;
	__u32 pc, number;

	if (!mapping) {
		/* Elsewhere something may be mapped that user space knows of. */
		if (walk->frames > 1 || (address >= COPY_PAGE && !(address >> 63)))
			return WALK_NO_MAPPING;
		return step_bare(walk, true);
	}
	if (!mapping->parts)
		return step_bare(walk, false);
	pc = (__u32)(address - mapping->bias);
	number = find_chunk(mapping, tables, pc);
	chunk = bpf_map_lookup_elem(&rows, &number);
	if (!chunk)
		return WALK_NO_ROW;
	row = find_row(chunk, pc);
	if (row->pc > pc || (row->rule & 0x0f) == CFA_NONE)
		return step_bare(walk, false);
	return step_by_row(walk, row);
}

/* --------------------------------------------------------------- programs */

/* The user's registers, to walk->at.  False: there are none for us. */
INLINE bool take_registers(struct bpf_perf_event_data *context,
			   struct walk *walk, bool anywhere)
{
	/* Clang may not keep an address inside the context in a register. */
	if (ARCH_IS_USER(context->regs)) {
		asm volatile("" : "+r"(context));
		walk->at.ip = ARCH_IP(context->regs);
		walk->at.sp = ARCH_SP(context->regs);
		walk->at.fp = ARCH_FP(context->regs);
		asm volatile("" : : : "memory");
		return true;
	}
	if (!anywhere || ARCH_IS_OTHER(context->regs))
		return false;
	return ARCH_TAKE_TASK(walk->at);
}

INLINE int begin(struct bpf_perf_event_data *context, bool anywhere)
{
	__u32 zero = 0, tgid;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	const struct unwind_space *space;
	struct walk *walk;

	if (!scratch)
		return 0;
	/* As user space numbers it; 0 is the idle task, and those elsewhere. */
	tgid = scratch->key.tgid;
	walk = &scratch->walk;
	walk->frames = 0;
	walk->adjust = 0;
	walk->switched = 0;
	walk->by = WALK_BY_POINTERS;
	if (tgid && take_registers(context, walk, anywhere)) {
		walk->start = walk->at;
		space = bpf_map_lookup_elem(&spaces, &tgid);
		if (!space) {
			walk->flags = 0;
			bpf_tail_call(context, &walkers, WALKER_COPY);
		} else if (space->count) {
			walk->first = space->first;
			walk->mapping = space->first;
			walk->count = space->count;
			walk->flags = space->flags;
			bpf_tail_call(context, &walkers, WALKER_STEPS);
		}
	}
	bpf_tail_call(context, &walkers, WALKER_END);
	return 0;
}

/* Registers of tasks in the kernel, too: Linux 5.15, and BTF of the kernel. */
SECTION(PROGRAM_SECTION)
int walk_begin(struct bpf_perf_event_data *context)
{
	return begin(context, true);
}

/* Without: stacks of samples in the kernel are by frame pointers. */
SECTION(PROGRAM_SECTION)
int walk_begin_user(struct bpf_perf_event_data *context)
{
	return begin(context, false);
}

SECTION(PROGRAM_SECTION)
int walk_steps(struct bpf_perf_event_data *context)
{
	__u32 zero = 0, result = WALK_GOES_ON;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	const struct unwind_mappings *all =
		bpf_map_lookup_elem(&mappings, &zero);
	const struct unwind_parts *tables = bpf_map_lookup_elem(&parts, &zero);
	struct walk *walk;

	if (!scratch || !all || !tables)
		return 0;
	walk = &scratch->walk;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STEPS_AT_ONCE; i++) {
		__u32 frames = walk->frames;

		if (frames >= FRAMES_MOST) {
			result = WALK_TOO_DEEP;
			break;
		}
		scratch->user.ip[frames & (STACK_WORDS - 1)] = walk->at.ip;
		walk->frames = frames + 1;
		result = step(walk, all, tables);
		if (result != WALK_GOES_ON)
			break;
	}
	if (result == WALK_GOES_ON)
		bpf_tail_call(context, &walkers, WALKER_STEPS);
	walk->by = WALK_BY_TABLES;
	walk->cause = result;
	/* Something may be mapped there by now that user space knows of. */
	if ((result == WALK_NO_MAPPING || result == WALK_NO_ROW) &&
	    !(walk->flags & SPACE_NO_COPY))
		bpf_tail_call(context, &walkers, WALKER_COPY);
	bpf_tail_call(context, &walkers, WALKER_END);
	return 0;
}

/* Pages of the stack, from the stack pointer up, as far as they are there. */
INLINE void copy_stack(struct copied *copy, __u32 most)
{
	__u64 sp = copy->start.sp, page = sp & ~(__u64)(COPY_PAGE - 1);
	__u32 within = sp & (COPY_PAGE - 1);

	copy->bytes = 0;
	if (bpf_probe_read_user(copy->stack + within, COPY_PAGE - within,
				(void *)sp))
		return;
	copy->bytes = COPY_PAGE - within;
#pragma clang loop unroll(full)
	for (__u32 i = COPY_PAGE; i < most; i += COPY_PAGE) {
		if (bpf_probe_read_user(copy->stack + i, COPY_PAGE,
					(void *)(page + i)))
			break;
		copy->bytes += COPY_PAGE;
	}
}

/*
 * Sends the sample with up to `most` bytes of its stack.  0: there is no room for
 * that; below 0: no stack.
 */
INLINE int send(struct scratch *scratch, struct tally *tally, __u32 most)
{
	struct copied *copy;

	copy = bpf_ringbuf_reserve(&copies, __builtin_offsetof(
					   struct copied, stack) + most, 0);
	if (!copy)
		return 0;
	copy->key = scratch->key;
	copy->count = scratch->count;
	copy->start = scratch->walk.start;
	copy->kernel_depth = (__u32)scratch->kernel.depth;
	bpf_probe_read_kernel(copy->kernel, sizeof(copy->kernel),
			      scratch->kernel.ip);
	copy_stack(copy, most);
	if (!copy->bytes) {
		bpf_ringbuf_discard(copy, 0);
		return -1;
	}
	bpf_ringbuf_submit(copy, 0);
	tally->n[TALLY_COPIED]++;
	return 1;
}

SECTION(PROGRAM_SECTION)
int walk_copy(struct bpf_perf_event_data *context)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct tally *tally = bpf_map_lookup_elem(&tallies, &zero);
	__u64 word, page;
	int sent = 0;

	if (!scratch || !tally)
		return 0;
	/*
	 * Where there is memory behind the usual size, the stack may go on there:
	 * a compiler's does, while most end before.  Without room, less will do.
	 */
	page = scratch->walk.start.sp & ~(__u64)(COPY_PAGE - 1);
	if (!bpf_probe_read_user(&word, sizeof(word),
				 (void *)(page + COPY_USUAL)))
		sent = send(scratch, tally, COPY_BYTES);
	if (!sent)
		sent = send(scratch, tally, COPY_USUAL);
	if (sent > 0)
		return 0;
	if (!sent)
		tally->n[TALLY_RING_FULL]++;
	/* What was walked so far, or frame pointers. */
	bpf_tail_call(context, &walkers, WALKER_END);
	return 0;
}

#endif
