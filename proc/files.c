/* SPDX-License-Identifier: MIT */
/*
 * files: what is mapped, found again and held.
 *
 * A mapping is known by device, inode and generation, and by a path that was
 * right in its process and at that time.  The file itself is found by one of
 *
 *	/proc/PID/map_files/START-END	the very file, also one that is deleted,
 *					in memory, or behind an overlay; wants
 *					CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE
 *	/proc/PID/root + path		in the process's own mounts
 *	/proc/PARENT/root + path	... which a parent that lives shares
 *	path				in ours
 *
 * in this order, at the first sight of a sample, as its process may end at any
 * moment; and it is held open, as its path may.
 *
 * Each of these can give another file: a path was reused, a mapping replaced.
 * So what was opened has to prove itself.  If fstat(2) gives the numbers of the
 * mapping, it has.  Some file systems (overlayfs, btrfs) tell stat(2) other
 * numbers than the kernel uses inside; there one page of what was opened is
 * mapped, and our own /proc/self/maps tells it in the same numbers that mmap
 * records and /proc/PID/maps have.  The inode's number can be reused; its
 * generation is not, and is compared where the kernel tells both.
 *
 * Sources: man 5 proc_pid_map_files, man 2 perf_event_open (PERF_RECORD_MMAP2).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "proc/files.h"
#include "proc/maps.h"
#include "sys/regular.h"
#include "sys/system.h"

enum {
	HELD_MOST = 256,	/* descriptors */
	TRIES_MOST = 8,		/* to open one file */
	CROWD = 4096,		/* files, before any is forgotten */
};

struct file {
	struct file_key key;
	char *path, *name;	/* path NULL: this number is free */
	enum file_kind kind;
	enum file_state state;
	int fd;
	uint32_t tries, tried;	/* tried: the process of the last try */
	uint64_t used;		/* when, by files->clock */
	bool pinned, marked;
};

struct files {
	struct file *file;
	size_t count, capacity, live;
	uint32_t *spare;	/* free numbers */
	size_t spare_count, spare_capacity;
	size_t crowd;		/* `live` from which on it is crowded */
	struct index index;
	uint64_t settled;	/* files_settle(), by `clock` */
	uint32_t held[HELD_MOST];
	size_t held_count, held_most;
	uint64_t clock;
};

/* ---------------------------------------------------------------- the set */

struct files *files_new(void)
{
	struct files *files = memory_new(1, sizeof(*files));
	size_t may = regular_descriptors() / 4;

	files->held_most = may < HELD_MOST ? may : HELD_MOST;
	files->crowd = CROWD;
	files_pin(files, files_add(files, &(struct file_key){ 0 }, ""));
	return files;
}

/* What is compared: the path is in it as well, as it is what is shown. */
struct wanted {
	struct file_key key;
	const char *path;
};

static bool file_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	const struct file *file = (const struct file *)array + position;
	const struct wanted *want = wanted;

	return file->path && file->key.inode == want->key.inode &&
	       file->key.major == want->key.major &&
	       file->key.minor == want->key.minor &&
	       file->key.generation == want->key.generation &&
	       file->key.has_generation == want->key.has_generation &&
	       !strcmp(file->path, want->path);
}

static uint64_t hash_of(const struct file_key *key, const char *path)
{
	const uint64_t numbers[] = {
		key->inode, (uint64_t)key->major << 32 | key->minor,
		key->generation,
	};

	return index_hash(numbers, sizeof(numbers)) ^
	       index_hash(path, strlen(path));
}

/* The kernel's words for memory: one for each kind, whoever tells it. */
static const char *memory_name(const char *path)
{
	if (!*path || !strcmp(path, "//anon") || !strncmp(path, "[anon", 5))
		return "[anon]";
	return !strncmp(path, "[stack", 6) ? "[stack]" : path;
}

/* The last part of a path; what is in brackets, without these. */
static char *name_of(const struct file_key *key, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!key->inode && !strncmp(path, "[vdso", 5))
		return memory_text("vdso", 4);
	if (!key->inode && *path == '[')
		return memory_text(path + 1, strcspn(path + 1, "]"));
	if (slash)
		path = slash + 1;
	return memory_text(path, strlen(path));
}

static uint32_t new_number(struct files *files)
{
	if (files->spare_count)
		return files->spare[--files->spare_count];
	files->file = memory_grow(files->file, &files->capacity,
				  files->count + 1, sizeof(*files->file));
	return (uint32_t)files->count++;
}

