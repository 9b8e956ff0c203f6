/* SPDX-License-Identifier: MIT */
/*
 * images: the tables of names of those files that samples are in.
 *
 *	file 7 ──> image ──> libc.so.6: 3,000 symbols, 10,000 functions
 *	file 9 ──> image ──> prog: ...
 *
 * They are asked for in batches, one file after the other, so that few need to
 * be in memory at once, and of a large one only what the batch is about.  Between
 * two batches small ones are kept, as the same files come again each second; a
 * large one is read anew, which takes milliseconds.
 *
 * An image reads its file when it is asked, so it has a descriptor of its own:
 * the set of files closes its own as it likes.
 */
#include <stdlib.h>

#include "elf/notes.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "sym/images.h"
#include "sys/regular.h"

enum {
	IMAGES_MOST = 16,		/* each has up to two descriptors */
	BATCH_MOST = 2 * 1024 * 1024,	/* bytes, beside the last one */
	KEPT_MOST = 512 * 1024,		/* the same between batches */
	KEPT_COUNT = 8,
};

struct images {
	const struct files *files;
	struct entry {
		struct image *image;
		uint32_t file;
		int fd;
		uint64_t used;
	} entries[IMAGES_MOST];
	size_t count;
	uint64_t clock;
	char **build_ids;	/* by file; NULL: not known */
	size_t file_count, file_capacity;
};

struct images *images_new(const struct files *files)
{
	struct images *images = memory_new(1, sizeof(*images));

	images->files = files;
	return images;
}

static void close_entry(struct images *images, size_t at)
{
	struct entry *entry = &images->entries[at];

	image_close(entry->image);
	regular_close(entry->fd);
	*entry = images->entries[--images->count];
}

/* Closes those that were not used for the longest time, down to so much. */
static void shrink(struct images *images, size_t count, size_t most)
{
	for (;;) {
		size_t memory = 0, oldest = 0;

		for (size_t i = 0; i < images->count; i++) {
			memory += image_memory(images->entries[i].image);
			if (images->entries[i].used <
			    images->entries[oldest].used)
				oldest = i;
		}
		if (!images->count || (images->count <= count && memory <= most))
			return;
		close_entry(images, oldest);
	}
}

static void note_build_id(struct images *images, uint32_t file,
			  struct image *image)
{
	struct elf_build_id id;
	struct text text = { 0 };
	size_t before = images->file_count;

	if (file >= before) {
		images->build_ids = memory_grow(images->build_ids,
						&images->file_capacity,
						(size_t)file + 1,
						sizeof(*images->build_ids));
		images->file_count = (size_t)file + 1;
		for (size_t i = before; i < images->file_count; i++)
			images->build_ids[i] = NULL;
	}
	if (images->build_ids[file])
		return;
	image_build_id(image, &id);
	text_format(&text, "%s", "");
	for (size_t i = 0; i < id.size; i++)
		text_format(&text, "%02x", id.bytes[i]);
	images->build_ids[file] = text.data;
}

struct image *images_have(struct images *images, uint32_t file)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->entries[i].file == file) {
			images->entries[i].used = ++images->clock;
			return images->entries[i].image;
		}
	return NULL;
}

struct image *images_get(struct images *images, uint32_t file, int root,
			 const struct images_batch *batch)
{
	struct image *image = images_have(images, file);
	const char *path = files_path(images->files, file);
	struct entry new = { .file = file };

	if (image)
		return image;
	new.fd = regular_copy(files_fd(images->files, file));
	if (new.fd < 0)
		return NULL;
	shrink(images, IMAGES_MOST - 1, BATCH_MOST);
	new.image = image_open(&(struct image_source){
				       .fd = new.fd, .root = root,
				       .path = *path == '/' ? path : NULL,
			       });
	image_want(new.image, batch->offsets, batch->count);
	note_build_id(images, file, new.image);
	new.used = ++images->clock;
	images->entries[images->count++] = new;
	return new.image;
}

const char *images_build_id(const struct images *images, uint32_t file)
{
	return file < images->file_count && images->build_ids[file] ?
	       images->build_ids[file] : "";
}

void images_forget_roots(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		image_forget_root(images->entries[i].image);
}

void images_trim(struct images *images)
{
	for (size_t i = images->count; i-- > 0;)
		if (!image_is_whole(images->entries[i].image))
			close_entry(images, i);
	shrink(images, KEPT_COUNT, KEPT_MOST);
}

void images_free(struct images *images)
{
	if (!images)
		return;
	shrink(images, 0, 0);
	for (size_t i = 0; i < images->file_count; i++)
		free(images->build_ids[i]);
	free(images->build_ids);
	free(images);
}
