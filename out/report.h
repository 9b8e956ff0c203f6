/* SPDX-License-Identifier: MIT */
#ifndef OUT_REPORT_H
#define OUT_REPORT_H

#include "lib/file.h"
#include "meta.h"
#include "profile.h"
#include "sys/terminal.h"

/*
 * Writes what burns the CPU, for a person to read; of two recordings that are
 * compared, what changed.  As the place where it goes to can show it.
 */
void out_report(const struct profile *profile, const struct meta *meta,
		struct file_out *out);

/* The same as this terminal can show it. */
void report_write(const struct profile *profile, const struct meta *meta,
		  struct file_out *out, const struct terminal *terminal);

#endif
