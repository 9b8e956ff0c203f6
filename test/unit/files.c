/* SPDX-License-Identifier: MIT */
/* Mapped files, found again: real ones, and what stands in their place. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/files.h"
#include "proc/maps.h"
#include "sys/regular.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

/* The test's own directory, and its own memory as that of a process. */
static char here[4096];

static struct files *open_files(void)
{
	redirect_real_files = true;
	CHECK(getcwd(here, sizeof(here)));
	return files_new();
}

static char *path_of(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", here, name);
	return path;
}

static struct file_key key_of(int fd)
{
	struct stat status;

	CHECK(!fstat(fd, &status));
	return (struct file_key){
		.inode = status.st_ino, .major = major(status.st_dev),
		.minor = minor(status.st_dev),
	};
}

static uint32_t add(struct files *files, const char *name)
{
	int fd = open(name, O_PATH);
	struct file_key key;

	CHECK(fd >= 0);
	key = key_of(fd);
	close(fd);
	return files_add(files, &key, path_of(name));
}

/* A process that is gone; its files can be found by their paths only. */
static const struct file_user gone = { .tgid = 4194305, .tid = 4194306 };

static void check_content(const struct files *files, uint32_t file,
			  const char *want)
{
	char text[16] = "";

	CHECK(files_fd(files, file) >= 0);
	CHECK(regular_read(files_fd(files, file), 0, text, strlen(want)));
	CHECK_TEXT(text, want);
}

TEST(files_each_once)
{
	struct files *files = files_new();
	struct file_key key = { .inode = 5, .major = 8 };
	uint32_t a = files_add(files, &key, "/lib/a"), b;

	CHECK_U64(files_add(files, &key, "/lib/a"), a);
	CHECK_U64(files_add(files, &key, "/lib/a (deleted)"), a);
	CHECK_TEXT(files_name(files, a), "a");
	CHECK_TEXT(files_path(files, a), "/lib/a");
	/* A hard link: the same file under another name. */
	b = files_add(files, &key, "/lib/b");
	CHECK(a != b && files_same(files, a, b));
	/* The number was used again: told apart where the kernel tells. */
	key.has_generation = true;
	key.generation = 1;
	CHECK(files_same(files, a, files_add(files, &key, "/lib/a")));
	b = files_add(files, &key, "/lib/a");
	key.generation = 2;
	CHECK(!files_same(files, b, files_add(files, &key, "/lib/a")));
	key.inode = 6;
	CHECK(!files_same(files, a, files_add(files, &key, "/lib/a")));
	files_free(files);
	files_free(NULL);
}

TEST(files_memory)
{
	static const char *const words[][2] = {
		{ "", "anon" }, { "//anon", "anon" }, { "[anon:x]", "anon" },
		{ "[heap]", "heap" }, { "[stack]", "stack" },
		{ "[stack:12]", "stack" }, { "[uprobes]", "uprobes" },
	};
	struct files *files = files_new();
	const struct file_key none = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint32_t file = files_add(files, &none, words[i][0]);

		CHECK_TEXT(files_name(files, file), words[i][1]);
		CHECK(files_kind(files, file) == FILE_MEMORY);
		CHECK(files_open(files, file, &gone) == FILE_GONE);
	}
	CHECK_U64(files_add(files, &none, "//anon"), 0);
	/* A file may be called so. */
	CHECK(files_kind(files, files_add(files, &(struct file_key){
						  .inode = 1 }, "[heap]")) ==
	      FILE_PLAIN);
	files_free(files);
}

TEST(files_by_path)
{
	struct files *files = open_files();
	uint32_t file;

	unit_write_text("lib", "first");
	file = add(files, "lib");
	CHECK_U64(files_fd(files, file), (uint64_t)-1);
	CHECK(files_open(files, file, &gone) == FILE_OPEN);
	check_content(files, file, "first");
	/* Held, whatever becomes of the path. */
	CHECK(!unlink("lib"));
	CHECK(files_open(files, file, &gone) == FILE_OPEN);
	check_content(files, file, "first");
	files_free(files);
}

/* Another file has the path by now. */
TEST(files_replaced)
{
	struct files *files = open_files();
	uint32_t file;

	unit_write_text("lib", "first");
	file = add(files, "lib");
	unit_write_text("other", "other");
	CHECK(!rename("other", "lib"));
	CHECK(files_open(files, file, &gone) == FILE_REPLACED);
	CHECK(files_fd(files, file) < 0);
	CHECK(!unlink("lib"));
	CHECK(files_open(files, file, &(struct file_user){ .tgid = 4194307 })
	      == FILE_GONE);
	files_free(files);
}

/* What a path can lead to that must not be opened. */
TEST(files_of_other_kinds)
{
	static const char *const paths[] = {
		"fifo", "link to zero", "link to proc", "directory", "loop",
		"nothing", "through a file/x",
	};
	struct files *files = open_files();

	CHECK(!mkfifo("fifo", 0600));
	CHECK(!symlink("/dev/zero", "link to zero"));
	CHECK(!symlink("/proc/self/environ", "link to proc"));
	CHECK(!mkdir("directory", 0700));
	CHECK(!symlink("loop", "loop"));
	unit_write_text("through a file", "x");
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct file_key key = { .inode = 77 + i, .major = 1 };
		uint32_t file = files_add(files, &key, path_of(paths[i]));

		CHECK(regular_open(-1, path_of(paths[i])) < 0);
		CHECK(files_open(files, file, &gone) == FILE_GONE);
	}
	files_free(files);
}

