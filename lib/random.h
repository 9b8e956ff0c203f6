/* SPDX-License-Identifier: MIT */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <stddef.h>

/* Fills `to` with numbers nobody can guess; never waits for entropy. */
void random_fill(void *to, size_t size);

#endif
