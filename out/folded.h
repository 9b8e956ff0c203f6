/* SPDX-License-Identifier: MIT */
#ifndef OUT_FOLDED_H
#define OUT_FOLDED_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes `comm;frame;...;frame count` lines, root first, sorted. */
void out_folded(const struct profile *profile, const struct meta *meta,
		struct file_out *out);

#endif
