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
	CHECK(!options.no_demangle);
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

TEST(options_no_demangle)
{
	CHECK(!PARSE("--no-demangle", "-d", "1"));
	CHECK(options.no_demangle && !options.no_idle);
	CHECK(!PARSE("-d", "1"));
	CHECK(!options.no_demangle);
	CHECK(PARSE("--no-demangle=1"));
	CHECK(strstr(unit_messages(), "takes no argument"));
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
	text = strchr(text, '\n');
	CHECK(text && text[1] == ' ');
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
	REFUSED("--format png", "-f", "png");
	REFUSED("--format ", "-f", "");
	done();
}

TEST(options_unknown)
{
	REFUSED("-z", "-z");
	REFUSED("-z", "-Kz");
	REFUSED("--nothing", "--nothing");
	REFUSED("--nothing", "--nothing=3");
	REFUSED("--help=1", "--help=1");
	REFUSED("--quiet=", "--quiet=");
	REFUSED("word", "word");
	REFUSED("word", "-K", "word");
	REFUSED("-", "-");
	REFUSED("", "");
	REFUSED("-q", "-q", "-v");
	REFUSED("-q", "--verbose", "--quiet");
	REFUSED("-q", "-xq");
	/* The beginning of several. */
	REFUSED("--k", "--k");
	REFUSED("--ver", "--ver");
	done();
}

/* The message names the bad letter, not the word in front of it. */
TEST(options_unknown_in_a_bundle)
{
	REFUSED("-z", "-zK");
	REFUSED("-z", "-K", "-zK");
	REFUSED("-z", "--kernel", "-zK");
	REFUSED("-z", "--kernel", "--no-idle", "-zKU");
	done();
}

/* The word in front of the bad letter is an empty one. */
TEST(options_unknown_behind_nothing)
{
	REFUSED("-z", "--kallsyms", "", "-zK");
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
		"-p, --pid ", "-t, --tid ", "--cgroup PATH", "-e, --event ",
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
		if (column > 80)
			unit_fail(__FILE__, __LINE__, "too wide: %.80s",
				  p - 80);
	}
	CHECK(!strncmp(text.data, "usage: prof ", 12));
	text_free(&text);
}

/* ------------------------------------------------------ what is sampled */

TEST(options_targets)
{
	CHECK(!PARSE("-p", "12", "-p", "34,56", "-t", "7", "--cgroup", "/c"));
	CHECK_U64(options.pid_count, 3);
	CHECK_U64(options.pids[0], 12);
	CHECK_U64(options.pids[2], 56);
	CHECK_U64(options.tid_count, 1);
	CHECK_U64(options.tids[0], 7);
	CHECK_TEXT(options.cgroup, "/c");
	CHECK(!options.command);
	CHECK(!PARSE("--pid=2147483647"));
	REFUSED("--pid 0", "-p", "0");
	REFUSED("--pid -1", "-p", "-1");
	REFUSED("--pid 2147483648", "-p", "2147483648");
	REFUSED("--pid 1,", "-p", "1,");
	REFUSED("--pid ,1", "-p", ",1");
	REFUSED("--pid 1,,2", "-p", "1,,2");
	REFUSED("--pid 1 2", "-p", "1 2");
	REFUSED("--pid ", "-p", "");
	REFUSED("--pid x", "-p", "x");
	REFUSED("--pid 00000000000000000001", "-p", "00000000000000000001");
	REFUSED("--tid 0", "-t", "0");
	REFUSED("--cgroup ", "--cgroup", "");
	done();
}

/* An empty list is no list, also behind one that is. */
TEST(options_targets_empty_again)
{
	REFUSED("--pid ", "-p", "1", "-p", "");
	REFUSED("--tid ", "-t", "1", "--tid=");
	done();
}

TEST(options_event)
{
	CHECK(!PARSE("-K"));
	CHECK_TEXT(options.event.name, "cpu-clock");
	CHECK_U64(options.event.hz, 99);
	CHECK(!PARSE("-e", "page-faults/100", "-F", "50"));
	CHECK_TEXT(options.event.name, "page-faults");
	CHECK_U64(options.event.period, 100);
	CHECK_U64(options.event.hz, 50);
	REFUSED("--event ", "-e", "");
	REFUSED("--event nothing", "-e", "nothing");
	REFUSED("--event cycles/0", "--event=cycles/0");
	done();
}

TEST(options_engine)
{
	CHECK(!PARSE("-K"));
	CHECK_U64(options.engine, OPTION_AUTO);
	CHECK(!PARSE("--engine", "stackid"));
	CHECK_U64(options.engine, OPTION_STACKID);
	CHECK(!PARSE("--engine=hash"));
	CHECK_U64(options.engine, OPTION_HASH);
	CHECK(!PARSE("--engine=hash", "--engine=auto"));
	CHECK_U64(options.engine, OPTION_AUTO);
	REFUSED("--engine ", "--engine", "");
	REFUSED("--engine has", "--engine=has");
	REFUSED("--engine hashes", "--engine=hashes");
	REFUSED("--engine auto hash", "--engine=auto hash");
	done();
}

