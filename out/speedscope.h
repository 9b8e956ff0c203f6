/* SPDX-License-Identifier: MIT */
#ifndef OUT_SPEEDSCOPE_H
#define OUT_SPEEDSCOPE_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes speedscope's own JSON. */
void out_speedscope(const struct profile *profile, const struct meta *meta,
		    struct file_out *out);

#endif
