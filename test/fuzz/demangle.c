/* SPDX-License-Identifier: MIT */
/* Readable names, of anything. */
#include <string.h>

/* The source: it gives up after a hundred slow names, which is not wanted here. */
#include "sym/demangle.c"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text once = { 0 }, twice = { 0 };
	char *name = fuzz_text(data, size);
	size_t stem = demangle_stem(name);

	MUST(stem <= strcspn(name, "@"));
	late = 0;
	text_add(&once, "<", 1);
	if (demangle(&once, name)) {
		MUST(once.length > 1 && *once.data == '<');
		MUST(once.length <= 1 + DEMANGLE_MOST + 3 + strlen(name));
		/* The same again: nothing is left of the last call. */
		text_add(&twice, "<", 1);
		if (demangle(&twice, name))
			MUST(!strcmp(once.data, twice.data));
	} else {
		MUST(once.length == 1);
	}
	/* The stem alone has itself as its stem. */
	name[stem] = '\0';
	MUST(demangle_stem(name) == stem);
	text_free(&once);
	text_free(&twice);
	free(name);
	return 0;
}
