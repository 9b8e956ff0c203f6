/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "in/in.h"
#include "out/out.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/recording.h"

enum { SHOW_ALL = SHOW_KERNEL | SHOW_USER | SHOW_IDLE };

static void check_sums(const struct profile *profile)
{
	uint64_t modes = 0, total = 0, before = 0;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		MUST(stack->task < profile->task_count);
		MUST(stack->frames + stack->depth <= profile->frame_id_count);
		MUST(stack->samples || stack->before);
		total += stack->samples;
		before += stack->before;
		for (size_t j = 0; j < stack->depth; j++)
			MUST(profile->frame_ids[stack->frames + j] <
			     profile->frame_count);
	}
	for (size_t i = 0; i < MODE_COUNT; i++)
		modes += profile->by_mode[i];
	MUST(total == profile->total && modes == total && total >> 63 == 0);
	MUST(before == profile->total_before && before >> 63 == 0);
	for (size_t i = 0; i < profile->frame_count; i++) {
		MUST(profile->frames[i].name < profile->names.count);
		MUST(profile->frames[i].image < profile->image_count);
	}
}

/* A memory file that is written in place: /proc/self/fd/N. */
static const char *memory_file(int *fd, char path[64])
{
	if (!*fd) {
		*fd = memfd_create("out", MFD_CLOEXEC);
		MUST(*fd > 2);
		snprintf(path, 64, "/proc/self/fd/%d", *fd);
	}
	MUST(!ftruncate(*fd, 0));
	return path;
}

static void check_again(const char *path, int fd)
{
	static char again_path[64];
	static int again_fd;
	const char *again = memory_file(&again_fd, again_path);
	struct meta meta = { 0 };
	struct profile *profile = in_read(path, SHOW_ALL, &meta);
	char a[4096], b[4096];
	off_t at = 0;
	ssize_t got;

	MUST(profile);
	MUST(!out_write(profile, &meta, out_named("folded"), again));
	do {
		got = pread(fd, a, sizeof(a), at);
		MUST(pread(again_fd, b, sizeof(b), at) == got);
		MUST(got <= 0 || !memcmp(a, b, (size_t)got));
		at += got;
	} while (got > 0);
	profile_free(profile);
	meta_free(&meta);
}

void recording_check(const struct profile *profile, const struct meta *meta)
{
	static const char *const formats[] = {
		"pprof", "pprof-raw", "speedscope", "perf", "report",
		"folded",
	};
	static char path[64];
	static int fd;

	check_sums(profile);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		/* A million samples, one by one, take too long here. */
		if (!strcmp(formats[i], "perf") && profile->total > 1000 &&
		    profile->total <= 1 << 20)
			continue;
		MUST(!out_write(profile, meta, out_named(formats[i]),
				memory_file(&fd, path)));
	}
	if (!meta->before)
		check_again(path, fd);
}
