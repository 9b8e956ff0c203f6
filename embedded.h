/* SPDX-License-Identifier: MIT */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include "lib/bytes.h"

/* The compiled BPF object that is inside this program; stays to the end. */
struct bytes embedded_object(void);

#endif