uint32_t files_add(struct files *files, const struct file_key *key,
		   const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length, end = sizeof(deleted) - 1;
	struct file file = { .key = *key, .fd = -1 };
	uint64_t hash;
	uint32_t number;

	if (!key->inode)
		path = memory_name(path);
	length = strlen(path);
	if (key->inode && length > end &&
	    !strcmp(path + length - end, deleted))
		length -= end;
	file.path = memory_text(path, length);
	hash = hash_of(key, file.path);
	number = index_find(&files->index, hash, file_equal, files->file,
			    &(struct wanted){ *key, file.path });
	if (number != INDEX_NONE) {
		free(file.path);
		return number;
	}
	file.name = name_of(key, file.path);
	if (!key->inode)
		file.kind = strncmp(path, "[vdso", 5) ? FILE_MEMORY : FILE_VDSO;
	number = new_number(files);
	files->file[number] = file;
	files->live++;
	index_add(&files->index, hash, number);
	return number;
}

enum file_kind files_kind(const struct files *files, uint32_t file)
{
	return files->file[file].kind;
}

const char *files_name(const struct files *files, uint32_t file)
{
	return files->file[file].name;
}

const char *files_path(const struct files *files, uint32_t file)
{
	return files->file[file].path;
}

bool files_same(const struct files *files, uint32_t a, uint32_t b)
{
	const struct file_key *x = &files->file[a].key;
	const struct file_key *y = &files->file[b].key;

	if (a == b)
		return true;
	return x->inode && x->inode == y->inode && x->major == y->major &&
	       x->minor == y->minor &&
	       (!x->has_generation || !y->has_generation ||
		x->generation == y->generation);
}

/* --------------------------------------------------------------- the proof */

/* Whether our own mapping of it is told in the numbers of the mapping. */
static bool same_when_mapped(int fd, const struct file_key *key)
{
	void *page = regular_map(fd);
	struct map map = { .start = (uintptr_t)page };
	bool same;

	if (!page)
		return false;
	same = maps_locate("self", &map) && map.inode == key->inode &&
	       map.major == key->major && map.minor == key->minor;
	regular_unmap(page);
	return same;
}

/* Whether what was opened is what was mapped. */
static bool proved(int fd, const struct file_key *key)
{
	struct regular regular;

	if (regular_stat(fd, &regular))
		return false;
	if (key->has_generation && regular.generation &&
	    regular.generation != (uint32_t)key->generation)
		return false;
	if (regular.inode == key->inode && regular.major == key->major &&
	    regular.minor == key->minor)
		return true;
	return same_when_mapped(fd, key);
}

/* ------------------------------------------------------------ the openings */

/* What one way to the file led to: a descriptor, or -errno. */
static int prove(int fd, const struct file_key *key, bool *other)
{
	if (fd < 0 || proved(fd, key))
		return fd;
	regular_close(fd);
	*other = true;
	return -ESTALE;
}

static int by_mapping(uint32_t pid, uint64_t start, uint64_t end,
		      const struct file_key *key)
{
	char path[96];
	bool other;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, pid, start, end);
	/* Another mapping is there by now: that tells nothing of the file. */
	return prove(regular_open(-1, path), key, &other);
}

/* The mapping as it was, or wherever the process has the file now. */
static int by_process(uint32_t pid, const struct file_user *user,
		      const struct file_key *key)
{
	struct map map = {
		.inode = key->inode, .major = key->major, .minor = key->minor,
	};
	char number[16];
	int fd = by_mapping(pid, user->start, user->end, key);

	if (fd >= 0)
		return fd;
	snprintf(number, sizeof(number), "%" PRIu32, pid);
	if (fd == -EPERM || fd == -EACCES || !maps_locate(number, &map))
		return fd;
	return by_mapping(pid, map.start, map.end, key);
}

static int by_root(uint32_t pid, const struct file *file, bool *other)
{
	char path[32];
	int root, fd;

	if (!pid || *file->path != '/')
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
	root = system_open_directory(path);
	if (root < 0)
		return root;
	fd = prove(regular_open(root, file->path), &file->key, other);
	regular_close(root);
	return fd;
}

static int open_plain(const struct file *file, const struct file_user *user,
		      bool *other)
{
	int fd = by_process(user->tgid, user, &file->key);

	if (fd < 0 && user->tid && user->tid != user->tgid)
		fd = by_process(user->tid, user, &file->key);
	if (fd < 0)
		fd = by_root(user->tgid, file, other);
	if (fd < 0 && user->tid != user->tgid)
		fd = by_root(user->tid, file, other);
	if (fd < 0)
		fd = by_root(user->parent, file, other);
	if (fd < 0 && *file->path == '/')
		fd = prove(regular_open(-1, file->path), &file->key, other);
	return fd;
}

