/* SPDX-License-Identifier: MIT */
#ifndef SYM_ASKED_H
#define SYM_ASKED_H

#include "kallsyms.h"
#include "lib/bytes.h"

/*
 * Names the addresses (those that have no name yet) by asking the kernel, with
 * a program of `object`.  0 or -errno, silently: kernels before 5.14 cannot do
 * it.  Addresses that the kernel has no name for keep none.
 */
int asked_names(struct bytes object, struct kallsyms_name *names,
		size_t count);

#endif
