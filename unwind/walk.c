/* SPDX-License-Identifier: MIT */
/*
 * walk: up a user stack in a copy of its memory.
 *
 * The same steps as in bpf/walk.h, which has the reasons, for processes whose
 * tables were not in the kernel at the tick.  What is different: mappings are
 * those of the sample's time, code is what files have (a frame pointer to other
 * code is believed), and memory is what was copied, from the stack pointer up.
 * Below it lies what a function has just popped: its frame pointer is still in the
 * register then, whatever the table says.
 */
#include <string.h>

#include "arch/arch.h"
#include "unwind/walk.h"

enum { WALK_ON = 0, WALK_ROOT = 15 };

/* What stands in front of an address. */
struct call_seen {
	bool is, blind;		/* a call; one that does not say of what */
	bool unread;		/* code, but of no file: it may be one */
	uint64_t ahead;		/* how far in front of where we are is what it
				   calls; UINT64_MAX if it does not say so, or
				   something else */
};

struct walk {
	const struct walk_world *world;
	struct space_view *view;
	const struct copied *copy;
	struct unwind_registers at;
	uint64_t adjust;
	size_t frames, switched;
};

/* The word at an address; false if it was not copied. */
static bool read_word(const struct walk *walk, uint64_t address,
		      __u64 *word)
{
	uint64_t sp = walk->copy->start.sp, within = sp & (COPY_PAGE - 1);
	uint64_t offset = address - sp;

	if (address < sp || offset > walk->copy->bytes ||
	    walk->copy->bytes - offset < sizeof(*word) ||
	    within + offset + sizeof(*word) > COPY_BYTES)
		return false;
	memcpy(word, walk->copy->stack + within + offset, sizeof(*word));
	return true;
}

static int by_pointer(struct walk *walk)
{
	__u64 fp = walk->at.fp, next, ip;

	if (!fp)
		return WALK_ROOT;
	if (!read_word(walk, fp, &next) || !read_word(walk, fp + 8, &ip))
		return WALK_UNREADABLE;
	if (!ip)
		return WALK_ROOT;
	if (next && next <= fp && walk->switched++)
		return WALK_NO_ROW;
	walk->at = (struct unwind_registers){ ip, fp + 16, next };
	walk->adjust = 1;
	return WALK_ON;
}

static struct call_seen look_before(struct walk *walk, uint64_t address)
{
	static const struct {
		uint64_t shift, mask, value;
	} calls[] = { ARCH_CALLS };
	struct call_seen seen = { .ahead = UINT64_MAX };
	struct place place = spaces_find(walk->world->spaces, walk->view,
					 address - 1);
	uint64_t code, ahead;

	seen.unread = place.note == SPACE_FILE &&
		      !tables_code(walk->world->tables, place.file,
				   &place.user, place.offset + 1, &code);
	if (place.note != SPACE_FILE || seen.unread)
		return seen;
	for (size_t i = sizeof(calls) / sizeof(*calls); i-- > 0;) {
		if ((code >> calls[i].shift & calls[i].mask) != calls[i].value)
			continue;
		seen.is = true;
		seen.blind |= i > 0;
		if (i)
			continue;
		ahead = walk->at.ip - address -
			(uint64_t)ARCH_CALL_DISTANCE(code);
		if (ahead < FUNCTION_MOST)
			seen.ahead = ahead;
	}
	return seen;
}

static int out(struct walk *walk, uint64_t ip, uint64_t i)
{
	walk->at.ip = ip;
	walk->at.sp += i * 8 + 8;
	walk->adjust = 1;
	return WALK_ON;
}

static int bare(struct walk *walk, bool none)
{
	__u64 fp = walk->at.fp, ip, near[NEAR_WORDS] = { 0 };
	bool first = walk->frames == 1;
	struct call_seen top, seen;

	for (uint64_t i = 0; i < NEAR_WORDS; i++)
		read_word(walk, walk->at.sp + i * 8, &near[i]);
	top = look_before(walk, near[0]);
	if (none)
		return top.is ? out(walk, near[0], 0) : WALK_NO_MAPPING;
	if (fp && read_word(walk, fp + 8, &ip)) {
		seen = look_before(walk, ip);
		if ((seen.is || seen.unread) &&
		    (!first || top.ahead >= seen.ahead))
			return by_pointer(walk);
	}
	for (uint64_t i = 0; i < NEAR_WORDS; i++) {
		seen = i ? look_before(walk, near[i]) : top;
		if (seen.ahead < UINT64_MAX || (seen.blind && first))
			return out(walk, near[i], i);
	}
	return top.is && first ? out(walk, near[0], 0) : by_pointer(walk);
}

