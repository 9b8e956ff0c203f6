/* SPDX-License-Identifier: MIT */
/*
 * identity: who a process is.
 *
 *	/proc/PID/status	Uid:    real effective saved file-system
 *				NSpid:  ours ... innermost
 *	/proc/PID/stat		PID (COMM) S 4 5 ... 22: start, in 1/100 s
 *
 * COMM can hold any bytes, so numbers are counted from the last `)`.
 *
 * Sources: man 5 proc_pid_status, man 5 proc_pid_stat.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "proc/identity.h"

enum { TICK_NS = 10000000, START_FIELD = 22 };

/* The last number of a line, or its field `wanted` (1: the first). */
static uint32_t number_of(const char *text, int wanted)
{
	uint32_t number = 0;

	for (int field = 1;; field++) {
		char *end;
		unsigned long value = strtoul(text, &end, 10);

		if (end == text)
			return number;
		number = (uint32_t)value;
		if (field == wanted)
			return number;
		text = end;
	}
}

static int read_status(uint32_t tgid, struct identity *identity)
{
	struct lines lines;
	char path[48], *line;
	int error;
	bool owned = false;

	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	error = lines_open(&lines, path);
	if (error)
		return error;
	while ((line = lines_next(&lines))) {
		if (!strncmp(line, "Uid:", 4)) {
			identity->uid = number_of(line + 4, 2);
			owned = true;
		} else if (!strncmp(line, "NSpid:", 6)) {
			identity->inner = number_of(line + 6, 0);
		}
	}
	error = lines.error;
	lines_close(&lines);
	return error ? error : owned ? 0 : -ESRCH;
}

static int read_start(uint32_t tgid, uint64_t *started)
{
	struct lines lines;
	char path[48], *line, *end = NULL;
	int error, field = 2;

	snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
	error = lines_open(&lines, path);
	if (error)
		return error;
	/* A newline in COMM makes it several lines; the numbers are in the last. */
	error = -ESRCH;
	while ((line = lines_next(&lines))) {
		end = strrchr(line, ')');
		for (field = 2; end && field < START_FIELD; field++)
			end = strchr(end + 1, ' ');
		if (!end)
			continue;
		*started = strtoull(end, NULL, 10) * TICK_NS;
		error = 0;
	}
	lines_close(&lines);
	return error;
}

int identity_read(uint32_t tgid, struct identity *identity)
{
	int error;

	*identity = (struct identity){ .inner = tgid };
	error = read_status(tgid, identity);
	return error ? error : read_start(tgid, &identity->started);
}
