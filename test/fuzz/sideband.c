/* SPDX-License-Identifier: MIT */
/*
 * Records of the sideband, whole and damaged, of three CPUs; and the address
 * spaces that they make.
 *
 *	input	records: size (1 byte), CPU (1 byte), `size` words of 8 bytes
 *
 * Process numbers and addresses are made small, so that records meet.
 */
#include <string.h>

#include <linux/perf_event.h>

#include "proc/spaces.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/redirect.h"

struct context {
	struct spaces *spaces;
	struct files *files;
	uint64_t last;
};

static void each(void *data, const struct side_event *event)
{
	struct context *context = data;
	struct side_event small = *event;

	MUST(event->time >= context->last);
	context->last = event->time;
	if (event->kind == SIDE_MAP) {
		MUST(event->map.size);
		MUST(event->map.start + event->map.size > event->map.start);
		MUST(strlen(event->map.path) < 65536);
		small.map.start &= 0xffff;
		small.map.size = (small.map.size & 0x3fff) + 1;
		small.map.inode &= 3;
	}
	small.pid &= 7;
	small.ppid &= 7;
	small.time &= 0xffff;
	small.lost_since &= 0xffff;
	spaces_event(context->spaces, &small);
}

static void nothing(void *context)
{
	(void)context;
}

/* All processes at all times: places are in their mappings. */
static void look(struct context *context)
{
	for (uint32_t i = 0; i < 32; i++) {
		const struct space_moment moment = {
			.tgid = i & 7, .tid = i & 7, .comm = "x",
			.first = (uint64_t)(i >> 3) << 13,
			.last = ((uint64_t)(i >> 3) << 13) + 100,
			.in_kernel = i & 16,
		};
		struct space_view view = spaces_view(context->spaces, &moment);

		for (uint64_t at = 0; at < 0x14000; at += 0x2800) {
			struct place place = spaces_find(context->spaces,
							 &view, at);

			if (place.note != SPACE_FILE)
				continue;
			MUST(place.user.start <= at && at < place.user.end);
			MUST(files_name(context->files, place.file));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sideband *sideband = sideband_new();
	struct context context = { .files = files_new() };
	static bool redirected;

	/* No process of this machine is looked at. */
	for (unsigned int i = 0; !redirected && i < 8; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%u/maps", i);
		redirect(path, NULL);
	}
	redirected = true;
	context.spaces = spaces_new(context.files);
	spaces_listen(context.spaces, 1, nothing, NULL);
	while (size > 2) {
		size_t length = (size_t)data[0] * 8;
		char *record;

		if (length > size - 2)
			length = size - 2;
		record = malloc(length + 1);
		MUST(record);
		memcpy(record, data + 2, length);
		/* The kernel's word for its size is always right. */
		if (length >= sizeof(struct perf_event_header))
			((struct perf_event_header *)(void *)record)->size =
				(uint16_t)length;
		sideband_add(sideband, data[1] % 3, (struct bytes){
				     (const uint8_t *)record, length });
		free(record);
		data += 2 + length;
		size -= 2 + length;
	}
	sideband_replay(sideband, UINT64_MAX, each, &context);
	look(&context);
	spaces_round(context.spaces);
	look(&context);
	sideband_close(sideband);
	spaces_free(context.spaces);
	files_free(context.files);
	return 0;
}
