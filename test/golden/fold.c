/* SPDX-License-Identifier: MIT */
/*
 * fold: canned samples through the real profile and output code.
 *
 *	fold DIRECTORY [FORMAT]
 *
 * DIRECTORY/samples is text, a word and what it sets a line:
 *
 *	show kernel user idle	what is wanted of these; all by default
 *	depth 127		perf_event_max_stack
 *	kallsyms FILE		as with --kallsyms, a file of the directory
 *	drain			a new drain begins
 *	task TGID TID "COMM"	\xNN in the name stands for a byte
 *	slot N			of time
 *	kernel IP...		leaf first, hexadecimal; or none, lost,
 *	user IP...		collision, error
 *	count N			so many samples of all that was set
 *	sums			tell at the end, on stderr, what was counted
 *
 * DIRECTORY/kallsyms stands for /proc/kallsyms, if it is there, and
 * DIRECTORY/maps.PID for /proc/PID/maps.  The profile goes to stdout, as folded
 * lines or in another format, with what is said of the run made up.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "out/out.h"
#include "profile.h"
#include "test/unit/redirect.h"

/* A stack, or the word in its place. */
struct canned_stack {
	uint64_t ip[STACK_DEPTH], key;
	size_t depth;
};

static struct {
	unsigned int show;
	uint64_t depth;
	char *kallsyms;
	struct count_key key;
	struct canned_stack kernel, user;
	bool sums;
	struct profile *profile;
	struct meta meta;
} fold = { .show = SHOW_KERNEL | SHOW_USER | SHOW_IDLE, .depth = STACK_DEPTH };

static const char *file;
static int line_number;

_Noreturn static void bad(const char *what)
{
	fprintf(stderr, "fold: %s:%d: %s\n", file, line_number, what);
	exit(2);
}

static uint64_t number(const char *word, int base)
{
	uint64_t value;

	if (!word || !text_number(word, base, 0, UINT64_MAX, &value))
		bad("not a number");
	return value;
}

static char *path_in(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = malloc(size);

	if (!path)
		exit(2);
	snprintf(path, size, "%s/%s", directory, name);
	return path;
}

/* "COMM" with \xNN, cut as the kernel does it. */
static void set_comm(const char *p)
{
	size_t length = 0;

	if (!p || *p++ != '"')
		bad("no \"COMM\"");
	memset(fold.key.comm, 0, sizeof(fold.key.comm));
	while (*p && *p != '"') {
		char c = *p++;

		if (c == '\\' && p[0] == 'x' && p[1] && p[2]) {
			char digits[] = { p[1], p[2], '\0' };

			c = (char)number(digits, 16);
			p += 3;
		}
		if (length < sizeof(fold.key.comm) - 1)
			fold.key.comm[length++] = c;
	}
	if (*p != '"')
		bad("no \" at the end");
}

static void set_stack(struct canned_stack *stack)
{
	static const struct {
		const char *word;
		uint64_t key;
	} words[] = {
		{ "none", STACK_NONE }, { "lost", STACK_LOST },
		{ "collision", STACK_COLLIDED }, { "error", STACK_FAILED },
	};
	const char *word;

	stack->depth = 0;
	stack->key = STACK_FIRST;
	while ((word = strtok(NULL, " \t"))) {
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (!strcmp(word, words[i].word)) {
				stack->key = words[i].key;
				return;
			}
		if (stack->depth == STACK_DEPTH)
			bad("too deep");
		stack->ip[stack->depth++] = number(word, 16);
	}
	if (!stack->depth)
		bad("no addresses");
}

static void set_show(void)
{
	const char *word;

	fold.show &= SHOW_ADDRESSES;
	while ((word = strtok(NULL, " \t"))) {
		if (!strcmp(word, "kernel"))
			fold.show |= SHOW_KERNEL;
		else if (!strcmp(word, "user"))
			fold.show |= SHOW_USER;
		else if (!strcmp(word, "idle"))
			fold.show |= SHOW_IDLE;
		else
			bad("show what?");
	}
}

/* Settings come first: with the first sample the profile is made. */
static struct profile *profile(void)
{
	if (!fold.profile)
		fold.profile = profile_new(fold.show, fold.depth,
					   fold.kallsyms, (struct bytes){ 0 });
	return fold.profile;
}

static void add_samples(uint64_t samples)
{
	static uint64_t now;
	struct sample sample = { .key = fold.key };

	now += 1000;
	sample.count = (struct count){ samples, now, now + 1 };
	sample.key.kernel = fold.kernel.key;
	sample.key.user = fold.user.key;
	sample.kernel = fold.kernel.depth ? fold.kernel.ip : NULL;
	sample.kernel_depth = fold.kernel.depth;
	sample.user = fold.user.depth ? fold.user.ip : NULL;
	sample.user_depth = fold.user.depth;
	profile_add(profile(), &sample);
}

