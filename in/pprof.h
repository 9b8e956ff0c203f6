/* SPDX-License-Identifier: MIT */
#ifndef IN_PPROF_H
#define IN_PPROF_H

#include "in/in.h"

/* Reads a profile.proto, unpacked.  0, or -errno after a message. */
int in_pprof(struct in *in, struct bytes bytes);

#endif
