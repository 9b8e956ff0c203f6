/* SPDX-License-Identifier: MIT */
/* unit: runs the tests, each in its own process and directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded.h"
#include "test/unit/unit.h"

enum { SECONDS_MOST = 120, STATUS_FAILED = 42 };

static struct unit_test {
	const char *name;
	unit_fn *run;
} *unit_tests;
static size_t unit_count;
static const char *unit_now;	/* the test that runs */

void unit_add(const char *name, unit_fn *run)
{
	unit_tests = realloc(unit_tests,
			     (unit_count + 1) * sizeof(*unit_tests));
	if (!unit_tests)
		abort();
	unit_tests[unit_count++] = (struct unit_test){ name, run };
}

void unit_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("FAIL %s: %s:%d: ", unit_now, file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(STATUS_FAILED);
}

void unit_same_u64(const char *file, int line, const char *what, uint64_t got,
		   uint64_t want)
{
	if (got != want)
		unit_fail(file, line, "%s is %llu (0x%llx), not %llu (0x%llx)",
			  what, (unsigned long long)got,
			  (unsigned long long)got, (unsigned long long)want,
			  (unsigned long long)want);
}

/* Control bytes and what is not ASCII as \xNN: to a terminal, maybe. */
static char *shown(const char *text)
{
	char *copy = malloc(text ? 4 * strlen(text) + 3 : 8), *p = copy;

	if (!copy)
		abort();
	if (!text)
		return strcpy(copy, "NULL");
	*p++ = '"';
	for (; *text; text++)
		p += sprintf(p, (unsigned char)*text < ' ' ||
			     (unsigned char)*text > '~' ? "\\x%02x" : "%c",
			     (unsigned char)*text);
	strcpy(p, "\"");
	return copy;
}

void unit_same_text(const char *file, int line, const char *what,
		    const char *got, const char *want)
{
	if (got && want ? !strcmp(got, want) : got == want)
		return;
	unit_fail(file, line, "%s is %s, not %s", what, shown(got),
		  shown(want));
}

const char *unit_messages(void)
{
	static char text[65536];
	static off_t from;
	ssize_t got = pread(STDERR_FILENO, text, sizeof(text) - 1, from);

	if (got < 0)
		got = 0;
	from += got;
	text[got] = '\0';
	return text;
}

void unit_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	CHECK(file);
	CHECK_U64(fwrite(data, 1, size, file), size);
	CHECK(!fclose(file));
}

void unit_write_text(const char *path, const char *text)
{
	unit_write(path, text, strlen(text));
}

char *unit_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	size_t length = 0, got;
	char *data = malloc(4097);

	CHECK(data);
	if (!file) {
		free(data);
		return NULL;
	}
	while ((got = fread(data + length, 1, 4096, file)) > 0) {
		length += got;
		data = realloc(data, length + 4097);
		CHECK(data);
	}
	fclose(file);
	data[length] = '\0';
	if (size)
		*size = length;
	return data;
}

size_t unit_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* splitmix64 */
uint64_t unit_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct bytes unit_fenced(const void *data, size_t size)
{
	static uint8_t *area;
	static size_t room;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *end;

	if (size > room || !area) {
		if (area)
			munmap(area, room + page);
		room = (size + 2 * page - 1) / page * page;
		area = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(area != MAP_FAILED);
		CHECK(!mprotect(area + room, page, PROT_NONE));
	}
	end = area + room;
	if (size)
		memcpy(end - size, data, size);
	return (struct bytes){ end - size, size };
}

struct bytes unit_object(void)
{
	return embedded_object();
}

/* ------------------------------------------------------------- the runner */

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

/* The end of it: some tests provoke thousands of messages. */
static void show_file(const char *path)
{
	char data[4096];
	ssize_t got;
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && lseek(fd, -8192, SEEK_END) < 0)
		lseek(fd, 0, SEEK_SET);
	while (fd >= 0 && (got = read(fd, data, sizeof(data))) > 0)
		if (write(STDERR_FILENO, data, (size_t)got) < 0)
			break;
	if (fd >= 0)
		close(fd);
}

_Noreturn static void run_child(const struct unit_test *test,
				const char *messages)
{
	int fd = open(messages, O_RDWR | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || close(fd) ||
	    mkdir(test->name, 0700) || chdir(test->name))
		exit(1);
	umask(022);
	alarm(SECONDS_MOST);
	test->run();
	exit(0);
}

static bool run(const struct unit_test *test)
{
	char messages[300];
	int status = 0;
	pid_t child;

	snprintf(messages, sizeof(messages), "%s.stderr", test->name);
	unit_now = test->name;
	fflush(stdout);
	child = fork();
	if (!child)
		run_child(test, messages);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		printf("FAIL %s: fork: %s\n", test->name, strerror(errno));
	else if (!status)
		printf("ok %s\n", test->name);
	else if (WIFSIGNALED(status))
		printf("FAIL %s: signal %d%s\n", test->name, WTERMSIG(status),
		       WTERMSIG(status) == SIGALRM ? ": took too long" : "");
	else if (WEXITSTATUS(status) != STATUS_FAILED)
		printf("FAIL %s: exit status %d\n", test->name,
		       WEXITSTATUS(status));
	fflush(stdout);
	if (status || child < 0)
		show_file(messages);
	return !status && child > 0;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	if (argc < 2)
		return true;
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char directory[300];
	size_t ran = 0, failed = 0;

	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (size_t i = 0; i < unit_count; i++)
			puts(unit_tests[i].name);
		return 0;
	}
	snprintf(directory, sizeof(directory), "%s/unit.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(directory) || chdir(directory)) {
		fprintf(stderr, "unit: %s: %s\n", directory, strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < unit_count; i++) {
		if (!is_wanted(unit_tests[i].name, argc, argv))
			continue;
		ran++;
		failed += !run(&unit_tests[i]);
	}
	if (chdir("/") || nftw(directory, remove_one, 16,
			       FTW_DEPTH | FTW_PHYS))
		fprintf(stderr, "unit: %s: not removed\n", directory);
	free(unit_tests);
	printf("%zu tests, %zu failed\n", ran, failed);
	return failed || !ran ? 1 : 0;
}
