/* SPDX-License-Identifier: MIT */
/*
 * options: one table says which options there are; parsing and --help read it,
 * and so do what prints the shells' completions and the man page's list.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "options.h"
#include "out/out.h"
#include "sampler.h"
#include "sys/cpus.h"

/* --------------------------------------------------- one setter per option */

static const char *set_cpus(struct options *options, const char *argument)
{
	struct cpus cpus = { 0 };

	if (cpus_parse(&cpus, argument))
		return "not a list like 0-3,6";
	cpus_free(&cpus);
	options->cpus = argument;
	return NULL;
}

/* "12,34" to the end of a growing array. */
static const char *add_numbers(const char *list, uint32_t **numbers,
			       size_t *count, size_t *capacity)
{
	if (!*list)
		return "is empty";
	while (*list) {
		size_t length = strcspn(list, ",");
		char digits[16];
		uint64_t number;

		if (length >= sizeof(digits))
			return "not a list of numbers like 12,34";
		memcpy(digits, list, length);
		digits[length] = '\0';
		if (!text_number(digits, 10, 1, INT32_MAX, &number))
			return "not a list of numbers like 12,34";
		*numbers = memory_grow(*numbers, capacity, *count + 1,
				       sizeof(**numbers));
		(*numbers)[(*count)++] = (uint32_t)number;
		list += length;
		if (*list && !*++list)
			return "ends with a comma";
	}
	return NULL;
}

static const char *set_pid(struct options *options, const char *argument)
{
	return add_numbers(argument, &options->pids, &options->pid_count,
			   &options->pid_capacity);
}

static const char *set_tid(struct options *options, const char *argument)
{
	return add_numbers(argument, &options->tids, &options->tid_count,
			   &options->tid_capacity);
}

static const char *set_cgroup(struct options *options, const char *argument)
{
	options->cgroup = argument;
	return *argument ? NULL : "is empty";
}

static const char *set_kernel(struct options *options, const char *argument)
{
	(void)argument;
	options->kernel = true;
	return NULL;
}

static const char *set_user(struct options *options, const char *argument)
{
	(void)argument;
	options->user = true;
	return NULL;
}

static const char *set_no_idle(struct options *options, const char *argument)
{
	(void)argument;
	options->no_idle = true;
	return NULL;
}

static const char *set_frequency(struct options *options, const char *argument)
{
	return text_number(argument, 10, 1, SAMPLER_HZ_MOST, &options->hz) ?
	       NULL : "not a number of Hz from 1 to 100000";
}

static const char *set_event(struct options *options, const char *argument)
{
	return event_find(argument, &options->event) ? NULL :
	       "no such event, or N is not possible with it";
}

static const char *set_duration(struct options *options, const char *argument)
{
	return text_seconds(argument, &options->duration) &&
	       options->duration ? NULL :
	       "not a number of seconds above 0, or too many";
}

static const char *set_memory(struct options *options, const char *argument)
{
	uint64_t megabytes;

	if (!text_number(argument, 10, 1, 65536, &megabytes))
		return "not a number of MB from 1 to 65536";
	options->memory = megabytes << 20;
	return NULL;
}

/* In the order of enum option_engine. */
static const char engine_names[] = "auto hash stackid";
static const char unwind_names[] = "auto fp cfi";

/* Which of the words in `names` the argument is, or -1. */
static int position_of(const char *names, const char *argument)
{
	size_t size = strlen(argument), length;

	for (int i = 0; *names; i++) {
		length = strcspn(names, " ");
		if (length == size && !memcmp(names, argument, size))
			return i;
		names += length + (names[length] == ' ');
	}
	return -1;
}

static const char *set_engine(struct options *options, const char *argument)
{
	int position = position_of(engine_names, argument);

	if (position < 0)
		return "no such engine";
	options->engine = (enum option_engine)position;
	return NULL;
}