static void read_line(const char *directory, char *line)
{
	const char *word = strtok(line, " \t");

	if (!word || *word == '#')
		return;
	if (!strcmp(word, "task")) {
		fold.key.tgid = (uint32_t)number(strtok(NULL, " \t"), 10);
		fold.key.tid = (uint32_t)number(strtok(NULL, " \t"), 10);
		set_comm(strtok(NULL, ""));
	} else if (!strcmp(word, "slot")) {
		fold.key.slot = number(strtok(NULL, ""), 10);
	} else if (!strcmp(word, "kernel")) {
		set_stack(&fold.kernel);
	} else if (!strcmp(word, "user")) {
		set_stack(&fold.user);
	} else if (!strcmp(word, "count")) {
		add_samples(number(strtok(NULL, ""), 10));
	} else if (!strcmp(word, "drain")) {
		profile_round(profile());
	} else if (!strcmp(word, "show")) {
		set_show();
	} else if (!strcmp(word, "depth")) {
		fold.depth = number(strtok(NULL, ""), 10);
	} else if (!strcmp(word, "kallsyms")) {
		fold.kallsyms = path_in(directory, strtok(NULL, " \t"));
	} else if (!strcmp(word, "sums")) {
		fold.sums = true;
	} else {
		bad("not a word of a samples file");
	}
}

static void read_samples(const char *directory)
{
	char *path = path_in(directory, "samples"), *line = NULL;
	FILE *samples = fopen(path, "r");
	size_t size = 0;

	file = path;
	if (!samples)
		bad("cannot be read");
	while (getline(&line, &size, samples) >= 0) {
		line_number++;
		line[strcspn(line, "\n")] = '\0';
		read_line(directory, line);
	}
	fclose(samples);
	free(line);
	file = NULL;
	free(path);
}

/* What is in the directory takes the place of files of /proc. */
static void redirect_all(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;

	redirect("/proc/kallsyms", NULL);
	redirect("/proc/sys/kernel/kptr_restrict", NULL);
	while (entries && (entry = readdir(entries))) {
		char *path = path_in(directory, entry->d_name);
		char proc[300];

		if (!strcmp(entry->d_name, "kallsyms")) {
			redirect("/proc/kallsyms", path);
		} else if (!strncmp(entry->d_name, "maps.", 5)) {
			snprintf(proc, sizeof(proc), "/proc/%s/maps",
				 entry->d_name + 5);
			redirect(proc, path);
		}
		free(path);
	}
	if (entries)
		closedir(entries);
}

static void tell_sums(const struct profile *profile)
{
	const uint64_t *by_mode = profile->by_mode;

	fprintf(stderr, "user %llu kernel %llu idle %llu softirq %llu "
		"unknown %llu filtered %llu\n",
		(unsigned long long)by_mode[MODE_USER],
		(unsigned long long)by_mode[MODE_KERNEL],
		(unsigned long long)by_mode[MODE_IDLE],
		(unsigned long long)by_mode[MODE_SOFTIRQ],
		(unsigned long long)by_mode[MODE_UNKNOWN],
		(unsigned long long)profile->filtered);
}

static void make_meta(struct meta *meta)
{
	meta_set(&meta->program, "prof 0.1");
	meta_set(&meta->command, "prof -d 10 -- 'a \"b\"'");
	meta_set(&meta->host, "host");
	meta_set(&meta->kernel, "Linux 6.1 x86_64");
	meta_set(&meta->event, "cpu-clock");
	meta_set(&meta->type, "samples");
	meta_set(&meta->unit, "count");
	meta->clock = true;
	meta->hz = 99;
	meta->period = 10101010;
	meta->cpus = 2;
	meta->time = 1700000000000000000;
	meta->start = 500;
	meta->duration = 10000000000;
	meta->balanced = meta->foreseen = true;
	meta->sampled = meta->expected = 1980;
	meta_note(meta, "10.00 s on 2 CPUs");
	meta_warning(meta, "a warning");
	meta_advice(meta, "what to do");
}

int main(int argc, char **argv)
{
	const struct out_format *format = out_named(argc > 2 ? argv[2] :
						    "folded");
	int failed;

	if (argc < 2 || argc > 3 || !format) {
		fprintf(stderr, "usage: fold DIRECTORY [FORMAT]\n");
		return 2;
	}
	fold.show |= format->show;
	make_meta(&fold.meta);
	redirect_all(argv[1]);
	read_samples(argv[1]);
	failed = profile_check(profile());
	if (!failed) {
		profile_name(fold.profile);
		failed = out_write(fold.profile, &fold.meta, format, NULL);
	}
	if (fold.sums)
		tell_sums(fold.profile);
	profile_free(fold.profile);
	meta_free(&fold.meta);
	free(fold.kallsyms);
	return failed ? 1 : 0;
}
