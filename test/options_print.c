/* SPDX-License-Identifier: MIT */
/*
 * options_print bash|zsh|fish|man|words: prints the table of options as a
 * shell's completions, as the man page's .It lines, or as lines of `NAME WORD`
 * for each word that an option's argument can be.
 *
 * What has to be known about a shell is in a text here; the table fills it in.
 * The completions are committed, so that installing needs no compiler for them:
 * `make completions` makes them again, test/docs.sh compares.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

enum kind { NONE, OTHER, FILES, DIRECTORIES, PROCESSES, THREADS, WORDS };

static enum kind kind_of(const struct option_row *row)
{
	static const struct {
		const char *argument;
		enum kind kind;
	} kinds[] = {
		{ "FILE", FILES }, { "PATH", DIRECTORIES },
		{ "PID,...", PROCESSES }, { "TID,...", THREADS },
	};

	if (!row->argument)
		return NONE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].argument, row->argument))
			return kinds[i].kind;
	return row->words ? WORDS : OTHER;
}

static int has_letter(const struct option_row *row)
{
	return row->letter < 256;
}

/* The letters of options with an argument, or of those without. */
static void print_letters(int with_argument)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(i)); i++)
		if (has_letter(row) && !row->argument == !with_argument)
			putchar(row->letter);
}

