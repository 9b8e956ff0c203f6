/* SPDX-License-Identifier: MIT */
#ifndef SYM_KERNEL_H
#define SYM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bytes.h"

/* Names for the addresses of kernel stacks. */
struct kernel_names;

/*
 * `kallsyms`: a saved file to use, or NULL for the running kernel's own names.
 * `object`: the BPF object, which has a program that asks for them.
 */
struct kernel_names *kernel_names_new(const char *kallsyms,
				      struct bytes object);

/* Whether the user's file fits the running kernel: 0, or -errno and a message. */
int kernel_names_check(struct kernel_names *names);

/*
 * Names all frames of these stacks (leaf first).  Can be called again with
 * more; what is known is kept, what was missed is looked for again.  If there
 * are no names to be had, it says so once, with the remedy: the frames stay
 * addresses then.
 */
struct kernel_stack {
	const uint64_t *ip;
	size_t depth;
};
void kernel_names_resolve(struct kernel_names *names,
			 const struct kernel_stack *stacks, size_t count);

/* What a stack tells by its functions. */
struct kernel_frame {
	uint64_t address;	/* what was looked up */
	const char *name;	/* NULL if it has none; lives as long as names */
	const char *module;	/* as name; NULL: the kernel itself */
};

/* The frames of one resolved stack, leaf first, to frames[depth]. */
void kernel_names_stack(const struct kernel_names *names,
			const struct kernel_stack *stack,
			struct kernel_frame *frames);

/* Whether these frames are a soft interrupt's, or any interrupt's. */
bool kernel_frames_softirq(const struct kernel_frame *frames, size_t depth);
bool kernel_frames_interrupt(const struct kernel_frame *frames, size_t depth);

/* Takes NULL. */
void kernel_names_free(struct kernel_names *names);

#endif
