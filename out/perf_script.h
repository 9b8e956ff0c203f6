/* SPDX-License-Identifier: MIT */
#ifndef OUT_PERF_SCRIPT_H
#define OUT_PERF_SCRIPT_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes what `perf script` would print of the same samples. */
void out_perf_script(const struct profile *profile, const struct meta *meta,
		     struct file_out *out);

#endif
