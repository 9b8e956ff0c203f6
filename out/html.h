/* SPDX-License-Identifier: MIT */
#ifndef OUT_HTML_H
#define OUT_HTML_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"

/* Writes a page that shows the profile as a flame graph: one file, no other. */
void out_html(const struct profile *profile, const struct meta *meta,
	      struct file_out *out);

#endif
