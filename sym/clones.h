/* SPDX-License-Identifier: MIT */
#ifndef SYM_CLONES_H
#define SYM_CLONES_H

/*
 * Cuts a symbol down to the name of the function that the source has, in place:
 * versions (memcpy@@GLIBC_2.14) and what compilers append to copies and parts
 * of a function (.cold, .part.0, .isra.0, .constprop.0, .llvm.123).  A mangled
 * name is one that demanglers know afterwards.  Not for Go's names, in which
 * such endings are the function's.
 */
void clones_cut(char *name);

#endif
