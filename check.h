/* SPDX-License-Identifier: MIT */
#ifndef CHECK_H
#define CHECK_H

#include "lib/bytes.h"
#include "lib/text.h"

/*
 * Tries each thing that prof uses and appends a line for it to `text`, with the
 * remedy where one is missing.  `object`: the BPF object.  Returns whether the
 * main job works.
 */
bool check_machine(struct bytes object, struct text *text);

#endif
