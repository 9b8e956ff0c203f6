/* SPDX-License-Identifier: MIT */
/* Lines of any length in; whole files, or none, out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "test/unit/unit.h"

/* ---------------------------------------------------------------- lines */

TEST(lines_plain)
{
	struct lines lines;

	unit_write_text("f", "one\n\ntwo words\n\n\nlast");
	CHECK(!lines_open(&lines, "f"));
	CHECK_TEXT(lines_next(&lines), "one");
	CHECK_TEXT(lines_next(&lines), "");
	CHECK_TEXT(lines_next(&lines), "two words");
	CHECK_TEXT(lines_next(&lines), "");
	CHECK_TEXT(lines_next(&lines), "");
	CHECK_TEXT(lines_next(&lines), "last");
	CHECK_TEXT(lines_next(&lines), NULL);
	CHECK_TEXT(lines_next(&lines), NULL);
	CHECK(!lines.error);
	lines_close(&lines);
}

TEST(lines_ends)
{
	static const struct {
		const char *text;
		int count;
	} files[] = {
		{ "", 0 }, { "\n", 1 }, { "a", 1 }, { "a\n", 1 }, { "\n\n", 2 },
		{ "\na", 2 },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct lines lines;
		int count = 0;

		unit_write_text("f", files[i].text);
		CHECK(!lines_open(&lines, "f"));
		while (lines_next(&lines))
			count++;
		CHECK_U64(count, (uint64_t)files[i].count);
		CHECK(!lines.error);
		lines_close(&lines);
	}
}

/* Lines of these lengths, around every border of a buffer. */
static void check_lengths(const size_t *lengths, size_t count, bool newline)
{
	struct lines lines;
	FILE *file = fopen("f", "w");

	CHECK(file);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < lengths[i]; j++)
			fputc('a' + (int)((i + j) % 26), file);
		if (newline || i + 1 < count)
			fputc('\n', file);
	}
	CHECK(!fclose(file));
	CHECK(!lines_open(&lines, "f"));
	for (size_t i = 0; i < count; i++) {
		const char *line = lines_next(&lines);

		CHECK(line);
		CHECK_U64(strlen(line), lengths[i]);
		for (size_t j = 0; j < lengths[i]; j++)
			if (line[j] != 'a' + (int)((i + j) % 26))
				unit_fail(__FILE__, __LINE__,
					  "line %zu differs at %zu", i, j);
	}
	CHECK(!lines_next(&lines));
	CHECK(!lines.error);
	lines_close(&lines);
}

TEST(lines_of_any_length)
{
	static const size_t lengths[] = {
		1, 65535, 65536, 65537, 65534, 0, 3, 131072, 131071, 70000,
		200000, 5, 1000000, 1024 * 1024, 0, 1024 * 1024 - 1, 64,
	};
	size_t count = sizeof(lengths) / sizeof(*lengths);

	check_lengths(lengths, count, true);
	check_lengths(lengths, count, false);
	for (size_t i = 1; i < count; i++) {
		/* An empty file has no line, not one without a newline. */
		if (lengths[i])
			check_lengths(&lengths[i], 1, false);
		check_lengths(&lengths[i], 1, true);
	}
}

TEST(lines_many_short)
{
	static size_t lengths[50000];
	uint64_t random = 3;

	for (size_t i = 0; i < 50000; i++)
		lengths[i] = unit_random(&random) % 60 + 1;
	check_lengths(lengths, 50000, true);
}

/* Beyond the limit it is an error, not a cut line, and memory stays small. */
TEST(lines_too_long)
{
	struct lines lines;
	char *line;
	size_t size = 8 << 20;
	char *data = malloc(size);

	CHECK(data);
	memset(data, 'x', size);
	memcpy(data, "short\n", 6);
	unit_write("f", data, size);
	free(data);
	CHECK(!lines_open(&lines, "f"));
	CHECK_TEXT(lines_next(&lines), "short");
	line = lines_next(&lines);
	CHECK(!line);
	CHECK(lines.error == -EMSGSIZE);
	CHECK(!lines_next(&lines));
	CHECK(lines.capacity <= 4 << 20);
	lines_close(&lines);
}

TEST(lines_zero_bytes)
{
	struct lines lines;

	unit_write("f", "ab\0cd\nef\n", 9);
	CHECK(!lines_open(&lines, "f"));
	CHECK_TEXT(lines_next(&lines), "ab");
	CHECK_TEXT(lines_next(&lines), "ef");
	CHECK(!lines_next(&lines));
	lines_close(&lines);
}

TEST(lines_errors)
{
	struct lines lines;

	CHECK(lines_open(&lines, "not/there") == -ENOENT);
	CHECK(lines_open(&lines, "") == -ENOENT);
	unit_write_text("file", "");
	CHECK(lines_open(&lines, "file/x") == -ENOTDIR);
	CHECK(!mkdir("d", 0700));
	CHECK(!lines_open(&lines, "d"));
	CHECK(!lines_next(&lines));
	CHECK(lines.error == -EISDIR);
	lines_close(&lines);
}

