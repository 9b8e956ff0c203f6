/* SPDX-License-Identifier: MIT */
#ifndef SYM_USER_H
#define SYM_USER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/text.h"

/* Names for the addresses of user stacks, while their processes live. */
struct user_names;

struct user_names *user_names_new(void);

/* A new drain begins: each process is looked at once more when it is met. */
void user_names_round(struct user_names *names);

/* What is known about an address: numbers, as text comes once per frame. */
struct user_frame {
	uint64_t value;		/* an offset in the file, or the address */
	uint32_t file;		/* for user_names_text(); 0: none */
	uint32_t unused;	/* zero: frames are compared as bytes */
};

/* Whose stack it is; comm is how the thread was called at that time. */
struct user_task {
	uint32_t tgid, tid;
	const char *comm;
};

/*
 * The frames of a stack (leaf first) of this task, to frames[depth].  The
 * leaf's address is exact, those above it are return addresses: the call
 * before is meant.
 */
void user_names_stack(struct user_names *names, const struct user_task *task,
		      const uint64_t *ip, size_t depth,
		      struct user_frame *frames);

/* Appends "[libc.so.6+0x1234]" or "[0x7f3a1c029234]". */
void user_names_text(const struct user_names *names,
		     const struct user_frame *frame, struct text *text);

/* Says what was too much or forbidden to be looked at, if anything was. */
void user_names_report(const struct user_names *names);

/* Takes NULL. */
void user_names_free(struct user_names *names);

#endif