static const char *set_unwind(struct options *options, const char *argument)
{
	int position = position_of(unwind_names, argument);

	if (position < 0)
		return "no such way";
	options->unwind = (enum option_unwind)position;
	return NULL;
}

static const char *set_kallsyms(struct options *options, const char *argument)
{
	options->kallsyms = argument;
	return NULL;
}

static const char *set_output(struct options *options, const char *argument)
{
	if (!*argument)
		return "is empty";
	if (!out_for_file(argument))
		return "no output format has this ending";
	options->outputs = memory_grow(options->outputs,
				       &options->output_capacity,
				       options->output_count + 1,
				       sizeof(*options->outputs));
	options->outputs[options->output_count++] = argument;
	return NULL;
}

static const char *set_format(struct options *options, const char *argument)
{
	options->format = argument;
	return out_named(argument) ? NULL : "no such format";
}

static const char *set_no_demangle(struct options *options,
				   const char *argument)
{
	(void)argument;
	options->no_demangle = true;
	return NULL;
}

static const char *set_read(struct options *options, const char *argument)
{
	options->read = argument;
	return *argument ? NULL : "is empty";
}

/* The other file is the next word: options_parse() takes it. */
static const char *set_diff(struct options *options, const char *argument)
{
	options->old = argument;
	return *argument ? NULL : "is empty";
}

static const char *set_quiet(struct options *options, const char *argument)
{
	(void)argument;
	options->quiet = true;
	return NULL;
}

static const char *set_verbose(struct options *options, const char *argument)
{
	(void)argument;
	options->verbose = true;
	return NULL;
}

static const char *set_explain(struct options *options, const char *argument)
{
	(void)argument;
	options->explain++;
	return NULL;
}

static const char *set_check(struct options *options, const char *argument)
{
	(void)argument;
	options->check = true;
	return NULL;
}

static const char *set_help(struct options *options, const char *argument)
{
	(void)argument;
	options->help = true;
	return NULL;
}

static const char *set_version(struct options *options, const char *argument)
{
	(void)argument;
	options->version = true;
	return NULL;
}

static const struct option_row option_rows[] = {
	{ 'p', "pid", "PID,...", "these processes and what they start",
	  set_pid, NULL },
	{ 't', "tid", "TID,...", "these threads", set_tid, NULL },
	{ 256, "cgroup", "PATH", "tasks of this cgroup (v2) and below",
	  set_cgroup, NULL },
	{ 'C', "cpu", "LIST", "only these CPUs, as in 0-3,6", set_cpus, NULL },
	{ 'K', "kernel", NULL, "only kernel stacks", set_kernel, NULL },
	{ 'U', "user", NULL, "only user stacks", set_user, NULL },
	{ 257, "no-idle", NULL, "leave the idle task out", set_no_idle, NULL },
	{ 'F', "frequency", "HZ", "samples a second on each CPU (99)",
	  set_frequency, NULL },
	{ 'e', "event", "NAME[/N]", "what is sampled (cpu-clock); every N of it",
	  set_event, event_names },
	{ 'd', "duration", "SECONDS", "stop by itself; else Ctrl-C, or the command's end",
	  set_duration, NULL },
	{ 258, "memory", "MB", "most that the kernel's maps may take (64)",
	  set_memory, NULL },
	{ 260, "engine", "NAME", "auto, hash or stackid (the textbook's)",
	  set_engine, engine_names },
	{ 263, "unwind", "NAME", "user stacks: auto, fp (pointers), cfi (tables)",
	  set_unwind, unwind_names },
	{ 259, "kallsyms", "FILE", "kernel symbols, instead of asking the kernel",
	  set_kallsyms, NULL },
	{ 'o', "output", "FILE", "write there, not to stdout; repeatable",
	  set_output, NULL },
	{ 'f', "format", "NAME", "of stdout; report on a terminal, else folded",
	  set_format, out_names },
	{ 262, "no-demangle", NULL, "names as they are in the files",
	  set_no_demangle, NULL },
	{ 264, "read", "FILE", "a recording (folded, pprof), not this machine",
	  set_read, NULL },
	{ 265, "diff", "OLD NEW", "what changed between two recordings",
	  set_diff, NULL },
	{ 'x', "explain", NULL, "tell each call on BPF and perf events; -xx: more",
	  set_explain, NULL },
	{ 261, "check", NULL, "what this machine allows, and the remedies",
	  set_check, NULL },
	{ 'q', "quiet", NULL, "only errors on stderr", set_quiet, NULL },
	{ 'v', "verbose", NULL, "also what was planned and what it cost",
	  set_verbose, NULL },
	{ 'h', "help", NULL, "this text", set_help, NULL },
	{ 'V', "version", NULL, "version and what is built in",
	  set_version, NULL },
};