/* Anybody can put a FIFO where a file is expected (the test has an alarm). */
TEST(lines_fifo_does_not_hang)
{
	struct lines lines;
	char text[8];
	int writer;

	CHECK(!mkfifo("fifo", 0600));
	CHECK(!lines_open(&lines, "fifo"));
	CHECK(!lines_next(&lines));
	lines_close(&lines);
	CHECK(!file_read_text("fifo", text, sizeof(text)));
	CHECK_TEXT(text, "");
	/* With somebody at the other end who writes nothing. */
	writer = open("fifo", O_RDWR | O_NONBLOCK);
	CHECK(writer >= 0);
	CHECK(!lines_open(&lines, "fifo"));
	CHECK(!lines_next(&lines));
	CHECK(lines.error == -EAGAIN);
	lines_close(&lines);
	CHECK(file_read_text("fifo", text, sizeof(text)) == -EAGAIN);
	close(writer);
}

TEST(lines_close_all)
{
	size_t before = unit_descriptors();
	struct lines lines;

	unit_write_text("f", "a\n");
	CHECK(!lines_open(&lines, "f"));
	lines_next(&lines);
	lines_close(&lines);
	lines_close(&lines);
	CHECK_U64(unit_descriptors(), before);
}

/* ------------------------------------------------------------ small texts */

TEST(file_read_text_refuses_to_cut)
{
	char text[8];

	unit_write_text("f", "0-3\n");
	CHECK(!file_read_text("f", text, sizeof(text)));
	CHECK_TEXT(text, "0-3");
	unit_write_text("f", "0-3");
	CHECK(!file_read_text("f", text, sizeof(text)));
	CHECK_TEXT(text, "0-3");
	unit_write_text("f", "");
	CHECK(!file_read_text("f", text, sizeof(text)));
	CHECK_TEXT(text, "");
	unit_write_text("f", "\n");
	CHECK(!file_read_text("f", text, sizeof(text)));
	CHECK_TEXT(text, "");
	unit_write_text("f", "123456789");
	/* Cut off it could be another number. */
	CHECK(file_read_text("f", text, sizeof(text)) == -EMSGSIZE);
	CHECK(file_read_text("none", text, sizeof(text)) == -ENOENT);
	CHECK(file_read_text(".", text, sizeof(text)) == -EISDIR);
}

/* --------------------------------------------------------------- writing */

static int write_file(const char *path, const char *data, size_t size)
{
	struct file_out out;

	if (!file_out_open(&out, path))
		file_out_write(&out, data, size);
	return file_out_close(&out);
}

static void check_file(const char *path, const char *want)
{
	char *text = unit_read(path, NULL);

	CHECK_TEXT(text, want);
	free(text);
}

/* How many names there are in the directory: nothing may be left beside. */
static size_t names_in(const char *directory)
{
	char command[300];
	size_t count = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A %s", directory);
	pipe = popen(command, "r");
	CHECK(pipe);
	for (int c; (c = fgetc(pipe)) != EOF;)
		count += c == '\n';
	pclose(pipe);
	return count;
}

TEST(file_out_new)
{
	struct stat status;

	CHECK(!file_out_check("f"));
	CHECK(!write_file("f", "hello\n", 6));
	check_file("f", "hello\n");
	CHECK(!stat("f", &status));
	CHECK_U64(status.st_mode & 07777, 0644);	/* of umask 022 */
	CHECK_U64(names_in("."), 1);
	CHECK(!mkdir("d", 0700));
	CHECK(!file_out_check("d/g"));
	CHECK(!write_file("d/g", "", 0));
	check_file("d/g", "");
	CHECK_U64(names_in("d"), 1);
}

/* Until it is whole, the old one is there, and whole too. */
TEST(file_out_replaces_whole)
{
	struct file_out out;

	unit_write_text("f", "old");
	CHECK(!file_out_open(&out, "f"));
	for (int i = 0; i < 100000; i++)
		file_out_write(&out, "0123456789", 10);
	check_file("f", "old");
	CHECK(!file_out_close(&out));
	{
		size_t size;
		char *data = unit_read("f", &size);

		CHECK_U64(size, 1000000);
		for (size_t i = 0; i < size; i++)
			CHECK(data[i] == '0' + (char)(i % 10));
		free(data);
	}
	CHECK_U64(names_in("."), 1);
}

