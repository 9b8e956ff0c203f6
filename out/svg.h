/* SPDX-License-Identifier: MIT */
#ifndef OUT_SVG_H
#define OUT_SVG_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes a picture of the profile that stands still: a flame graph. */
void out_svg(const struct profile *profile, const struct meta *meta,
	     struct file_out *out);

#endif
