/* SPDX-License-Identifier: MIT */
#ifndef SYM_IBERTY_H
#define SYM_IBERTY_H

#include <stddef.h>

/*
 * The demanglers of GNU libiberty, as its demangle.h declares them.  The
 * callbacks get the readable name piece by piece; 0 means that `mangled` is none.
 */
typedef void iberty_callback(const char *part, size_t length, void *opaque);

int cplus_demangle_v3_callback(const char *mangled, int options,
			       iberty_callback *callback, void *opaque);
int rust_demangle_callback(const char *mangled, int options,
			   iberty_callback *callback, void *opaque);

/* In memory that iberty_begin() takes back; NULL: is none. */
char *dlang_demangle(const char *mangled, int options);

/* Options. */
enum {
	IBERTY_PARAMS = 1 << 0,		/* print parameters */
	IBERTY_ANSI = 1 << 1,		/* const, volatile */
	IBERTY_VERBOSE = 1 << 3,	/* as std::basic_string<...>; hashes */
};

/*
 * Before each call of a demangler, which runs inside limit_run(): takes back the
 * memory that the last one took, also if that was cut short.
 */
void iberty_begin(void);

#endif
