/* SPDX-License-Identifier: MIT */
#ifndef STACKID_H
#define STACKID_H

#include "loader.h"
#include "samples.h"

/*
 * Gives the samples that profile_stackid() counted to `add`, as samples_read()
 * does.  Once, after the clocks have stopped: a stack that is read while the
 * program runs can be gone from its bucket.  0 or -errno after a message.
 */
int stackid_read(const struct loader *loader, samples_fn *add, void *context,
		 struct samples_cost *cost);

#endif
