/* SPDX-License-Identifier: MIT */
#ifndef OUT_PPROF_H
#define OUT_PPROF_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes a profile.proto, packed by gzip as its format wants it. */
void out_pprof(const struct profile *profile, const struct meta *meta,
	       struct file_out *out);

/* The same not packed: a few readers take only that. */
void out_pprof_raw(const struct profile *profile, const struct meta *meta,
		   struct file_out *out);

#endif
