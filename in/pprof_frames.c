/* SPDX-License-Identifier: MIT */
/*
 * pprof_frames: what a location of a profile.proto is as a frame.
 *
 *	a function in [kernel.kallsyms], vmlinux,	a kernel frame, without
 *	ext4.ko, or above in [ext4]			a suffix
 *	a function in [jit], /tmp/perf-PID.map		made at run time
 *	[truncated], without an address			a note
 *	no function					[file+0x1234]
 *
 * A location is one machine instruction; functions that were inlined there have
 * a line each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "in/pprof_tables.h"
#include "lib/memory.h"

/* What is looked at to tell what a frame is. */
struct pprof_place {
	char *mapping;		/* file name; "" if there is none */
	char *file;		/* of the source */
	char *name;
	uint64_t address;
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text), size = strlen(with);

	return length >= size && !strcmp(text + length - size, with);
}

static bool is_kernel(const struct pprof_place *place)
{
	const char *mapping = place->mapping;

	if (begins(mapping, "[kernel") || begins(mapping, "[guest.kernel") ||
	    ends(mapping, ".ko") || ends(mapping, "/vmlinux") ||
	    !strcmp(place->file, "vmlinux"))
		return true;
	/* Modules; [vdso] and the like are in the lower half. */
	return *mapping == '[' && place->address >> 63 &&
	       !begins(mapping, "[vsyscall");
}

static bool is_jit(const struct pprof_place *place)
{
	return !strcmp(place->file, "[jit]") ||
	       !strcmp(place->mapping, "[jit]") ||
	       begins(place->mapping, "/tmp/perf-");
}

static bool is_note(const struct pprof_place *place)
{
	return !place->address && *place->name == '[' &&
	       ends(place->name, "]") && !strstr(place->name, "+0x") &&
	       !begins(place->name, "[0x");
}

static enum frame_kind kind_of(const struct pprof_place *place)
{
	return is_kernel(place) ? FRAME_KERNEL : is_jit(place) ? FRAME_JIT :
	       is_note(place) ? FRAME_NOTE : FRAME_USER;
}

/* The kernel's parts have names of our own: [kernel], and ext4 for [ext4]. */
static uint32_t image_of(struct pprof *pprof, const struct pprof_place *place,
			 enum frame_kind kind, const char *build_id)
{
	size_t length = strlen(place->mapping);
	uint32_t image;
	char *module;

	if (kind != FRAME_KERNEL)
		return profile_build_image(pprof->in->build, place->mapping,
					   build_id);
	if (*place->mapping != '[' || begins(place->mapping, "[kernel") ||
	    length < 3)
		return profile_build_image(pprof->in->build,
					   ends(place->mapping, ".ko") ?
					   place->mapping : "[kernel]",
					   build_id);
	module = memory_text(place->mapping + 1, length - 2);
	image = profile_build_image(pprof->in->build, module, build_id);
	free(module);
	return image;
}

/* [file+0x1234], or [0x1234] */
static void name_address(struct text *text, const struct pprof_place *place,
			 const struct pprof_mapping *mapping)
{
	const char *slash = strrchr(place->mapping, '/');
	const char *file = slash ? slash + 1 : place->mapping;
	uint64_t offset = place->address;

	text->length = 0;
	if (mapping && place->address >= mapping->start)
		offset = place->address - mapping->start + mapping->offset;
	text_format(text, *file ? "[%s+0x%" PRIx64 "]" : "[%s0x%" PRIx64 "]",
		    file, offset);
}

static void add_frame(struct pprof *pprof, struct pprof_place *place,
		      const char *name, const char *build_id)
{
	enum frame_kind kind;

	place->name = (char *)name;
	kind = kind_of(place);
	pprof->frames = memory_grow(pprof->frames, &pprof->frame_capacity,
				    pprof->frame_count + 1,
				    sizeof(*pprof->frames));
	pprof->frames[pprof->frame_count++] =
		profile_build_frame(pprof->in->build, name, kind,
				    image_of(pprof, place, kind, build_id),
				    place->address);
}

static int add_function(struct pprof *pprof, struct pprof_place *place,
			uint64_t number, const char *build_id)
{
	const struct pprof_function *function =
		pprof_find(&pprof->functions, number);
	char *name;

	if (!function)
		return pprof_bad(pprof, "function %" PRIu64 " is not there",
				 number);
	name = pprof_string(pprof, function->name ? function->name :
			    function->system_name);
	free(place->file);
	place->file = pprof_string(pprof, function->file);
	add_frame(pprof, place, name, build_id);
	free(name);
	return 0;
}

static int add_location(struct pprof *pprof, struct pprof_location *location,
			struct text *text)
{
	const struct pprof_mapping *mapping =
		pprof_find(&pprof->mappings, location->mapping);
	struct pprof_place place = {
		.mapping = pprof_string(pprof, mapping ? mapping->file : 0),
		.file = memory_text("", 0), .address = location->address,
	};
	char *build_id = pprof_string(pprof, mapping ? mapping->build_id : 0);
	size_t from = pprof->frame_count;
	int error = 0;

	for (size_t i = 0; !error && i < location->count; i++)
		error = add_function(pprof, &place,
				     pprof->lines[location->from + i],
				     build_id);
	if (!location->count) {
		name_address(text, &place, mapping);
		add_frame(pprof, &place, text->data, build_id);
		location->count = 1;
	}
	location->from = from;
	free(place.mapping);
	free(place.file);
	free(build_id);
	return error;
}

int pprof_make_frames(struct pprof *pprof)
{
	struct pprof_location *locations = pprof->locations.items;
	struct text text = { 0 };
	int error = 0;

	for (size_t i = 0; !error && i < pprof->locations.count; i++)
		error = add_location(pprof, &locations[i], &text) ?
			-EINVAL : pprof_check_copied(pprof);
	text_free(&text);
	return error;
}
