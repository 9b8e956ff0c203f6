/* SPDX-License-Identifier: MIT */
/* The command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "options.h"
#include "test/unit/unit.h"

enum { WORDS_MOST = 16 };

static struct options options;
static char *words[WORDS_MOST + 1];

/* Parses copies of these words, of which each ends where its memory ends. */
static int parse(char *const *argv)
{
	int argc = 0;

	options_free(&options);
	for (int i = 0; i < WORDS_MOST; i++) {
		free(words[i]);
		words[i] = NULL;
	}
	for (; argv[argc]; argc++)
		words[argc] = strdup(argv[argc]);
	optind = 0;	/* getopt(3) begins anew, in glibc and in musl */
	return options_parse(&options, argc, words);
}

#define PARSE(...) parse((char *const[]){ "prof", __VA_ARGS__, NULL })

static void done(void)
{
	options_free(&options);
	for (int i = 0; i < WORDS_MOST; i++)
		free(words[i]);
}

TEST(options_defaults)
{
	CHECK(!parse((char *const[]){ "prof", NULL }));
	CHECK_U64(options.hz, 99);
	CHECK_U64(options.duration, 0);
	CHECK_U64(options.memory, 64 << 20);
	CHECK(!options.cpus && !options.kallsyms && !options.format);
	CHECK(!options.output_count);
	CHECK(!options.kernel && !options.user && !options.no_idle);
	CHECK(!options.quiet && !options.verbose);
	CHECK(!options.help && !options.version);
	CHECK_TEXT(unit_messages(), "");
	done();
}

TEST(options_short)
{
	CHECK(!PARSE("-C", "0-3,6", "-K", "-F", "49", "-d", "2.5", "-o",
		     "a.folded", "-o", "b", "-f", "folded", "-q"));
	CHECK_TEXT(options.cpus, "0-3,6");
	CHECK(options.kernel && !options.user);
	CHECK_U64(options.hz, 49);
	CHECK_U64(options.duration, 2500000000);
	CHECK_U64(options.output_count, 2);
	CHECK_TEXT(options.outputs[0], "a.folded");
	CHECK_TEXT(options.outputs[1], "b");
	CHECK_TEXT(options.format, "folded");
	CHECK(options.quiet);
	CHECK(!PARSE("-KUv", "-F49", "-d1", "-C0", "-ox"));
	CHECK(options.kernel && options.user && options.verbose);
	CHECK_U64(options.hz, 49);
	CHECK_U64(options.duration, 1000000000);
	CHECK_TEXT(options.cpus, "0");
	CHECK_TEXT(options.outputs[0], "x");
	done();
}

TEST(options_long)
{
	CHECK(!PARSE("--cpu=1", "--kernel", "--user", "--no-idle",
		     "--frequency=1000", "--duration", "10", "--memory=128",
		     "--kallsyms=k", "--output", "x.txt", "--format=folded",
		     "--verbose"));
	CHECK_TEXT(options.cpus, "1");
	CHECK(options.kernel && options.user && options.no_idle);
	CHECK_U64(options.hz, 1000);
	CHECK_U64(options.duration, 10000000000);
	CHECK_U64(options.memory, 128ull << 20);
	CHECK_TEXT(options.kallsyms, "k");
	CHECK_TEXT(options.outputs[0], "x.txt");
	CHECK(options.verbose && !options.quiet);
	CHECK(!PARSE("--help"));
	CHECK(options.help);
	CHECK(!PARSE("-h"));
	CHECK(options.help);
	CHECK(!PARSE("--version"));
	CHECK(options.version);
	CHECK(!PARSE("-V"));
	CHECK(options.version);
	CHECK_TEXT(unit_messages(), "");
	done();
}

TEST(options_bounds)
{
	CHECK(!PARSE("-F", "1"));
	CHECK(!PARSE("-F", "100000"));
	CHECK_U64(options.hz, 100000);
	CHECK(!PARSE("--memory", "1"));
	CHECK(!PARSE("--memory", "65536"));
	CHECK_U64(options.memory, 65536ull << 20);
	CHECK(!PARSE("-d", "0.001"));
	CHECK_U64(options.duration, 1000000);
	/* The last one counts. */
	CHECK(!PARSE("-F", "1", "-F", "2"));
	CHECK_U64(options.hz, 2);
	CHECK(!PARSE("--"));
	done();
}

/* Refused: -EINVAL, one message with the option in it, one of advice. */
static void check_refused(char *const *argv, const char *object)
{
	const char *text;

	unit_messages();
	if (parse(argv) != -EINVAL)
		unit_fail(__FILE__, __LINE__, "%s %s is taken", argv[1],
			  argv[2] ? argv[2] : "");
	text = unit_messages();
	if (strncmp(text, "prof: ", 6) || !strstr(text, object) ||
	    !strstr(text, "\n      "))
		unit_fail(__FILE__, __LINE__, "%s %s: %s", argv[1],
			  argv[2] ? argv[2] : "", text);
	/* As many lines as a message and its advice have. */
	CHECK(strchr(text, '\n')[1] == ' ');
}

#define REFUSED(object, ...)						\
	check_refused((char *const[]){ "prof", __VA_ARGS__, NULL }, object)