/* Between single quotes; `other` characters get a backslash as well. */
static void print_quoted(const char *text, const char *other,
			 const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else if (strchr(other, *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static const char *const made_by =
	"# SPDX-License-Identifier: MIT\n"
	"# Made by `make completions` from the table in options.c.\n";

/* ------------------------------------------------------------------ bash */

static const char bash_head[] =
	"# shellcheck shell=bash\n"
	"\n"
	"# Completes the last part of a list: _prof_list NUMBER...\n"
	"_prof_list()\n"
	"{\n"
	"\tlocal before=\n"
	"\n"
	"\t[[ $cur != *,* ]] || before=${cur%,*},\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$*\" -- \\\n"
	"\t\t\"${cur##*,}\")\n"
	"}\n"
	"\n"
	"_prof_files() # -f (any) or -d (directories)\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_prof_words()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# The argument of an option; false if it takes none.\n"
	"_prof_argument()\n"
	"{\n"
	"\tlocal tasks\n"
	"\n"
	"\tcase $1 in\n";

static const char bash_tail[] =
	"\t*) return 1 ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"# What follows -- is a command, with its own completion if bash-completion\n"
	"# is there.\n"
	"_prof_command() # its place in COMP_WORDS\n"
	"{\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif [ \"$COMP_CWORD\" = \"$1\" ]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\telse\n"
	"\t\t_prof_files -f\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_prof()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} i\n"
	"\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\t[ \"${COMP_WORDS[i]}\" != -- ] || {\n"
	"\t\t\t_prof_command $((i + 1))\n"
	"\t\t\treturn\n"
	"\t\t}\n"
	"\tdone\n"
	"\t# bash makes three words of --engine=hash, and two of --engine=.\n"
	"\tif [ \"$cur\" = = ]; then\n"
	"\t\tcur=\n"
	"\telif [ \"$before\" = = ] && ((COMP_CWORD > 2)); then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\telif [[ $before =~ $letters ]]; then\n"
	"\t\tbefore=-${BASH_REMATCH[1]}\n"
	"\tfi\n"
	"\t_prof_argument \"$before\" || _prof_words \"$options\"\n"
	"}\n"
	"\n"
	"complete -F _prof prof\n";

static void bash_argument(const struct option_row *row)
{
	switch (kind_of(row)) {
	case FILES:
		puts(" _prof_files -f ;;");
		break;
	case DIRECTORIES:
		puts(" _prof_files -d ;;");
		break;
	case PROCESSES:
		puts("\n\t\ttasks=(/proc/[1-9]*)\n"
		     "\t\t_prof_list \"${tasks[@]##*/}\"\n\t\t;;");
		break;
	case THREADS:
		puts("\n\t\ttasks=(/proc/[1-9]*/task/[1-9]*)\n"
		     "\t\t_prof_list \"${tasks[@]##*/}\"\n\t\t;;");
		break;
	case WORDS:
		printf("\n\t\t_prof_words %s\n\t\t;;\n", row->words);
		break;
	default:
		puts(" ;; # nothing that could be guessed");
	}
}

static void print_bash(void)
{
	const struct option_row *row;

	printf("%s%s", made_by, bash_head);
	for (size_t i = 0; (row = options_row(i)); i++) {
		if (!row->argument)
			continue;
		putchar('\t');
		if (has_letter(row))
			printf("-%c | ", row->letter);
		printf("--%s)", row->name);
		bash_argument(row);
	}
	/* The two texts of the table that _prof needs become its locals. */
	for (const char *p = bash_tail; *p; p++) {
		putchar(*p);
		if (strncmp(p, "\n\n\tCOMPREPLY", 12))
			continue;
		printf("\t# Letters without an argument, and one with.\n"
		       "\tlocal letters='^-[");
		print_letters(0);
		printf("]*([");
		print_letters(1);
		printf("])$'\n\tlocal options='");
		for (size_t i = 0; (row = options_row(i)); i++) {
			if (has_letter(row))
				printf("-%c ", row->letter);
			printf("--%s\n\t\t", row->name);
		}
		printf("--'\n");
	}
}

/* ------------------------------------------------------------------- zsh */

static const char zsh_head[] =
	"\n"
	"# A list of numbers under /proc, with the names of the tasks.\n"
	"_prof_tasks() # DIRECTORY...\n"
	"{\n"
	"\tlocal directory comm\n"
	"\tlocal -a tasks\n"
	"\n"
	"\tcompset -P '*,'\n"
	"\tfor directory; do\n"
	"\t\tcomm=\n"
	"\t\tread -r comm <$directory/comm\n"
	"\t\ttasks+=(\"${directory:t}:$comm\")\n"
	"\tdone 2>/dev/null\n"
	"\t_describe -t processes task tasks -S ''\n"
	"}\n"
	"\n"
	"_prof_pids() { _prof_tasks /proc/<1->(N); }\n"
	"\n"
	"_prof_tids() { _prof_tasks /proc/<1->/task/<1->(N); }\n"
	"\n"
	"_prof()\n"
	"{\n"
	"\tlocal dashes=${words[(i)--]}\n"
	"\n"
	"\t# What follows -- is a command with its own completion.\n"
	"\tif ((dashes < CURRENT)); then\n"
	"\t\tshift dashes words\n"
	"\t\t((CURRENT -= dashes))\n"
	"\t\t_normal\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t_arguments -s -S";

static const char *zsh_action(const struct option_row *row)
{
	switch (kind_of(row)) {
	case FILES:
		return "_files";
	case DIRECTORIES:
		return "_files -/";
	case PROCESSES:
		return "_prof_pids";
	case THREADS:
		return "_prof_tids";
	default:
		return "";
	}
}

static void print_zsh(void)
{
	const struct option_row *row;

	printf("#compdef prof\n%s%s", made_by, zsh_head);
	for (size_t i = 0; (row = options_row(i)); i++) {
		printf(" \\\n\t\t'*'");
		if (has_letter(row))
			printf("{-%c%s,--%s%s}", row->letter,
			       row->argument ? "+" : "", row->name,
			       row->argument ? "=" : "");
		else
			printf("--%s%s", row->name, row->argument ? "=" : "");
		printf("'[");
		print_quoted(row->help, "[]:\\", "'\\''");
		printf("]");
		if (row->argument) {
			printf(":");
			print_quoted(row->argument, ":\\", "'\\''");
			printf(":");
			if (kind_of(row) == WORDS)
				printf("(%s)", row->words);
			else
				printf("%s", zsh_action(row));
		}
		printf("'");
	}
	printf("\n}\n\n_prof \"$@\"\n");
}

/* ------------------------------------------------------------------ fish */

static const char fish_head[] =
	"\n"
	"# What follows -- is a command with its own completion.\n"
	"function __prof_command\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l dashes (contains -i -- -- $words)\n"
	"\tor return\n"
	"\tset -e words[1..$dashes]\n"
	"\techo -- (string escape -- $words) (commandline -ct)\n"
	"end\n"
	"\n"
	"function __prof_has_command\n"
	"\tcontains -- -- (commandline -opc)\n"
	"end\n"
	"\n"
	"# A list of numbers under /proc, with the names of the tasks.\n"
	"function __prof_tasks\n"
	"\tset -l before (string match -r '.*,' -- (commandline -ct |\n"
	"\t\tstring replace -r '^--[a-z]*=' ''))\n"
	"\tfor task in (string match -r '.*/[0-9]+$' -- $argv)\n"
	"\t\tset -l comm (cat $task/comm 2>/dev/null)\n"
	"\t\tset -l number (string replace -r '.*/' '' $task)\n"
	"\t\ttest -n \"$comm\"\n"
	"\t\tand printf '%s%s\\t%s\\n' \"$before\" $number $comm\n"
	"\tend\n"
	"end\n"
	"\n"
	"complete -c prof -f\n"
	"complete -c prof -n __prof_has_command -a '(complete -C (__prof_command))'\n";

static void fish_argument(const struct option_row *row)
{
	switch (kind_of(row)) {
	case NONE:
		break;
	case FILES:
		printf(" -r -F");
		break;
	case DIRECTORIES:
		printf(" -x -a '(__fish_complete_directories (commandline -ct))'");
		break;
	case PROCESSES:
		printf(" -x -a '(__prof_tasks /proc/*)'");
		break;
	case THREADS:
		printf(" -x -a '(__prof_tasks /proc/*/task/*)'");
		break;
	case WORDS:
		printf(" -x -a '%s'", row->words);
		break;
	case OTHER:
		printf(" -x");
	}
}

static void print_fish(void)
{
	const struct option_row *row;

	printf("%s%s", made_by, fish_head);
	for (size_t i = 0; (row = options_row(i)); i++) {
		printf("complete -c prof");
		if (has_letter(row))
			printf(" -s %c", row->letter);
		printf(" -l %s", row->name);
		fish_argument(row);
		printf(" -d '");
		print_quoted(row->help, "\\", "\\'");
		printf("'\n");
	}
}

/* ---------------------------------------------------- man page and words */

/* NAME[/N] becomes `name Ns Op / Ns Ar n`. */
static void man_argument(const char *argument)
{
	printf(" Ar ");
	for (; *argument; argument++) {
		if (!strncmp(argument, "[/", 2)) {
			printf(" Ns Op / Ns Ar ");
			argument++;
		} else if (*argument != ']') {
			putchar(tolower((unsigned char)*argument));
		}
	}
}

static void print_man(void)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(i)); i++) {
		printf(".It");
		if (has_letter(row))
			printf(" Fl %c ,", row->letter);
		printf(" Fl -%s", row->name);
		if (row->argument)
			man_argument(row->argument);
		putchar('\n');
	}
}

static void print_words(void)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(i)); i++)
		for (const char *p = row->words; p && *p;) {
			size_t length = strcspn(p, " ");

			printf("%s %.*s\n", row->name, (int)length, p);
			p += length + (p[length] == ' ');
		}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} forms[] = {
		{ "bash", print_bash }, { "zsh", print_zsh },
		{ "fish", print_fish }, { "man", print_man },
		{ "words", print_words },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(forms) / sizeof(*forms);
	     i++) {
		if (strcmp(forms[i].name, argv[1]))
			continue;
		forms[i].print();
		return fflush(stdout) ? 1 : 0;
	}
	fprintf(stderr, "usage: options_print bash|zsh|fish|man|words\n");
	return 2;
}