static int over_signal(struct walk *walk, uint64_t saved)
{
	struct unwind_registers at;

	if (!read_word(walk, saved + ARCH_SIGNAL_FP, &at.fp) ||
	    !read_word(walk, saved, &at.sp) ||
	    !read_word(walk, saved + 8, &at.ip))
		return WALK_UNREADABLE;
	walk->at = at;
	walk->adjust = 0;
	return WALK_ON;
}

static int to_caller(struct walk *walk, const struct unwind_row *row,
		     uint64_t cfa)
{
	uint64_t saved = (row->rule & 0xf0) == FP_CFA ? cfa : walk->at.fp;
	__u64 ip;

	if (cfa <= walk->at.sp && walk->frames > 1)
		return WALK_NO_ROW;
	saved += (uint64_t)((int64_t)row->fp * 8);
	if (!read_word(walk, cfa - 8, &ip))
		return WALK_UNREADABLE;
	if (((row->rule & 0xf0) == FP_CFA || (row->rule & 0xf0) == FP_FP) &&
	    saved >= walk->at.sp && !read_word(walk, saved, &walk->at.fp))
		return WALK_UNREADABLE;
	walk->at.ip = ip;
	walk->at.sp = cfa;
	walk->adjust = 1;
	return ip ? WALK_ON : WALK_ROOT;
}

static int by_row(struct walk *walk, const struct unwind_row *row)
{
	uint64_t offset = (uint64_t)((int64_t)row->cfa * 8);
	__u64 cfa;

	switch (row->rule & 0x0f) {
	case CFA_SP:
		return to_caller(walk, row, walk->at.sp + offset);
	case CFA_FP:
		return to_caller(walk, row, walk->at.fp + offset);
	case CFA_PLT:
		return to_caller(walk, row, walk->at.sp + 8 +
				 ((walk->at.ip & 15) >= (uint64_t)row->cfa ?
				  8 : 0));
	case CFA_DEREF:
		if (!read_word(walk, walk->at.fp + offset, &cfa))
			return WALK_UNREADABLE;
		return to_caller(walk, row, cfa);
	case CFA_SIGNAL:
		return over_signal(walk, walk->at.sp + offset);
	case CFA_END:
		return WALK_ROOT;
	default:
		return WALK_NO_ROW;
	}
}

static int step(struct walk *walk)
{
	uint64_t address = walk->at.ip - walk->adjust, bias;
	struct place place = spaces_find(walk->world->spaces, walk->view,
					 address);
	const struct table *table;
	struct unwind_row row;

	if (place.note != SPACE_FILE)
		return walk->frames > 1 ||
		       (address >= COPY_PAGE && !(address >> 63)) ?
		       WALK_NO_MAPPING : bare(walk, true);
	table = tables_get(walk->world->tables, place.file, &place.user);
	if (!table || !table->parts ||
	    !table_bias(table, address, place.offset, &bias) ||
	    !tables_row(walk->world->tables, table, (uint32_t)(address - bias),
			&row) || (row.rule & 0x0f) == CFA_NONE)
		return bare(walk, false);
	return by_row(walk, &row);
}

size_t walk_copy(const struct walk_world *world, struct space_view *view,
		 const struct copied *copy, uint64_t *ip)
{
	struct walk walk = {
		.world = world, .view = view, .copy = copy, .at = copy->start,
	};

	for (;;) {
		int result;

		if (walk.frames == STACK_DEPTH - 1) {
			ip[walk.frames++] = WALK_TOO_DEEP;
			return walk.frames;
		}
		ip[walk.frames++] = walk.at.ip;
		result = step(&walk);
		if (result == WALK_ON)
			continue;
		if (result != WALK_ROOT)
			ip[walk.frames++] = (uint64_t)result;
		return walk.frames;
	}
}
