/* SPDX-License-Identifier: MIT */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "bpf_prog.h"
#include "proc/spaces.h"
#include "unwind/tables.h"

/* What a walk needs to know of the world. */
struct walk_world {
	struct spaces *spaces;
	struct tables *tables;
};

/*
 * Walks a stack of which the kernel sent a copy, as bpf/walk.h does, but with
 * the mappings as they were at its time.  Frames, leaf first, go to
 * ip[STACK_DEPTH]; returns how many.  If it did not reach the root, the last is
 * the cause, WALK_ of bpf/unwind.h.
 */
size_t walk_copy(const struct walk_world *world, struct space_view *view,
		 const struct copied *copy, uint64_t *ip);

#endif
