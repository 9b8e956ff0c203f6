/* SPDX-License-Identifier: MIT */
/* redirect: other files for /proc and /sys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "sys/regular.h"
#include "test/unit/redirect.h"

enum { REDIRECTS_MOST = 64 };

static struct {
	char *path, *instead;
} redirects[REDIRECTS_MOST];

int redirect_numbers;
bool redirect_real_files;

int __wrap_namespace_check_proc(void);
int __real_regular_open(int root, const char *path);
int __wrap_regular_open(int root, const char *path);
int __real_lines_open(struct lines *lines, const char *path);
int __wrap_lines_open(struct lines *lines, const char *path);
int __real_file_read_text(const char *path, char *text, size_t size);
int __wrap_file_read_text(const char *path, char *text, size_t size);

void redirect(const char *path, const char *instead)
{
	for (size_t i = 0; i < REDIRECTS_MOST; i++) {
		if (redirects[i].path && strcmp(redirects[i].path, path))
			continue;
		if (!redirects[i].path)
			redirects[i].path = strdup(path);
		free(redirects[i].instead);
		redirects[i].instead = instead ? strdup(instead) : NULL;
		return;
	}
	abort();
}

static const char *redirected(const char *path)
{
	for (size_t i = 0; i < REDIRECTS_MOST && redirects[i].path; i++)
		if (!strcmp(redirects[i].path, path))
			return redirects[i].instead;
	return path;
}

int __wrap_namespace_check_proc(void)
{
	return redirect_numbers;
}

int __wrap_regular_open(int root, const char *path)
{
	const char *instead = redirected(path);

	if (redirect_real_files)
		return __real_regular_open(root, path);
	return instead && instead != path ? __real_regular_open(-1, instead) :
	       -ENOENT;
}

int __wrap_lines_open(struct lines *lines, const char *path)
{
	path = redirected(path);
	if (path)
		return __real_lines_open(lines, path);
	*lines = (struct lines){ .fd = -1 };
	return -ENOENT;
}

int __wrap_file_read_text(const char *path, char *text, size_t size)
{
	path = redirected(path);
	return path ? __real_file_read_text(path, text, size) : -ENOENT;
}