/* A refusal lists what is there instead. */
TEST(options_words)
{
	static const char *const wrong[] = { "-e", "-f", "--engine" };
	static const char *const there[] = { "page-faults", "folded",
					     "auto hash stackid" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		unit_messages();
		CHECK(PARSE((char *)wrong[i], "nothing") == -EINVAL);
		CHECK(strstr(unit_messages(), there[i]));
	}
	done();
}

/* The table, as those who print it see it: no letter and no name twice. */
TEST(options_rows)
{
	const struct option_row *row, *other;

	for (size_t i = 0; (row = options_row(i)); i++) {
		CHECK(row->letter && *row->name && *row->help && row->set);
		CHECK(row->argument || !row->words);
		for (size_t j = 0; j < i; j++) {
			other = options_row(j);
			CHECK(other->letter != row->letter);
			CHECK(strcmp(other->name, row->name));
		}
	}
	done();
}

TEST(options_command)
{
	CHECK(!PARSE("-F", "49", "--", "ls", "-l", "--", "-K"));
	CHECK(options.command == words + 4);
	CHECK_TEXT(options.command[0], "ls");
	CHECK_TEXT(options.command[3], "-K");
	CHECK(!options.command[4]);
	CHECK(!options.kernel);
	CHECK_U64(options.hz, 49);
	REFUSED("--", "--");
	REFUSED("--", "-K", "--");
	REFUSED("ls", "ls");
	REFUSED("ls", "ls", "--", "x");
	REFUSED("ls", "-K", "ls", "-l");
	REFUSED("--", "-p", "1", "--", "ls");
	REFUSED("--", "-t", "1", "--", "ls");
	REFUSED("--", "--cgroup", "/c", "--", "ls");
	done();
}

/* "--" that is an option's argument does not begin a command. */
TEST(options_command_after_a_dashed_argument)
{
	REFUSED("ls", "-o", "--", "ls");
	CHECK(!PARSE("-o", "--"));
	CHECK_TEXT(options.outputs[0], "--");
	done();
}

TEST(options_recordings)
{
	CHECK(!PARSE("--read", "x.folded", "-K", "-f", "folded"));
	CHECK_TEXT(options.read, "x.folded");
	CHECK(!options.old);
	CHECK(!PARSE("--diff", "a", "b", "-q", "-o", "x.pb.gz"));
	CHECK_TEXT(options.old, "a");
	CHECK_TEXT(options.new, "b");
	CHECK(options.quiet);
	CHECK_TEXT(options.outputs[0], "x.pb.gz");
	CHECK(!PARSE("-q", "--diff=a", "-"));
	CHECK_TEXT(options.new, "-");
	CHECK_TEXT(unit_messages(), "");
	done();
}

TEST(options_recordings_misused)
{
	static const struct {
		char *argv[6];
		const char *message;
	} bad[] = {
		{ { "prof", "--read" }, "prof: --read: option: wants an "
		  "argument\n" },
		{ { "prof", "--read", "" }, "prof: --read : option: is "
		  "empty\n" },
		{ { "prof", "--diff", "a" }, "prof: --diff: option: wants two "
		  "files, OLD and NEW\n" },
		{ { "prof", "--diff", "a", "-q" }, "prof: --diff: option: "
		  "wants two files, OLD and NEW\n" },
		{ { "prof", "--diff", "a", "--", "b" }, "prof: --diff: option: "
		  "wants two files, OLD and NEW\n" },
		{ { "prof", "--diff", "a", "b", "c" }, "prof: c: option: not an "
		  "option; a command comes after --\n" },
		{ { "prof", "--read", "a", "--diff", "b", "c" },
		  "prof: --read: option: not together with --diff\n" },
		{ { "prof", "--read", "a", "--", "ls" },
		  "prof: --read: option: a recording, or a command\n" },
		{ { "prof", "-F", "99", "--read", "a" }, "prof: --frequency: "
		  "option: is for sampling, not for a recording\n" },
		{ { "prof", "--diff", "a", "b", "-p", "1" }, "prof: --pid: "
		  "option: is for sampling, not for a recording\n" },
		{ { "prof", "--check", "-d", "1" }, "prof: --check: option: "
		  "stands alone, or with -x\n" },
		{ { "prof", "--check", "--", "ls" }, "prof: --check: option: "
		  "stands alone, or with -x\n" },
		{ { "prof", "-o", "x.svg", "--check" }, "prof: --check: option: "
		  "stands alone, or with -x\n" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *argv[7] = { 0 };
		const char *said;

		memcpy(argv, bad[i].argv, sizeof(bad[i].argv));
		CHECK(parse(argv) == -EINVAL);
		said = unit_messages();
		if (strncmp(said, bad[i].message, strlen(bad[i].message)))
			unit_fail(__FILE__, __LINE__, "%s, not %s", said,
				  bad[i].message);
	}
	done();
}
