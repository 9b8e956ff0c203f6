/* SPDX-License-Identifier: MIT */
/*
 * clones: one function, several symbols.
 *
 *	_ZN4node3RunEv.part.0.cold	what runs rarely, of a part of Run()
 *	inflate.constprop.0.isra.0	a copy for a constant argument, changed
 *	_ZL4helpi.llvm.8242161234	a static function made global for LTO
 *	read@@GLIBC_2.2.5		its version
 *
 * All are the function as its source has it.  What is none of these endings
 * stays: main._omp_fn.0 is the body of a loop, sum.avx2 a version that somebody
 * asked for.
 *
 * Source: gcc's clone_function_name(), LLVM's getUniqueModuleId() and
 * -funique-internal-linkage-names, binutils' and BOLT's endings.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sym/clones.h"

/* With a number behind it, or without. */
static const char *const endings[] = {
	"cold", "part", "isra", "constprop", "llvm", "lto_priv", "localalias",
	"clone", "__uniq", "__part",
};

static bool is_ending(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (strlen(endings[i]) == length &&
		    !memcmp(endings[i], text, length))
			return true;
	return false;
}

/* The last dot before `end`, NULL if the name begins with it or has none. */
static char *dot_before(char *name, const char *end)
{
	char *dot = memrchr(name, '.', (size_t)(end - name));

	return dot == name ? NULL : dot;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

void clones_cut(char *name)
{
	char *version = strchr(name, '@'), *dot;

	if (version && version != name)
		*version = '\0';
	while ((dot = dot_before(name, name + strlen(name)))) {
		char *word = dot;

		if (is_number(dot + 1))
			word = dot_before(name, dot);
		else if (strcmp(dot + 1, "cold") &&
			 strcmp(dot + 1, "localalias"))
			break;
		if (!word || !is_ending(word + 1, strcspn(word + 1, ".")))
			break;
		*word = '\0';
	}
}
