/* SPDX-License-Identifier: MIT */
/*
 * debug: the file that `objcopy --only-keep-debug` made.
 *
 *	/usr/lib/debug/.build-id/3f/2b...e1.debug   the build-id's digits
 *
 *	.gnu_debuglink: "NAME.debug" 0 │ padding to 4 │ CRC-32 of that file
 *	DIR/NAME.debug, DIR/.debug/NAME.debug, /usr/lib/debug/DIR/NAME.debug
 *
 * Other people's packages, leftovers and jokes lie in all of these places.  What
 * is named by the build-id must have it inside; what is named by a debug link
 * must have that CRC, and the same build-id if both have one.  Only regular
 * files are opened.  The CRC takes 50 ms for 100 MB, and a sparse file can claim
 * any size: beyond CRC_MOST a debug link is not followed.  Large debug files are
 * distributions', and have build-ids.
 *
 * Source: GDB manual, "Debugging Information in Separate Files".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/notes.h"
#include "lib/checksum.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "sym/debug.h"
#include "sys/regular.h"

#define CRC_MOST (256ull << 20)

enum {
	LINK_MOST = 4096,	/* bytes of .gnu_debuglink */
	CRC_CHUNK = 256 * 1024,
};

#define DEBUG_DIRECTORY "/usr/lib/debug"

struct wanted {
	const struct elf_file *file;
	struct elf_build_id id;
	bool by_crc;		/* else by the build-id */
	uint32_t crc;
};

static bool crc_is(const struct input *input, uint32_t wanted)
{
	uint8_t *chunk;
	uint64_t at = 0;
	uint32_t crc = 0;
	size_t got;

	if (input->size > CRC_MOST)
		return false;
	chunk = memory_new(CRC_CHUNK, 1);
	while ((got = input_some(input, at, chunk, CRC_CHUNK))) {
		crc = checksum_crc32(crc, (struct bytes){ chunk, got });
		at += got;
	}
	free(chunk);
	return crc == wanted;
}

static bool is_wanted(const struct wanted *wanted, int fd)
{
	struct elf_build_id id;
	struct elf_file file;
	struct input input;
	const char *why;
	bool same = false;

	if (input_file(&input, fd))
		return false;
	if (!elf_file_open(&file, &input, &why) &&
	    file.machine == wanted->file->machine &&
	    file.wide == wanted->file->wide &&
	    file.swapped == wanted->file->swapped) {
		elf_build_id(&file, &id);
		same = id.size == wanted->id.size &&
		       !memcmp(id.bytes, wanted->id.bytes, id.size);
		/* Made without one, only the CRC counts. */
		if (wanted->by_crc && (!id.size || !wanted->id.size))
			same = true;
	}
	elf_file_close(&file);
	return same && (!wanted->by_crc || crc_is(&input, wanted->crc));
}

/* The descriptor of the wanted file, or -1. */
static int try(const struct wanted *wanted, int root, const char *path)
{
	int fd = regular_open(root, path);

	if (fd >= 0 && is_wanted(wanted, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In the task's root, then in ours. */
static int try_roots(const struct wanted *wanted, int root, const char *path)
{
	int fd = try(wanted, root, path);

	return fd < 0 && root >= 0 ? try(wanted, -1, path) : fd;
}

static int by_build_id(const struct elf_file *file, int root)
{
	struct wanted wanted = { .file = file };
	struct text path = { 0 };
	int fd;

	if (!elf_build_id(file, &wanted.id) || wanted.id.size < 2)
		return -1;
	text_format(&path, DEBUG_DIRECTORY "/.build-id/%02x/",
		    wanted.id.bytes[0]);
	for (size_t i = 1; i < wanted.id.size; i++)
		text_format(&path, "%02x", wanted.id.bytes[i]);
	text_format(&path, ".debug");
	fd = try_roots(&wanted, root, path.data);
	text_free(&path);
	return fd;
}

/* The name and the CRC of .gnu_debuglink; the name is for free(), or NULL. */
static char *read_link(const struct elf_file *file, uint32_t *crc)
{
	const struct elf_file_section *section;
	uint8_t *data = NULL;
	struct input part;
	struct bytes link;
	const char *name;

	section = elf_file_section_named(file, ".gnu_debuglink");
	if (section && elf_file_section_input(file, section, &part))
		data = input_all(&part, LINK_MOST);
	if (!data)
		return NULL;
	link = (struct bytes){ data, part.size };
	name = bytes_text(link, 0);
	/* A name, not a path: it must not lead elsewhere. */
	if (name && *name && !strchr(name, '/') && strcmp(name, ".") &&
	    strcmp(name, "..")) {
		size_t at = (strlen(name) + 4) & ~(size_t)3;

		if (at + 4 <= link.size) {
			*crc = elf_u32(file, data + at);
			return (char *)data;
		}
	}
	free(data);
	return NULL;
}

static int by_link(const struct elf_file *file, const char *path, int root)
{
	struct wanted wanted = { .file = file, .by_crc = true };
	const char *slash = path ? strrchr(path, '/') : NULL;
	static const char *const formats[] = {
		"%.*s%s", "%.*s.debug/%s", DEBUG_DIRECTORY "%.*s%s",
	};
	char *name = read_link(file, &wanted.crc);
	int fd = -1;

	/* Relative to a directory that nobody told us: nowhere. */
	if (!name || !slash || *path != '/') {
		free(name);
		return -1;
	}
	elf_build_id(file, &wanted.id);
	for (size_t i = 0; i < 3 && fd < 0; i++) {
		struct text text = { 0 };

		text_format(&text, formats[i], (int)(slash + 1 - path), path,
			    name);
		fd = try_roots(&wanted, root, text.data);
		text_free(&text);
	}
	free(name);
	return fd;
}

int debug_open(const struct elf_file *file, const char *path, int root)
{
	int fd = by_build_id(file, root);

	if (fd < 0)
		fd = by_link(file, path, root);
	return fd < 0 ? -ENOENT : fd;
}