TEST(options_bad_values)
{
	REFUSED("--frequency 0", "-F", "0");
	REFUSED("--frequency 100001", "-F", "100001");
	REFUSED("--frequency -1", "-F", "-1");
	REFUSED("--frequency 99.5", "-F", "99.5");
	REFUSED("--frequency 99Hz", "--frequency=99Hz");
	REFUSED("--frequency ", "-F", "");
	REFUSED("--frequency 18446744073709551617", "-F",
		"18446744073709551617");
	REFUSED("--duration 0", "-d", "0");
	REFUSED("--duration 0.0", "-d", "0.0");
	REFUSED("--duration -1", "-d", "-1");
	REFUSED("--duration ", "-d", "");
	REFUSED("--duration 1s", "-d", "1s");
	REFUSED("--duration nan", "-d", "nan");
	REFUSED("--memory 0", "--memory", "0");
	REFUSED("--memory 65537", "--memory=65537");
	REFUSED("--memory 64M", "--memory=64M");
	REFUSED("--cpu ", "-C", "");
	REFUSED("--cpu 3-1", "-C", "3-1");
	REFUSED("--cpu all", "-C", "all");
	REFUSED("--cpu 0, 1", "-C", "0, 1");
	REFUSED("--cpu 99999", "-C", "99999");
	REFUSED("--output ", "-o", "");
	REFUSED("--output x.docx", "-o", "x.docx");
	REFUSED("--format svg", "-f", "svg");
	REFUSED("--format ", "-f", "");
	done();
}

TEST(options_unknown)
{
	REFUSED("-x", "-x");
	REFUSED("-x", "-Kx");
	REFUSED("--nothing", "--nothing");
	REFUSED("--nothing", "--nothing=3");
	REFUSED("--help=1", "--help=1");
	REFUSED("--quiet=", "--quiet=");
	REFUSED("word", "word");
	REFUSED("word", "-K", "word");
	REFUSED("word", "--", "word");
	REFUSED("-", "-");
	REFUSED("", "");
	REFUSED("-q -v", "-q", "-v");
	REFUSED("-q -v", "--verbose", "--quiet");
	/* The beginning of several. */
	REFUSED("--k", "--k");
	REFUSED("--ver", "--ver");
	done();
}

/* The message names the bad letter, not the word in front of it. */
TEST(options_unknown_in_a_bundle)
{
	REFUSED("-x", "-xK");
	REFUSED("-x", "-K", "-xK");
	REFUSED("-x", "--kernel", "-xK");
	REFUSED("-x", "--kernel", "--no-idle", "-xKU");
	done();
}

/* The word in front of the bad letter is an empty one. */
TEST(options_unknown_behind_nothing)
{
	REFUSED("-x", "--kallsyms", "", "-xK");
	done();
}

TEST(options_missing_arguments)
{
	static const char *const wanting[] = {
		"-C", "-F", "-d", "-o", "-f", "--cpu", "--frequency",
		"--duration", "--memory", "--kallsyms", "--output", "--format",
	};

	for (size_t i = 0; i < sizeof(wanting) / sizeof(*wanting); i++) {
		char *word = (char *)wanting[i];

		REFUSED(word, word);
		REFUSED(word, "-K", word);
		REFUSED("argument", "--kernel", word);
	}
	REFUSED("-F", "-KF");
	done();
}

/* Thousands of outputs: no limit, and no leak. */
TEST(options_many_outputs)
{
	enum { COUNT = 5000 };
	static char *argv[2 * COUNT + 2];

	argv[0] = "prof";
	for (int i = 0; i < COUNT; i++) {
		argv[2 * i + 1] = "-o";
		argv[2 * i + 2] = "x.folded";
	}
	optind = 0;
	CHECK(!options_parse(&options, 2 * COUNT + 1, argv));
	CHECK_U64(options.output_count, COUNT);
	done();
}

/* No program name at all: execve(2) with an empty list. */
TEST(options_no_arguments_at_all)
{
	char *argv[] = { NULL, NULL };

	optind = 0;
	CHECK(!options_parse(&options, 0, argv));
	CHECK_U64(options.hz, 99);
	done();
}

/* A message shows no control byte, however long the word is. */
TEST(options_hostile_words)
{
	char *word = malloc(100001);
	const char *text;

	CHECK(word);
	memset(word, 'y', 100000);
	word[100000] = '\0';
	REFUSED("yyyyyyyy", word);
	REFUSED("--cpu yyyyyyy", "-C", word);
	REFUSED("?[31m", "\x1b[31m");
	REFUSED("?[31m", "--\x1b[31m");
	CHECK(parse((char *const[]){ "prof", "-C", "\x1b\n\x7f", NULL }) ==
	      -EINVAL);
	text = unit_messages();
	CHECK(strstr(text, "???") && !strchr(text, '\x1b'));
	free(word);
	done();
}

/* --help has each option that is parsed, and fits a terminal. */
TEST(options_help_lists_all)
{
	static const char *const all[] = {
		"-C, --cpu LIST", "-K, --kernel", "-U, --user", "--no-idle",
		"-F, --frequency HZ", "-d, --duration SECONDS", "--memory MB",
		"--kallsyms FILE", "-o, --output FILE", "-f, --format NAME",
		"-q, --quiet", "-v, --verbose", "-h, --help", "-V, --version",
	};
	struct text text = { 0 };
	size_t column = 0;

	options_help(&text);
	CHECK(text.data);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strstr(text.data, all[i]))
			unit_fail(__FILE__, __LINE__, "no %s", all[i]);
	for (const char *p = text.data; *p; p++) {
		column = *p == '\n' ? 0 : column + 1;
		CHECK(column <= 80);
	}
	CHECK(!strncmp(text.data, "usage: prof ", 12));
	text_free(&text);
}
