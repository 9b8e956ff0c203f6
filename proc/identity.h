/* SPDX-License-Identifier: MIT */
#ifndef PROC_IDENTITY_H
#define PROC_IDENTITY_H

#include <stdint.h>

/* Who a process is, beside its number. */
struct identity {
	uint32_t inner;		/* as its innermost namespace numbers it */
	uint32_t uid;		/* whose rights it has, as we see it */
	uint64_t started;	/* ns after the boot, of its clock ticks */
};

/* 0 or -errno. */
int identity_read(uint32_t tgid, struct identity *identity);

#endif
