/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: names of kernel addresses.
 *
 *	ffffffff81001230 T do_one_initcall
 *	ffffffffc0412000 t nf_hook	[nf_conntrack]
 *	ffffffffc0a31040 t bpf_prog_6deef7357e7b4530_profile_hash	[bpf]
 *	address          type name                               module
 *
 * 120,000 lines and more, of which a profile wants a few hundred.  So the file
 * is read once against the sorted addresses that are wanted: each symbol is
 * noted for the first wanted address not below it, if it is the nearest yet,
 * and for the last wanted address below it as the next symbol.  At the end the
 * notes are carried on to neighbours.  The order of the lines does not matter
 * (modules' lines are not sorted), and only hits stay in memory.
 *
 * A name is given only where it must be right:
 * - The nearest symbol has to be text (t, T, w, W).  Data that follows a
 *   module's last function ends it.  So do the linker's marks (_etext,
 *   __sched_text_start), though they are of type T: they name a place, not
 *   the function that happens to begin there.
 * - The end of the last function of a module is not written anywhere.  Where
 *   the next symbol is not of the same module, a function is taken to be at
 *   most 4 KB long: rather no name than a neighbour's.
 * - Of several symbols at one address: text over data, global over weak over
 *   local, then fewer leading underscores, then the shorter (of __x64_sys_sync
 *   and __ia32_sys_sync the former), then alphabetical order.
 * - `__pfx_` symbols name the padding in front of a function, `$x` the kind of
 *   code, `.L` the compiler's own labels: none is a function.
 *
 * kernel.kptr_restrict does not hide the file: it shows zeros as addresses.
 *
 * Sources: kernel/kallsyms.c, Documentation/admin-guide/sysctl/kernel.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "lib/file.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/text.h"

enum {
	LONGEST_LAST = 4096,	/* a function whose end is not known */
};

/* Higher is better. */
enum rank { RANK_DATA, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

struct symbol {
	uint64_t start;
	enum rank rank;
	const char *name, *module;	/* module "": the kernel itself */
};

/* A symbol that stays: the texts are copied. */
struct kept {
	uint64_t start;
	enum rank rank;
	bool is;		/* there is one */
	char *texts;		/* name, zero, module, zero */
	size_t capacity, module;	/* where in texts the module begins */
};

/* For each wanted address: the nearest symbol not above it, and the next. */
struct slot {
	struct kept best, next;
};

static enum rank rank_of(char type)
{
	switch (type) {
	case 'T':
		return RANK_GLOBAL;
	case 'W':
	case 'w':
		return RANK_WEAK;
	case 't':
		return RANK_LOCAL;
	default:
		return RANK_DATA;
	}
}

/* Cuts a line into a symbol, in place.  False for lines that are none. */
static bool parse_line(char *line, struct symbol *symbol)
{
	const char *p = line;
	char *name, *bracket, type;

	if (!text_hex(&p, &symbol->start) || p[0] != ' ' || !p[1] ||
	    p[2] != ' ')
		return false;
	type = p[1];
	name = line + (p - line) + 3;
	symbol->module = "";
	bracket = strpbrk(name, " \t");
	if (bracket) {
		*bracket++ = '\0';
		bracket += strspn(bracket, " \t");
		if (*bracket == '[') {
			symbol->module = ++bracket;
			bracket[strcspn(bracket, "]")] = '\0';
		}
	}
	symbol->name = name;
	symbol->rank = rank_of(type);
	/* Absolute symbols are numbers, not places. */
	return *name && type != 'a' && type != 'A';
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text), end = strlen(with);

	return length >= end && !strcmp(text + length - end, with);
}

static bool is_mark(const char *name)
{
	return name[0] == '_' &&
	       (ends(name, "text_start") || ends(name, "text_end") ||
		!strcmp(name, "_text") || !strcmp(name, "_stext") ||
		!strcmp(name, "_etext") || !strcmp(name, "_sinittext") ||
		!strcmp(name, "_einittext"));
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Neither names nor ends of others. */
static bool is_noise(const char *name)
{
	return name[0] == '$' || starts(name, ".L") ||
	       starts(name, "__pfx_") || starts(name, "__cfi_");
}

bool kallsyms_is_function(const char *name)
{
	return !is_noise(name) && !is_mark(name);
}

/* Also turns marks into what they are. */
static void note_facts(struct kallsyms_facts *facts, struct symbol *symbol)
{
	facts->symbols++;
	if (symbol->start)
		facts->hidden = false;
	if (*symbol->module) {
		facts->modules = true;
		return;
	}
	if (!strcmp(symbol->name, "_stext"))
		facts->text_start = symbol->start;
	if (!strcmp(symbol->name, "_text") && !facts->text_start)
		facts->text_start = symbol->start;
	if (!strcmp(symbol->name, KALLSYMS_PROBE))
		facts->probe = symbol->start;
	if (!strcmp(symbol->name, "_etext"))
		facts->text_end = symbol->start;
	if (is_mark(symbol->name))
		symbol->rank = RANK_DATA;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Whether symbol, at the same address as kept, is the better name. */
static bool is_better(const struct symbol *symbol, const struct kept *kept)
{
	size_t ours = underscores(symbol->name);
	size_t theirs = underscores(kept->texts);

	if (symbol->rank != kept->rank)
		return symbol->rank > kept->rank;
	if (ours != theirs)
		return ours < theirs;
	ours = strlen(symbol->name);
	theirs = strlen(kept->texts);
	if (ours != theirs)
		return ours < theirs;
	return strcmp(symbol->name, kept->texts) < 0;
}

static void keep(struct kept *kept, const struct symbol *symbol)
{
	size_t name = strlen(symbol->name) + 1;
	size_t module = strlen(symbol->module) + 1;

	kept->texts = memory_grow(kept->texts, &kept->capacity, name + module,
				  1);
	memcpy(kept->texts, symbol->name, name);
	memcpy(kept->texts + name, symbol->module, module);
	kept->module = name;
	kept->start = symbol->start;
	kept->rank = symbol->rank;
	kept->is = true;
}

size_t kallsyms_below(const struct kallsyms_name *names, size_t count,
		      uint64_t address)
{
	return search_below_u64(names, count, sizeof(*names), address);
}

static void note(struct slot *slots, const struct kallsyms_name *names,
		 size_t count, const struct symbol *symbol)
{
	size_t at = kallsyms_below(names, count, symbol->start);

	if (at < count) {
		struct kept *best = &slots[at].best;

		if (!best->is || symbol->start > best->start ||
		    (symbol->start == best->start && is_better(symbol, best)))
			keep(best, symbol);
	}
	if (at > 0) {
		struct kept *next = &slots[at - 1].next;

		if (!next->is || symbol->start < next->start)
			keep(next, symbol);
	}
}

static const char *kept_module(const struct kept *kept)
{
	return kept->texts + kept->module;
}

/* Fills in the name if `best` can be proved to hold the address. */
static void settle(struct kallsyms_name *name, const struct kept *best,
		   const struct kept *next)
{
	const char *module;

	if (name->name || !best->is || best->rank == RANK_DATA)
		return;
	module = kept_module(best);
	if ((!next->is || strcmp(kept_module(next), module)) &&
	    name->address - best->start >= LONGEST_LAST)
		return;
	name->start = best->start;
	name->name = memory_text(best->texts, strlen(best->texts));
	name->module = *module ? memory_text(module, strlen(module)) : NULL;
}

/* Carries the notes to the wanted addresses that lie between two symbols. */
static void settle_all(struct slot *slots, struct kallsyms_name *names,
		       size_t count)
{
	struct kept none = { 0 };
	const struct kept **next = memory_new(count, sizeof(*next));
	const struct kept *nearest = &none;

	for (size_t i = count; i-- > 0;) {
		if (slots[i].next.is)
			nearest = &slots[i].next;
		next[i] = nearest;
	}
	nearest = &none;
	for (size_t i = 0; i < count; i++) {
		if (slots[i].best.is)
			nearest = &slots[i].best;
		settle(&names[i], nearest, next[i]);
	}
	free(next);
}

int kallsyms_find(const char *path, struct kallsyms_name *names, size_t count,
		  struct kallsyms_facts *facts)
{
	struct lines lines;
	struct slot *slots;
	char *line;
	int error = lines_open(&lines, path);

	*facts = (struct kallsyms_facts){ .hidden = true };
	if (error)
		return error;
	slots = memory_new(count, sizeof(*slots));
	while ((line = lines_next(&lines))) {
		struct symbol symbol;

		if (!parse_line(line, &symbol))
			continue;
		note_facts(facts, &symbol);
		if (symbol.start && !is_noise(symbol.name))
			note(slots, names, count, &symbol);
	}
	error = lines.error;
	lines_close(&lines);
	facts->hidden = facts->hidden && facts->symbols;
	if (!error && !facts->symbols)
		error = -ENODATA;
	if (!error)
		settle_all(slots, names, count);
	for (size_t i = 0; i < count; i++) {
		free(slots[i].best.texts);
		free(slots[i].next.texts);
	}
	free(slots);
	return error;
}
