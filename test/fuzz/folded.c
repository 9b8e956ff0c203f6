/* SPDX-License-Identifier: MIT */
/* Folded stacks that anybody may have written; with a comparison of halves. */
#include "in/in.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned int show = SHOW_KERNEL | SHOW_USER | SHOW_IDLE;
	const char *path = fuzz_file(data, size);
	struct meta meta = { 0 };
	struct profile *profile = in_read(path, show, &meta);

	if (profile)
		recording_check(profile, &meta);
	profile_free(profile);
	meta_free(&meta);
	/* With itself: nothing comes, nothing goes. */
	profile = in_compare(path, path, show, &meta);
	for (size_t i = 0; profile && i < profile->stack_count; i++)
		MUST(profile->stacks[i].samples == profile->stacks[i].before);
	profile_free(profile);
	meta_free(&meta);
	return 0;
}
