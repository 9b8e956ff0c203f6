/* SPDX-License-Identifier: MIT */
/*
 * redirect: lets the program read other files than it thinks.
 *
 * Linked with --wrap=lines_open and --wrap=file_read_text, so that all else,
 * /proc/kallsyms as well as /proc/PID/maps, goes through the real code.
 */
#ifndef TEST_UNIT_REDIRECT_H
#define TEST_UNIT_REDIRECT_H

#include <stdbool.h>

/*
 * From now on who opens `path` gets `instead`, or -ENOENT if that is NULL.  A
 * later call for the same path replaces an earlier one.
 */
void redirect(const char *path, const char *instead);

/*
 * What maps_numbers_agree() says (--wrap, too): true until this is set, so
 * that tests give the same in a container.
 */
extern bool redirect_blind;

#endif
