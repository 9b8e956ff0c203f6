/* SPDX-License-Identifier: MIT */
#ifndef SYM_DEMANGLE_H
#define SYM_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/text.h"

/*
 * Appends the readable form of a symbol's name to `out`: of C++ as c++filt
 * prints it, with parameters; of Rust without hashes; of D.  Compilers' suffixes
 * of clones are left out; from an `@` on (@plt, @version) it is appended as it
 * is.  False, and nothing appended, for any other name and for what took too
 * long: then the name itself is the best there is.
 *
 * A name that is too long when readable ends in "..." after DEMANGLE_MOST bytes.
 * What is appended can hold any bytes; text_frame() makes it safe.  `name` is read
 * more than once: it must not change meanwhile.
 */
bool demangle(struct text *out, const char *name);

/*
 * The length of `name` without what compilers add for parts and copies of one
 * function: .cold, .part.N, .isra.N, .constprop.N, .lto_priv.N, .llvm.N.  For
 * every language, C included.  0 for a name that is nothing else.
 */
size_t demangle_stem(const char *name);

enum { DEMANGLE_MOST = 4096 };

#endif
