/* SPDX-License-Identifier: MIT */
#ifndef CHECK_H
#define CHECK_H

#include "lib/bytes.h"

/*
 * Tries each thing that prof uses and prints a line for it on standard output,
 * with the remedy where one is missing.  `object`: the BPF object.  Exit status:
 * 0 when the main job works, else 1.
 */
int check_machine(struct bytes object);

#endif
