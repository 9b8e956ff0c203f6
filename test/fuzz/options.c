/* SPDX-License-Identifier: MIT */
/* Command lines, a word a line: taken within bounds, or refused. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "options.h"
#include "out/out.h"
#include "sampler.h"
#include "test/fuzz/fuzz.h"

enum { WORDS_MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS_MOST + 1] = { NULL };
	struct options options;
	int argc = 0, error;

	while (size && argc < WORDS_MOST) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t length = newline ? (size_t)(newline - data) : size;

		words[argc++] = fuzz_text(data, length);
		length += newline != NULL;
		data += length;
		size -= length;
	}
	optind = 0;
	error = options_parse(&options, argc, words);
	MUST(!error || error == -EINVAL);
	if (!error) {
		MUST(options.hz >= 1 && options.hz <= SAMPLER_HZ_MOST);
		MUST(options.memory >= 1 << 20);
		MUST(options.memory <= 65536ull << 20);
		MUST(!options.format || out_named(options.format));
		MUST(!options.quiet || !options.verbose);
		for (size_t i = 0; i < options.output_count; i++)
			MUST(out_for_file(options.outputs[i]));
	}
	options_free(&options);
	for (int i = 0; i < argc; i++)
		free(words[i]);
	return 0;
}