/* Links of a process stay below its root. */
TEST(files_in_root)
{
	int root, fd;

	redirect_real_files = true;
	CHECK(!mkdir("root", 0700));
	unit_write_text("outside", "out");
	unit_write_text("root/inside", "in");
	CHECK(!symlink("../outside", "root/up"));
	CHECK(!symlink("/inside", "root/absolute"));
	CHECK(!symlink("/proc/self/fd/0", "root/magic"));
	root = open("root", O_PATH | O_DIRECTORY);
	CHECK(root >= 0);
	fd = regular_open(root, "/absolute");
	/* Kernels before 5.6 do not have openat2(2). */
	if (fd != -38) {
		CHECK(fd >= 0);
		CHECK(regular_open(root, "/up") < 0);
		CHECK(regular_open(root, "/../outside") < 0);
		CHECK(regular_open(root, "/magic") < 0);
	}
	close(fd);
	close(root);
}

/* Deleted, and in memory: by the mapping of a process, which is the test. */
static void check_mapping(const char *name, int fd, const char *path)
{
	struct files *files = open_files();
	struct file_key key = key_of(fd);
	struct file_user self = { .tgid = (uint32_t)getpid() };
	uint32_t file = files_add(files, &key, path);
	size_t page = (size_t)getpagesize();
	char *there = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);

	CHECK(there != MAP_FAILED);
	close(fd);
	self.start = (uintptr_t)there;
	self.end = self.start + page;
	/* It has another mapping of it only, or moved it. */
	if (*name == 'm')
		self.start -= page;
	if (files_open(files, file, &self) == FILE_OPEN)
		check_content(files, file, "text");
	else
		CHECK(geteuid() != 0);
	munmap(there, page);
	files_free(files);
}

TEST(files_deleted)
{
	int fd;

	unit_write_text("lib", "text");
	fd = open("lib", O_RDONLY);
	CHECK(fd >= 0 && !unlink("lib"));
	check_mapping("deleted", fd, "/lib (deleted)");
}

TEST(files_in_memory)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, "text", 4) == 4);
	check_mapping("moved", fd, "/memfd:code (deleted)");
}

/* Numbers that stat(2) does not give: told by a mapping of our own. */
TEST(files_other_numbers)
{
	struct files *files = open_files();
	struct file_key key;
	uint32_t file;
	int fd;

	unit_write_text("lib", "first");
	fd = open("lib", O_RDONLY);
	key = key_of(fd);
	close(fd);
	key.minor += 1;
	/* As it is on an overlay: all our maps say so. */
	unit_write_text("self", "");
	redirect("/proc/self/maps", "self");
	file = files_add(files, &key, path_of("lib"));
	CHECK(files_open(files, file, &gone) == FILE_REPLACED);
	files_free(files);
}

/* The generation tells that the inode's number was used again. */
TEST(files_generation)
{
	struct files *files = open_files();
	struct regular regular;
	struct file_key key;
	uint32_t file;
	int fd;

	unit_write_text("lib", "first");
	fd = open("lib", O_RDONLY);
	CHECK(!regular_stat(fd, &regular));
	key = key_of(fd);
	close(fd);
	CHECK_U64(regular.size, 5);
	key.has_generation = true;
	key.generation = regular.generation;
	file = files_add(files, &key, path_of("lib"));
	CHECK(files_open(files, file, &gone) == FILE_OPEN);
	key.generation++;
	file = files_add(files, &key, path_of("lib"));
	CHECK(files_open(files, file, &gone) ==
	      (regular.generation ? FILE_REPLACED : FILE_OPEN));
	files_free(files);
}

/* More than are held: none is wrong, and descriptors stay few. */
TEST(files_many)
{
	struct files *files = open_files();
	size_t before = unit_descriptors();
	uint32_t numbers[600];
	char name[16];

	for (unsigned int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		unit_write_text(name, name);
		numbers[i] = add(files, name);
		/* Before one is closed it is told. */
		CHECK(files_pressed(files) == (i >= 128));
		CHECK(files_open(files, numbers[i], &gone) == FILE_OPEN);
	}
	files_settle(files);
	CHECK(!files_pressed(files));
	CHECK(unit_descriptors() - before <= 256);
	CHECK(files_fd(files, numbers[0]) < 0);
	for (unsigned int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CHECK(files_open(files, numbers[i], &gone) == FILE_OPEN);
		check_content(files, numbers[i], name);
	}
	files_pin(files, numbers[3]);
	files_unmark(files);
	files_mark(files, numbers[5]);
	files_sweep(files);
	CHECK_U64(add(files, "f3"), numbers[3]);
	CHECK_U64(add(files, "f5"), numbers[5]);
	CHECK(unit_descriptors() - before <= 2);
	files_free(files);
	CHECK_U64(unit_descriptors(), before);
}

/* The vDSO's bytes: an ELF file. */
TEST(files_vdso)
{
	struct files *files = open_files();
	struct file_user self = { .tgid = (uint32_t)getpid() };
	uint32_t file = files_add(files, &(struct file_key){ 0 }, "[vdso]");
	struct map map = { .start = regular_vdso() };

	CHECK_TEXT(files_name(files, file), "vdso");
	CHECK(files_kind(files, file) == FILE_VDSO);
	if (map.start && maps_locate("self", &map)) {
		self.start = map.start;
		self.end = map.end;
		CHECK(files_open(files, file, &self) == FILE_OPEN);
		check_content(files, file, "\177ELF");
	}
	files_free(files);
}
