/* SPDX-License-Identifier: MIT */
#ifndef SYM_USER_H
#define SYM_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/text.h"
#include "proc/spaces.h"

/* Names for the addresses of user stacks. */
struct user_names;

/* `mangled`: names stay as linkers see them. */
struct user_names *user_names_new(bool mangled);

/* Who has to be told what happens to processes; the names' own. */
struct files *user_names_files(struct user_names *names);
struct spaces *user_names_spaces(struct user_names *names);

/* A new drain begins. */
void user_names_round(struct user_names *names);

/* What is known about an address: numbers, as text comes once per frame. */
struct user_frame {
	uint64_t value;		/* an offset in the file; or what the note
				   says; else 0 */
	uint32_t file;		/* in the set of files, + 1; 0: none */
	uint32_t note;		/* why there is none, or no name */
};

/*
 * The frames of a stack (leaf first) of this task, to frames[depth].  The
 * leaf's address is exact, those above it are return addresses: the call
 * before is meant; but not where the kernel put the address itself, so that a
 * signal's handler returns to it.
 */
void user_names_stack(struct user_names *names,
		      const struct space_moment *task, const uint64_t *ip,
		      size_t depth, struct user_frame *frames);

/* What a frame is, beside its text. */
struct user_origin {
	enum user_kind {
		USER_CODE,	/* of a file */
		USER_JIT,	/* made and named by its process */
		USER_NOTE,	/* the text says why there is no function */
	} kind;
	/* USER_CODE: of the file; else NULL.  Valid until the next call. */
	const char *path, *build_id;
	uint64_t address;	/* as the file's program headers count; 0: not
				   known */
};

/*
 * Until the next user_names_round(), texts of these frames will be asked for, in
 * the order of their files, and of no others: so each file is read once, and no
 * more of it than that.  The array stays the caller's, and there.
 */
void user_names_batch(struct user_names *names,
		      const struct user_frame *frames, size_t count);

/*
 * Appends the name of a function, "[libc.so.6+0x1234]", or why there is no such:
 * "[exited]".
 */
struct user_origin user_names_text(struct user_names *names,
				   const struct user_frame *frame,
				   struct text *text);

/* All frames so far have their texts: what was held for them is let go. */
void user_names_settle(struct user_names *names);

/* Whether the frame may have another text at the end of the run. */
bool user_names_is_late(const struct user_frame *frame);

/* Says what was too much or forbidden to be looked at, if anything was. */
void user_names_report(const struct user_names *names);

/* Takes NULL. */
void user_names_free(struct user_names *names);

#endif
