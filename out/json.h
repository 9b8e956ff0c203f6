/* SPDX-License-Identifier: MIT */
#ifndef OUT_JSON_H
#define OUT_JSON_H

#include "lib/file.h"

/*
 * Writes `text` (valid UTF-8) as a JSON string, quotes and all.  Nothing in it
 * can end a <script> around it, nor break a line for JavaScript.
 */
void json_string(struct file_out *out, const char *text);

#endif