/*
 * The kernel's code in a process has no file, but bytes.  In 64-bit programs
 * they are those that we have, too; 32-bit ones live below 4 GB.
 */
static int open_vdso(const struct file_user *user)
{
	size_t size = (size_t)(user->end - user->start);
	uint64_t own = regular_vdso();
	bool narrow = user->end <= UINT32_MAX;
	int fd = -ENOENT;

	if (own && narrow == (own <= UINT32_MAX))
		fd = regular_copy_memory(0, own, size);
	if (fd < 0)
		fd = regular_copy_memory(user->tgid, user->start, size);
	return fd;
}

/* -------------------------------------------------------------- the holding */

/* Makes room for one more descriptor. */
static void close_oldest(struct files *files)
{
	size_t oldest = 0;
	struct file *file;

	for (size_t i = 1; i < files->held_count; i++)
		if (files->file[files->held[i]].used <
		    files->file[files->held[oldest]].used)
			oldest = i;
	file = &files->file[files->held[oldest]];
	regular_close(file->fd);
	file->fd = -1;
	file->state = FILE_CLOSED;
	files->held[oldest] = files->held[--files->held_count];
}

static void try_to_open(struct files *files, uint32_t number,
			const struct file_user *user)
{
	struct file *file = &files->file[number];
	bool other = false;
	int fd;

	file->tries++;
	file->tried = user->tgid;
	fd = file->kind == FILE_VDSO ? open_vdso(user) :
	     open_plain(file, user, &other);
	if (fd < 0) {
		if (file->state != FILE_CLOSED)
			file->state = other ? FILE_REPLACED : FILE_GONE;
		return;
	}
	if (files->held_count >= files->held_most && files->held_count)
		close_oldest(files);
	file->fd = fd;
	file->state = FILE_OPEN;
	file->tries = 0;
	files->held[files->held_count++] = number;
}

enum file_state files_open(struct files *files, uint32_t number,
			   const struct file_user *user)
{
	struct file *file = &files->file[number];

	if (file->kind == FILE_MEMORY)
		return FILE_GONE;
	file->used = ++files->clock;
	if (file->state != FILE_OPEN && file->tries < TRIES_MOST &&
	    (!file->tries || file->tried != user->tgid))
		try_to_open(files, number, user);
	return file->state;
}

int files_fd(const struct files *files, uint32_t file)
{
	return files->file[file].fd;
}

bool files_pressed(const struct files *files)
{
	size_t used = 0;

	for (size_t i = 0; i < files->held_count; i++)
		used += files->file[files->held[i]].used > files->settled;
	return used >= files->held_most / 2;
}

void files_settle(struct files *files)
{
	files->settled = files->clock;
}

/* ----------------------------------------------------------- the forgetting */

void files_pin(struct files *files, uint32_t file)
{
	files->file[file].pinned = true;
}

bool files_crowded(const struct files *files)
{
	return files->live > files->crowd;
}

void files_unmark(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		files->file[i].marked = false;
}

void files_mark(void *context, uint32_t file)
{
	struct files *files = context;

	files->file[file].marked = true;
}

static void forget(struct files *files, uint32_t number)
{
	struct file *file = &files->file[number];

	for (size_t i = 0; i < files->held_count; i++)
		if (files->held[i] == number)
			files->held[i] = files->held[--files->held_count];
	regular_close(file->fd);
	free(file->path);
	free(file->name);
	*file = (struct file){ .fd = -1 };
	files->spare = memory_grow(files->spare, &files->spare_capacity,
				   files->spare_count + 1,
				   sizeof(*files->spare));
	files->spare[files->spare_count++] = number;
	files->live--;
}

void files_sweep(struct files *files)
{
	index_clear(&files->index);
	for (size_t i = 0; i < files->count; i++) {
		struct file *file = &files->file[i];

		if (!file->path)
			continue;
		if (!file->pinned && !file->marked)
			forget(files, (uint32_t)i);
		else
			index_add(&files->index,
				  hash_of(&file->key, file->path),
				  (uint32_t)i);
	}
	/* If most of them are in use, it is not tried again at once. */
	files->crowd = files->live * 2 > CROWD ? files->live * 2 : CROWD;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++) {
		regular_close(files->file[i].fd);
		free(files->file[i].path);
		free(files->file[i].name);
	}
	free(files->file);
	free(files->spare);
	index_free(&files->index);
	free(files);
}
