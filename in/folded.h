/* SPDX-License-Identifier: MIT */
#ifndef IN_FOLDED_H
#define IN_FOLDED_H

#include "in/in.h"

/*
 * Reads folded stacks, ours and others'.  Lines that are none are told of and
 * left out.  0, or -errno after a message: nothing was understood, or it is too
 * much.
 */
int in_folded(struct in *in, struct lines *lines);

#endif