/* All of it arrives, however it is cut into writes. */
TEST(file_out_any_sizes)
{
	static char data[300000];
	struct file_out out;
	uint64_t random = 4;
	size_t done = 0, size;
	char *got;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)unit_random(&random);
	CHECK(!file_out_open(&out, "f"));
	while (done < sizeof(data)) {
		size_t part = unit_random(&random) % 140000;

		if (unit_random(&random) % 4)
			part %= 100;
		if (part > sizeof(data) - done)
			part = sizeof(data) - done;
		file_out_write(&out, data + done, part);
		done += part;
	}
	CHECK(!file_out_close(&out));
	got = unit_read("f", &size);
	CHECK_U64(size, sizeof(data));
	CHECK(!memcmp(got, data, size));
	free(got);
}

TEST(file_out_drop_keeps_old)
{
	struct file_out out;

	unit_write_text("f", "old");
	CHECK(!file_out_open(&out, "f"));
	file_out_write(&out, "new", 3);
	file_out_drop(&out);
	check_file("f", "old");
	CHECK_U64(names_in("."), 1);
	CHECK(!file_out_open(&out, "g"));
	file_out_drop(&out);
	CHECK_U64(names_in("."), 1);
}

/* A disk that is full: RLIMIT_FSIZE plays it, its signal ignored. */
TEST(file_out_failure_keeps_old)
{
	struct rlimit limit = { 100000, 100000 };
	static char data[300000];
	struct file_out out;

	unit_write_text("f", "old");
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK(!file_out_open(&out, "f"));
	file_out_write(&out, data, sizeof(data));
	file_out_write(&out, data, sizeof(data));
	CHECK(file_out_close(&out) == -EFBIG);
	check_file("f", "old");
	CHECK_U64(names_in("."), 1);
}

TEST(file_out_keeps_symlink)
{
	char link[64];
	ssize_t length;

	CHECK(!mkdir("d", 0700));
	unit_write_text("d/real", "old");
	CHECK(!symlink("d/real", "link"));
	CHECK(!symlink("link", "second"));
	CHECK(!file_out_check("second"));
	CHECK(!write_file("second", "new", 3));
	length = readlink("second", link, sizeof(link));
	CHECK(length == 4 && !memcmp(link, "link", 4));
	length = readlink("link", link, sizeof(link));
	CHECK(length == 6 && !memcmp(link, "d/real", 6));
	check_file("d/real", "new");
	CHECK_U64(names_in("."), 3);
	CHECK_U64(names_in("d"), 1);
}

TEST(file_out_keeps_mode)
{
	static const mode_t modes[] = { 0600, 0644, 0640, 0755, 0400 };
	struct stat status;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		unlink("f");
		unit_write_text("f", "old");
		CHECK(!chmod("f", modes[i]));
		CHECK(!write_file("f", "new", 3));
		CHECK(!stat("f", &status));
		CHECK_U64(status.st_mode & 07777, modes[i]);
	}
	check_file("f", "new");
}

TEST(file_out_devices)
{
	static char data[200000];
	struct file_out out;

	CHECK(!file_out_check("/dev/null"));
	CHECK(!write_file("/dev/null", data, sizeof(data)));
	CHECK(!file_out_check("/dev/full"));
	CHECK(write_file("/dev/full", data, sizeof(data)) == -ENOSPC);
	/* Less than a buffer: the error is there only at the end. */
	CHECK(!file_out_open(&out, "/dev/full"));
	file_out_write(&out, "x", 1);
	CHECK(!out.error);
	CHECK(file_out_close(&out) == -ENOSPC);
}

TEST(file_out_fifo)
{
	char got[4];
	int reader;

	CHECK(!mkfifo("fifo", 0600));
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	CHECK(reader >= 0);
	CHECK(!file_out_check("fifo"));
	CHECK(!write_file("fifo", "new", 3));
	CHECK(read(reader, got, sizeof(got)) == 3 && !memcmp(got, "new", 3));
	close(reader);
	CHECK_U64(names_in("."), 1);
}

