/* SPDX-License-Identifier: MIT */
/*
 * pprof that anybody may have written.  The first byte says what is shown; what
 * follows is read as it is, whatever it looks like.
 */
#include <errno.h>
#include <string.h>

#include "in/pprof.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meta meta = { 0 };
	struct in in = { .path = "in", .meta = &meta };
	struct profile *profile;
	char *text;
	int error;

	if (!size)
		return 0;
	text = fuzz_text(data, size);
	in.build = profile_build_new(*data & 15, *data & 16);
	in.before = *data & 32;
	error = in_pprof(&in, (struct bytes){ (uint8_t *)text + 1, size - 1 });
	MUST(!error || error == -EINVAL || error == -EFBIG);
	profile = profile_build_end(in.build);
	free(text);
	/* As in_compare() leaves it. */
	if (in.before && !meta.before) {
		meta.before = calloc(1, sizeof(*meta.before));
		MUST(meta.before);
	}
	if (!error)
		recording_check(profile, &meta);
	profile_free(profile);
	meta_free(&meta);
	return 0;
}
