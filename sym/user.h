/* SPDX-License-Identifier: MIT */
#ifndef SYM_USER_H
#define SYM_USER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/text.h"

/* Names for the addresses of user stacks, while their processes live. */
struct user_names;

struct user_names *user_names_new(void);

/* A new drain begins: from here on a process may be looked at once more. */
void user_names_round(struct user_names *names);

/*
 * Appends what is known about `address` of this process to `text`:
 * "[libc.so.6+0x1234]" (an offset in the file) or "[0x7f3a1c029234]".  With
 * `call` it is a return address, and the call before it is meant.
 */
void user_names_frame(struct user_names *names, uint32_t tgid,
		      const char *comm, uint64_t address, bool call,
		      struct text *text);

/* Takes NULL. */
void user_names_free(struct user_names *names);

#endif
