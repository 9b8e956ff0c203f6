/* SPDX-License-Identifier: MIT */
/*
 * redirect: lets the program read other files than it thinks.
 *
 * Linked with --wrap=lines_open and --wrap=file_read_text, so that all else,
 * of /proc/kallsyms as well as of /proc/PID/maps, is the real code.
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
 * Files that processes have mapped (regular_open(), --wrap, too) are those that
 * are redirected, and no others; unless this is set.
 */
extern bool redirect_real_files;

/*
 * What namespace_check_proc() says (--wrap, too): 0, so that tests give the same
 * in a container, until this is set.
 */
extern int redirect_numbers;

#endif
