/* SPDX-License-Identifier: MIT */
#ifndef TEST_FAULTS_DRIVE_H
#define TEST_FAULTS_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/advice.h"

enum { ARGS_MOST = 20, NAME_SIZE = 80, WHY_SIZE = 240 };

/* In place of an errno. */
enum { MOVE_ONE_BYTE = -1, END_OF_FILE = -2 };

/* Which errors a call can have, and what may come of it: rules.h. */
struct rule {
	const char *call, *errors;
	int advice_on;		/* enum advice_on, or NO_ADVICE */
};

enum { NO_ADVICE = -1 };

/* How the product is called; words in capitals are filled in. */
struct kind {
	const char *name, *faults;	/* faults that are there all the time */
	const char *args[ARGS_MOST];
	bool file;		/* -o, else standard output */
	bool in_place;		/* a half file cannot be avoided, but is said */
	bool spinner;		/* is sampled for certain */
	bool nowhere;		/* the output cannot be read */
	const char *calls;	/* only those that begin so, but always */
};

extern const struct kind kinds[];

struct job {
	int kind, error;
	unsigned long nth;
	const struct rule *rule;
	char name[NAME_SIZE];
	bool may_be_silent;
};

enum outcome { NOT_STRUCK, FAILED, WARNED, SILENT, WRONG, OUTCOMES };

struct result {
	enum outcome outcome;
	char why[WHY_SIZE];
};

/* What one run left. */
struct run {
	int status;		/* of wait(2) */
	bool late, left_running;
	char *err, *out, *report;
};

/*
 * Whether this is as it has to be (judge.c).  Looks also at what is left in the
 * directory, and removes it.
 */
struct result judge(const struct run *run, const struct job *job);

/* The same of a run without a fault, with which others are compared. */
struct result judge_plain(const struct run *run, const struct job *job);

/* texts.c */
char *read_file(const char *path);
void write_file(const char *path, const char *text);
const char *error_name(int error);
int error_number(const char *name, size_t length);

/* The first line from `text` on that begins so, or NULL. */
const char *line_with(const char *text, const char *begin);
int count_lines(const char *text, const char *begin);

#endif
