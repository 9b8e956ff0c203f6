/* SPDX-License-Identifier: MIT */
/* What has to hold of everything that was read back. */
#ifndef TEST_FUZZ_RECORDING_H
#define TEST_FUZZ_RECORDING_H

#include "meta.h"
#include "profile.h"

/* Sums fit, every format can be written, and folded lines come back alike. */
void recording_check(const struct profile *profile, const struct meta *meta);

#endif