enum { OPTION_ROWS = sizeof(option_rows) / sizeof(*option_rows) };

const struct option_row *options_row(size_t i)
{
	return i < OPTION_ROWS ? &option_rows[i] : NULL;
}

/* -------------------------------------------------------------- parsing */

/* The table in the form that getopt_long(3) wants. */
static void make_getopt_tables(char *letters, struct option *longs)
{
	/*
	 * '+': what follows the command is the command's.  ':': tell a missing
	 * argument from an unknown option.
	 */
	*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *row = &option_rows[i];

		longs[i] = (struct option){
			.name = row->name,
			.has_arg = row->argument ? required_argument :
				   no_argument,
			.val = row->letter,
		};
		if (row->letter < 256) {
			*letters++ = (char)row->letter;
			if (row->argument)
				*letters++ = ':';
		}
	}
	*letters = '\0';
	longs[OPTION_ROWS] = (struct option){ 0 };
}

static int usage_error(const char *object, const char *why)
{
	log_error("%s: option: %s", object, why);
	log_advice("prof --help lists the options");
	return -EINVAL;
}

static bool is_for_sampling(int letter)
{
	/* --cgroup, --memory, --kallsyms, --engine, --no-demangle, --unwind */
	static const int letters[] = {
		'p', 't', 'C', 'F', 'e', 'd', 256, 258, 259, 260, 262, 263,
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i] == letter)
			return true;
	return false;
}

static int set_one(struct options *options, int letter, const char *argument)
{
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const char *why;
		char object[300];

		if (option_rows[i].letter != letter)
			continue;
		if (is_for_sampling(letter))
			options->sampling = option_rows[i].name;
		why = option_rows[i].set(options, argument);
		if (!why)
			return 0;
		snprintf(object, sizeof(object), "--%s %s",
			 option_rows[i].name, argument);
		usage_error(object, why);
		if (option_rows[i].set == set_output) {
			struct text text = { 0 };

			out_endings(&text);
			log_advice("known endings: %s", text.data);
			text_free(&text);
		}
		if (option_rows[i].words)
			log_advice("there is: %s", option_rows[i].words);
		return -EINVAL;
	}
	return -EINVAL;
}

static bool is_letter_of_ours(int letter)
{
	for (size_t i = 0; i < OPTION_ROWS; i++)
		if (option_rows[i].letter == letter)
			return true;
	return false;
}

/*
 * What getopt_long(3) did not understand: of a letter it says which, also in
 * the midst of a word; of a long option only that it was in the last word.
 */
static int not_understood(int letter, int argc, char **argv)
{
	/* Some libcs step beyond the end for a missing argument. */
	const char *word = argv[optind > argc ? argc - 1 : optind - 1];
	char short_form[] = { '-', (char)optopt, '\0' };
	bool is_long = !strncmp(word, "--", 2);

	if (letter == ':')
		return usage_error(is_long || optopt > 255 ? word : short_form,
				   "wants an argument");
	if (is_long && is_letter_of_ours(optopt))
		return usage_error(word, "takes no argument");
	if (optopt > 0 && optopt < 256)
		return usage_error(short_form, "not known");
	return usage_error(word, "not known");
}

