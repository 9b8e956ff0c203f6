/* SPDX-License-Identifier: MIT */
/* out: the table of output formats, and the writing of a file in one. */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "out/folded.h"
#include "out/html.h"
#include "out/out.h"
#include "out/perf_script.h"
#include "out/pprof.h"
#include "out/report.h"
#include "out/speedscope.h"
#include "out/svg.h"
#include "sys/system.h"

static const struct out_format out_formats[] = {
	{ "folded", ".folded|.txt", 0, out_folded },
	{ "report", ".report", 0, out_report },
	{ "html", ".html|.htm", 0, out_html },
	{ "svg", ".svg", 0, out_svg },
	{ "pprof", ".pb.gz|.pprof", SHOW_ADDRESSES, out_pprof },
	{ "pprof-raw", ".pb", SHOW_ADDRESSES, out_pprof_raw },
	{ "speedscope", ".speedscope.json", 0, out_speedscope },
	{ "perf", ".perf", SHOW_ADDRESSES, out_perf_script },
};

const char out_names[] = "folded report html svg pprof pprof-raw speedscope "
			 "perf";

enum { OUT_FORMATS = sizeof(out_formats) / sizeof(*out_formats) };

const struct out_format *out_named(const char *name)
{
	for (size_t i = 0; i < OUT_FORMATS; i++)
		if (!strcmp(out_formats[i].name, name))
			return &out_formats[i];
	return NULL;
}

/* Whether `path` ends with one of `endings`. */
static int has_ending(const char *path, const char *endings)
{
	size_t length = strlen(path);

	while (*endings) {
		size_t size = strcspn(endings, "|");

		if (length > size &&
		    !memcmp(path + length - size, endings, size))
			return 1;
		endings += size;
		endings += *endings == '|';
	}
	return 0;
}

const struct out_format *out_for_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;

	for (size_t i = 0; i < OUT_FORMATS; i++)
		if (has_ending(file, out_formats[i].endings))
			return &out_formats[i];
	return strchr(file, '.') ? NULL : &out_formats[0];
}

void out_endings(struct text *text)
{
	for (size_t i = 0; i < OUT_FORMATS; i++)
		text_format(text, "%s%s", i ? "|" : "",
			    out_formats[i].endings);
}

static const char *why_not(int error)
{
	switch (error) {
	case -EPIPE:
		return "whoever should read it has gone; -o FILE keeps it";
	case -ENOSPC:
	case -EDQUOT:
		return "give -o a file on a disk with room";
	case -EROFS:
	case -EACCES:
		return "give -o a file in a directory that can be written";
	default:
		return NULL;
	}
}

int out_write(const struct profile *profile, const struct meta *meta,
	      const struct out_format *format, const char *path)
{
	struct file_out out;
	int error = file_out_open(&out, path);

	if (!error)
		format->write(profile, meta, &out);
	error = file_out_close(&out);
	if (!error)
		return 0;
	log_error("%s: write: %s", path ? path : "stdout",
		  system_strerror(error));
	if (why_not(error))
		log_advice("%s", why_not(error));
	return error;
}
