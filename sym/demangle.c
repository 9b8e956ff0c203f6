/* SPDX-License-Identifier: MIT */
/*
 * demangle: from the names that linkers see to those that people wrote.
 *
 *	_ZN2ns1fEi                 C++, the Itanium ABI     ns::f(int)
 *	_ZN2ns1f17h<16 hex>E       Rust, before 2025        ns::f
 *	_RNvC2ns1f                 Rust, v0 (RFC 2603)      ns::f
 *	_D2ns1fFiZv                D                        void ns.f(int)
 *
 * GNU libiberty knows them all.  But names can refer to earlier parts of
 * themselves, and so 300 bytes can stand for gigabytes, or for nothing after
 * hours; and names come from files that anybody can write.  So a demangler is
 * watched and left in its midst (sys/limit.h) when it has given enough, has been
 * called back too often, or has taken too long; its memory is bounded
 * (sym/iberty.h), and its stack by the length of the name: for C++ at most 350
 * bytes for each byte and 64 for each pair of a template and a reference to a
 * parameter, 1.5 MB in all.
 */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "sym/demangle.h"

/* ---------------------------------------------------------------- suffixes */

/* Without the last `.name` or `.name.N`, or `length` if it is not of a clone. */
static size_t without_suffix(const char *name, size_t length)
{
	static const char *const suffixes[] = {
		"cold", "part", "isra", "constprop", "lto_priv", "llvm",
	};
	size_t end = length, begin;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	/* .cold has a number or none. */
	if (end == length || !end || name[end - 1] != '.')
		end = length;
	else
		end--;
	begin = end;
	while (begin && name[begin - 1] != '.')
		begin--;
	if (!begin)
		return length;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strlen(suffixes[i]) == end - begin &&
		    !memcmp(suffixes[i], name + begin, end - begin))
			return begin - 1;
	return length;
}

size_t demangle_stem(const char *name)
{
	size_t length = strcspn(name, "@"), shorter;

	while ((shorter = without_suffix(name, length)) < length)
		length = shorter;
	return length;
}

/* -------------------------------------------------------------- demanglers */

#ifdef PROF_IBERTY

#include "sym/iberty.h"
#include "sys/limit.h"

enum {
	NAME_MOST = 2048,	/* libiberty itself takes 1024 of C++ */
	CALLS_MOST = 1 << 16,
	TIME_MOST = 2000000,	/* ns; a long real name takes 0.3 ms */
	LATE_MOST = 100,
};

/*
 * All that a demangler touches is here, not on the stack nor behind malloc(3):
 * it can be left at any instruction.
 */
static struct {
	char name[NAME_MOST + 1];
	char readable[DEMANGLE_MOST];
	size_t length;
	unsigned int calls;
	bool full, is_one;
} work;

/*
 * How many names took too long.  A program with nothing but such names shall not
 * cost us more than a second.
 */
static unsigned int late;

static void work_add(const char *part, size_t length, void *opaque)
{
	size_t room = sizeof(work.readable) - work.length;

	(void)opaque;
	if (length > room) {
		work.full = true;
		length = room;
	}
	/* Nothing has no address. */
	if (length)
		memcpy(work.readable + work.length, part, length);
	work.length += length;
	if (work.full || ++work.calls > CALLS_MOST)
		limit_leave();
}

/* As c++filt does it: a Rust name of the old kind is a valid one of C++, too. */
static void work_run(void *argument)
{
	const char *name = work.name;
	char *whole;

	(void)argument;
	if (name[1] == 'D') {
		whole = dlang_demangle(name, 0);
		if (whole)
			work_add(whole, strlen(whole), NULL);
		work.is_one = whole;
		return;
	}
	work.is_one = rust_demangle_callback(name, 0, work_add, NULL);
	if (work.is_one)
		return;
	work.length = 0;
	if (name[1] != 'R')
		work.is_one = cplus_demangle_v3_callback(name, IBERTY_PARAMS |
				IBERTY_ANSI | IBERTY_VERBOSE, work_add, NULL);
}

static bool can_be_mangled(const char *name)
{
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' ||
		!strncmp(name, "_GLOBAL_", 8));
}

/* Fills `work`; false if there is no readable form in it. */
static bool work_out(const char *name, size_t length)
{
	int error;

	memcpy(work.name, name, length);
	work.name[length] = '\0';
	work.length = work.calls = 0;
	work.full = work.is_one = false;
	iberty_begin();
	error = limit_run(work_run, NULL, TIME_MOST);
	if (!error)
		return work.is_one && work.length;
	if (error == -ETIME && ++late == LATE_MOST)
		log_warning("names: %d of them took too long to demangle: all "
			    "others are left as they are", LATE_MOST);
	return work.full;
}

bool demangle(struct text *out, const char *name)
{
	size_t stem;

	if (late >= LATE_MOST || !can_be_mangled(name))
		return false;
	stem = demangle_stem(name);
	if (!stem || stem > NAME_MOST || !work_out(name, stem))
		return false;
	text_add(out, work.readable, work.length);
	if (work.full)
		text_add(out, "...", 3);
	name += strcspn(name, "@");
	text_add(out, name, strlen(name));
	return true;
}

#else

bool demangle(struct text *out, const char *name)
{
	(void)out;
	(void)name;
	return false;
}

#endif