/* --diff has a second argument, which getopt_long(3) knows nothing of. */
static int take_second(struct options *options, int argc, char **argv)
{
	const char *word = optind < argc ? argv[optind] : NULL;

	if (!options->old || options->new)
		return 0;
	if (!word || !*word || (word[0] == '-' && word[1]))
		return usage_error("--diff", "wants two files, OLD and NEW");
	options->new = word;
	optind++;
	return 0;
}

/* What there is to be sampled, and how, says nothing about a recording. */
static int check_recording(const struct options *options)
{
	const char *option = options->read ? "--read" : "--diff";

	if (!options->read && !options->old)
		return 0;
	if (options->read && options->old)
		return usage_error("--read", "not together with --diff");
	if (options->command)
		return usage_error(option, "a recording, or a command");
	if (options->sampling) {
		char object[64];

		snprintf(object, sizeof(object), "--%s", options->sampling);
		return usage_error(object, "is for sampling, not for a "
				   "recording");
	}
	return 0;
}

/* It tries everything, and nothing is sampled. */
static int check_check(const struct options *options)
{
	if (!options->check)
		return 0;
	if (options->sampling || options->command || options->output_count ||
	    options->format || options->read || options->old)
		return usage_error("--check", "stands alone, or with -x");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	char letters[2 * OPTION_ROWS + 3];
	struct option longs[OPTION_ROWS + 1];
	const char *argument = NULL;	/* of the option before */
	int letter;

	*options = (struct options){ .hz = 99, .memory = 64 << 20,
				     .words = argv };
	event_find("cpu-clock", &options->event);
	make_getopt_tables(letters, longs);
	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, longs, NULL)) >= 0) {
		if (letter == '?' || letter == ':')
			return not_understood(letter, argc, argv);
		if (set_one(options, letter, optarg))
			return -EINVAL;
		argument = optarg;
		if (take_second(options, argc, argv))
			return -EINVAL;
	}
	if (optind < argc) {
		/* "--" can also be an option's argument. */
		if (strcmp(argv[optind - 1], "--") ||
		    argv[optind - 1] == argument)
			return usage_error(argv[optind], "not an option; a "
					   "command comes after --");
		options->command = argv + optind;
	} else if (optind > 1 && !strcmp(argv[optind - 1], "--") &&
		   argv[optind - 1] != argument) {
		return usage_error("--", "wants a command");
	}
	if (options->command && (options->pid_count || options->tid_count ||
				 options->cgroup))
		return usage_error("--", "a command, or -p, -t or --cgroup");
	if (check_recording(options) || check_check(options))
		return -EINVAL;
	options->event.hz = options->hz;
	if (options->quiet && (options->verbose || options->explain))
		return usage_error("-q", "not together with -v or -x");
	return 0;
}

void options_free(struct options *options)
{
	free(options->outputs);
	free(options->pids);
	free(options->tids);
	*options = (struct options){ 0 };
}

void options_help(struct text *text)
{
	text_format(text, "usage: prof [options] [-- command [argument ...]]\n"
		    "Samples where the CPUs spend their time and tells: "
		    "a report on a terminal,\nfolded stacks in a pipe, "
		    "other formats in files.\n\n");
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		const char *argument = row->argument ? row->argument : "";
		char left[40];

		if (row->letter < 256)
			snprintf(left, sizeof(left), "-%c, --%s %s",
				 row->letter, row->name, argument);
		else
			snprintf(left, sizeof(left), "    --%s %s", row->name,
				 argument);
		text_format(text, "  %-26s %s\n", left, row->help);
	}
	text_format(text, "\nExamples: sudo prof        sudo prof -d 10 -o out.html\n"
		    "More: man prof\n");
}
