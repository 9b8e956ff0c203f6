/* SPDX-License-Identifier: MIT */
/*
 * asked: kernel names without /proc/kallsyms.
 *
 *	questions.address[0..63] ──> BPF_PROG_TEST_RUN ──> questions.answer[]
 *	ffffffff81234568                                   "vfs_read+0x8/0x340"
 *	ffffffffc0412034                        "nf_hook+0x34/0x90 [nf_tables]"
 *	ffff888000000000                        "0xffff888000000000"
 *
 * A BPF program of type SYSCALL runs once when it is told to, and may format
 * texts; "%pS" names an address from the kernel's own tables.  kptr_restrict,
 * which hides them from readers of /proc/kallsyms, does not touch it, and no
 * file system has to be mounted.  The answers tell the size of the function, so
 * there is no doubt where one ends.
 *
 * Of several symbols at one address the kernel has one it likes best: one that
 * is not weak, then the one with fewer underscores.
 *
 * Source: Documentation/core-api/printk-formats.rst; kernel/bpf/helpers.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_prog.h"
#include "lib/memory.h"
#include "loader.h"
#include "sym/asked.h"
#include "sys/bpf.h"
#include "sys/explain.h"

static const char program[] = "name_addresses";

/* "name+0x8/0x340 [module]", cut in place.  False if it names no function. */
static bool parse_answer(char *answer, struct kallsyms_name *name)
{
	char *plus = strrchr(answer, '+'), *end, *bracket;
	uint64_t offset;

	if (!plus || plus == answer)
		return false;
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/' || offset > name->address)
		return false;
	bracket = strchr(end, '[');
	if (bracket)
		bracket[strcspn(bracket, "]")] = '\0';
	*plus = '\0';
	if (!kallsyms_is_function(answer))
		return false;
	name->start = name->address - offset;
	name->name = memory_text(answer, strlen(answer));
	name->module = bracket ? memory_text(bracket + 1, strlen(bracket + 1)) :
				 NULL;
	return true;
}

/* The program in the kernel.  NULL if it cannot be. */
static struct loader *load(struct bytes object)
{
	struct loader *loader = loader_open(object, "bpf_prog.o");

	if (!loader)
		return NULL;
	loader_silence(loader, true);
	if (!loader_choose(loader, program) && !loader_load(loader))
		return loader;
	loader_close(loader);
	return NULL;
}

/* The answers are many; one of them shows what they are. */
static void explain_first(struct questions *questions)
{
	questions->answer[0][ANSWER_SIZE - 1] = '\0';
	if (questions->count)
		explain("    -> the first answer: %#" PRIx64 " is %s",
			(uint64_t)questions->address[0], questions->answer[0]);
}

/* Sends what is in *questions, gives answer i to *names[i], empties the list. */
static int ask(const struct loader *loader, struct questions *questions,
	       struct kallsyms_name **names)
{
	int map = loader_map_fd(loader, "questions");
	uint32_t zero = 0;
	int error;

	explain("%u addresses to be named: \"%%pS\", in the kernel itself",
		(unsigned int)questions->count);
	error = bpf_map_update_elem(map, &zero, questions, BPF_ANY);
	if (!error)
		error = bpf_prog_test_run(loader_prog_fd(loader, program));
	if (!error)
		error = bpf_map_lookup_elem(map, &zero, questions);
	if (!error)
		explain_first(questions);
	for (size_t i = 0; !error && i < questions->count; i++) {
		questions->answer[i][ANSWER_SIZE - 1] = '\0';
		parse_answer(questions->answer[i], names[i]);
	}
	questions->count = 0;
	return error;
}

int asked_names(struct bytes object, struct kallsyms_name *names,
		size_t count)
{
	struct loader *loader = load(object);
	struct kallsyms_name *asked[QUESTIONS_MOST];
	struct questions *questions;
	int error = 0;

	if (!loader)
		return -EOPNOTSUPP;
	questions = memory_new(1, sizeof(*questions));
	for (size_t i = 0; !error && i < count; i++) {
		if (names[i].name)
			continue;
		asked[questions->count] = &names[i];
		questions->address[questions->count++] = names[i].address;
		if (questions->count == QUESTIONS_MOST)
			error = ask(loader, questions, asked);
	}
	if (!error && questions->count)
		error = ask(loader, questions, asked);
	free(questions);
	loader_close(loader);
	return error;
}
