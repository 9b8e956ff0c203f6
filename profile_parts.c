/* SPDX-License-Identifier: MIT */
/*
 * profile_parts: what stacks are made of, each once.
 */
#include <string.h>

#include "lib/memory.h"
#include "profile_parts.h"

static uint32_t add_safe(struct profile_parts *parts, struct profile *profile,
			 const char *text)
{
	if (!*text)
		return names_add(&profile->names, "");
	parts->text.length = 0;
	text_frame(&parts->text, text);
	return names_add(&profile->names, parts->text.data);
}

static bool task_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	return !memcmp((const struct profile_task *)array + position, wanted,
		       sizeof(struct profile_task));
}

uint32_t profile_parts_task(struct profile_parts *parts,
			    struct profile *profile,
			    const struct profile_task *task)
{
	uint64_t hash = index_hash(task, sizeof(*task));
	uint32_t position = index_find(&parts->tasks, hash, task_equal,
				       profile->tasks, task);

	if (position != INDEX_NONE)
		return position;
	profile->tasks = memory_grow(profile->tasks, &parts->task_capacity,
				     profile->task_count + 1, sizeof(*task));
	profile->tasks[profile->task_count] = *task;
	index_add(&parts->tasks, hash, (uint32_t)profile->task_count);
	return (uint32_t)profile->task_count++;
}

static bool image_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return !memcmp((const struct profile_image *)array + position, wanted,
		       sizeof(struct profile_image));
}

uint32_t profile_parts_image(struct profile_parts *parts,
			     struct profile *profile, const char *path,
			     const char *build_id)
{
	const char *slash = strrchr(path, '/');
	struct profile_image image;
	uint32_t position;
	uint64_t hash;

	image.name = add_safe(parts, profile,
			      slash && slash[1] ? slash + 1 : path);
	image.path = add_safe(parts, profile, path);
	image.build_id = add_safe(parts, profile, build_id);
	hash = index_hash(&image, sizeof(image));
	position = index_find(&parts->images, hash, image_equal,
			      profile->images, &image);
	if (position != INDEX_NONE)
		return position;
	profile->images = memory_grow(profile->images, &parts->image_capacity,
				      profile->image_count + 1, sizeof(image));
	profile->images[profile->image_count] = image;
	index_add(&parts->images, hash, (uint32_t)profile->image_count);
	return (uint32_t)profile->image_count++;
}

static bool frame_alike(const void *array, uint32_t position,
			const void *wanted)
{
	const struct profile_frame *a = array, *b = wanted;

	return a[position].name == b->name && a[position].kind == b->kind;
}

static bool frame_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return !memcmp((const struct profile_frame *)array + position, wanted,
		       sizeof(struct profile_frame));
}

uint32_t profile_parts_frame(struct profile_parts *parts,
			     struct profile *profile, const char *name,
			     struct profile_frame frame)
{
	struct profile_frame key;
	uint32_t position;
	uint64_t hash;

	parts->text.length = 0;
	text_frame(&parts->text, name);
	frame.name = names_add(&profile->names, parts->text.data);
	key = frame;
	if (parts->alike)
		key.image = IMAGE_NONE;
	hash = index_hash(&key, sizeof(key));
	position = index_find(&parts->frames, hash,
			      parts->alike ? frame_alike : frame_equal,
			      profile->frames, &frame);
	if (position != INDEX_NONE)
		return position;
	profile->frames = memory_grow(profile->frames, &parts->frame_capacity,
				      profile->frame_count + 1, sizeof(frame));
	profile->frames[profile->frame_count] = frame;
	index_add(&parts->frames, hash, (uint32_t)profile->frame_count);
	return (uint32_t)profile->frame_count++;
}

void profile_parts_free(struct profile_parts *parts)
{
	index_free(&parts->tasks);
	index_free(&parts->images);
	index_free(&parts->frames);
	text_free(&parts->text);
}