TEST(file_out_stdout)
{
	int fd = open("out", O_WRONLY | O_CREAT, 0600);
	int saved = dup(STDOUT_FILENO);

	CHECK(fd >= 0 && saved >= 0);
	CHECK(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	close(fd);
	CHECK(!write_file(NULL, "text", 4));
	CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
	check_file("out", "text");
	/* "-" is stdout, too. */
	fd = open("out", O_WRONLY | O_TRUNC);
	CHECK(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	close(fd);
	CHECK(!file_out_check("-"));
	CHECK(!write_file("-", "dash", 4));
	CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
	close(saved);
	check_file("out", "dash");
	CHECK_U64(names_in("."), 1);
}

/* What cannot be written is said before, and again if it is tried. */
static void check_refused(const char *path, int error)
{
	struct file_out out;
	int got = file_out_check(path);

	if (got != error)
		unit_fail(__FILE__, __LINE__, "%.40s: check gives %d, not %d",
			  path, got, error);
	CHECK(file_out_open(&out, path) || write_file(path, "x", 1));
	file_out_close(&out);
}

TEST(file_out_refusals)
{
	unit_write_text("file", "");
	CHECK(!mkdir("d", 0700));
	check_refused("none/f", -ENOENT);
	check_refused("file/f", -ENOTDIR);
	check_refused("d", -EISDIR);
	check_refused(".", -EISDIR);
	check_refused("d/", -EISDIR);
	CHECK_U64(names_in("."), 2);
	CHECK_U64(names_in("d"), 0);
	CHECK(!symlink("loop", "loop"));
	check_refused("loop", -ELOOP);
	check_refused("new/", -EISDIR);
	CHECK_U64(names_in("."), 3);
}

/* options.c refuses it as well; but what is checked has to be what is done. */
TEST(file_out_empty_name)
{
	struct file_out out;
	int error;

	error = file_out_open(&out, "");
	if (error)
		file_out_close(&out);
	else
		error = file_out_close(&out);
	CHECK(error);
	CHECK(file_out_check("") == error);
	CHECK_U64(names_in("."), 0);
}

/* The longest name that a file can have; also the ones that are near it. */
TEST(file_out_long_names)
{
	char name[NAME_MAX + 2];

	for (size_t length = NAME_MAX - 20; length <= NAME_MAX + 1; length++) {
		struct file_out out;
		int checked, opened;

		memset(name, 'n', length);
		name[length] = '\0';
		checked = file_out_check(name);
		opened = file_out_open(&out, name);
		if (opened)
			file_out_close(&out);
		else
			opened = file_out_close(&out);
		if (checked != opened)
			unit_fail(__FILE__, __LINE__, "%zu bytes: check gives "
				  "%d, writing %d", length, checked, opened);
	}
}

/* What another user could have put there is not followed. */
TEST(file_out_beside_is_new)
{
	struct file_out out;
	struct stat status;

	CHECK(!file_out_open(&out, "f"));
	CHECK(out.beside && !lstat(out.beside, &status));
	CHECK(S_ISREG(status.st_mode));
	CHECK_U64(status.st_mode & 07777, 0600);
	CHECK_U64(status.st_size, 0);
	file_out_drop(&out);
	CHECK_U64(names_in("."), 0);
}

/* A process that ends in the midst of it leaves nothing. */
TEST(file_out_abandoned)
{
	struct file_out out;

	file_out_abandon();
	unit_write_text("f", "old");
	CHECK(!file_out_open(&out, "f"));
	file_out_write(&out, "new", 3);
	CHECK_U64(names_in("."), 2);
	file_out_abandon();
	CHECK_U64(names_in("."), 1);
	check_file("f", "old");
	file_out_drop(&out);
	/* And when it was whole, the file stays. */
	CHECK(!write_file("g", "x", 1));
	file_out_abandon();
	check_file("g", "x");
}

/* `> link` makes what the link leads to, and so does this. */
TEST(file_out_dangling_link)
{
	CHECK(!mkdir("d", 0700));
	CHECK(!symlink("d/new", "link"));
	CHECK(!symlink("link", "second"));
	CHECK(!file_out_check("second"));
	CHECK(!write_file("second", "new", 3));
	check_file("d/new", "new");
	CHECK_U64(names_in("."), 3);
	CHECK(!symlink("none/f", "bad"));
	check_refused("bad", -ENOENT);
}

/* Of the file that is replaced, but not what would be a right to others. */
TEST(file_out_keeps_owner)
{
	struct stat status;

	unit_write_text("f", "old");
	if (chown("f", 1234, 2345))
		return;		/* not root: nothing to be seen */
	CHECK(!chmod("f", 06755));
	CHECK(!write_file("f", "new", 3));
	CHECK(!stat("f", &status));
	CHECK_U64(status.st_uid, 1234);
	CHECK_U64(status.st_gid, 2345);
	CHECK_U64(status.st_mode & 07777, 0755);
}

/* `prof -o /dev/stdout > file`: behind what is there, not in its place. */
TEST(file_out_dev_stdout)
{
	int fd = open("out", O_WRONLY | O_CREAT, 0600);
	int saved = dup(STDOUT_FILENO);
	bool failed;

	CHECK(fd >= 0 && saved >= 0 && write(fd, "head\n", 5) == 5);
	CHECK(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	close(fd);
	failed = file_out_check("/dev/stdout") ||
		 write_file("/dev/stdout", "text", 4);
	CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
	close(saved);
	CHECK(!failed);
	check_file("out", "head\ntext");
	CHECK_U64(names_in("."), 1);
}

TEST(file_out_leaks_nothing)
{
	size_t before = unit_descriptors();

	write_file("f", "x", 1);
	write_file("f", "x", 1);
	write_file("none/f", "x", 1);
	write_file("/dev/full", "x", 1);
	CHECK_U64(unit_descriptors(), before);
}
