/* SPDX-License-Identifier: MIT */
/*
 * kernel: which address of a kernel stack to look up, and where.
 *
 *	ip[0]  the instruction at which the tick came: exact
 *	ip[1]  a return address: the call is the instruction before it, and
 *	       may be the last one of its function, so ip - 1 is looked up
 *	...
 *	ip[i]  where ip[i - 1] is an interrupt's entry: the instruction that
 *	       was interrupted, exact again
 *
 * Which rule holds is known only once the frame below has its name, so both
 * addresses are named and the choice is made after.
 *
 * The kernel itself is asked for names; what it does not know, or cannot be
 * asked for, is looked up in /proc/kallsyms.
 *
 * A file that the user gives (--kallsyms) has to fit the running kernel.  A
 * saved /proc/kallsyms has the addresses of one boot; a System.map has those
 * before KASLR moves the kernel.  Names from the wrong one would be wrong
 * without looking so, hence such files are refused rather than believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "kallsyms.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "sym/asked.h"
#include "sym/kernel.h"
#include "sys/system.h"

/*
 * The kernel is asked first: 1 ms for a hundred addresses, 6 ms for 6,000, where
 * reading /proc/kallsyms takes 54 ms.  They meet at some 65,000 (test/live/ask).
 */
enum { ASKED_MOST = 65536 };

static const char running_kallsyms[] = "/proc/kallsyms";

struct kernel_names {
	const char *file;	/* the user's, or NULL */
	struct bytes object;	/* empty: the kernel is not asked */
	struct kallsyms_name *names;	/* ascending */
	size_t count;
	bool asked;		/* the kernel has answered */
	bool told;		/* that there are none */
};

struct kernel_names *kernel_names_new(const char *kallsyms,
				      struct bytes object)
{
	struct kernel_names *names = memory_new(1, sizeof(*names));

	names->file = kallsyms;
	names->object = object;
	return names;
}

static void free_name(struct kallsyms_name *name)
{
	free(name->name);
	free(name->module);
}

/* ---------------------------------------------------- which addresses */

static int cmp_name(const void *a, const void *b)
{
	const struct kallsyms_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* One that has its name goes first, and stays. */
	return (x->name == NULL) - (y->name == NULL);
}

static void want(struct kernel_names *names, size_t *capacity,
		 uint64_t address)
{
	names->names = memory_grow(names->names, capacity, names->count + 1,
				   sizeof(*names->names));
	names->names[names->count++] =
		(struct kallsyms_name){ .address = address };
}

static void want_all(struct kernel_names *names,
		     const struct kernel_stack *stacks, size_t count)
{
	size_t capacity = names->count, kept = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < stacks[i].depth; j++) {
			want(names, &capacity, stacks[i].ip[j]);
			if (j > 0)
				want(names, &capacity, stacks[i].ip[j] - 1);
		}
	if (!names->count)
		return;
	qsort(names->names, names->count, sizeof(*names->names), cmp_name);
	for (size_t i = 1; i < names->count; i++) {
		if (names->names[i].address == names->names[kept].address)
			free_name(&names->names[i]);
		else
			names->names[++kept] = names->names[i];
	}
	names->count = kept + 1;
}

/* --------------------------------------------------------- which source */

static void tell_hidden(struct kernel_names *names, int error)
{
	/* What it did not know itself its list need not have either. */
	if (names->told || names->asked)
		return;
	names->told = true;
	if (error) {
		log_warning("%s: %s: kernel frames stay addresses",
			    running_kallsyms, system_strerror(error));
		if (error == -ENOENT)
			log_advice("mount it (mount -t proc proc /proc), or "
				   "give a saved copy of this boot with "
				   "--kallsyms FILE");
		return;
	}
	log_warning("%s: all addresses are hidden: kernel frames stay "
		    "addresses", running_kallsyms);
	if (system_sysctl("kernel/kptr_restrict", 1))
		log_advice("sysctl kernel.kptr_restrict=0 (or 1, and run as "
			   "root or with CAP_SYSLOG)");
	else
		log_advice("run as root or with CAP_SYSLOG, or sysctl "
			   "kernel.perf_event_paranoid=1");
}

static int refuse(const char *file, const char *why, const char *what_to_do)
{
	log_error("%s: kernel symbols: %s", file, why);
	log_advice("%s", what_to_do);
	return -EINVAL;
}

/* Whether the kernel was started with this word on its command line. */
static bool booted_with(const char *word)
{
	char line[4096];
	size_t length = strlen(word);

	if (file_read_text("/proc/cmdline", line, sizeof(line)))
		return false;
	for (char *p = line; (p = strstr(p, word)); p += length)
		if ((p == line || p[-1] == ' ') &&
		    (p[length] == ' ' || !p[length]))
			return true;
	return false;
}

/*
 * Asks the kernel what stands at the address that the file gives to one of its
 * symbols: -EOPNOTSUPP if it cannot be asked, else whether it says the same.
 */
static int ask_about(const struct kernel_names *names,
		     const struct kallsyms_facts *file)
{
	struct kallsyms_name question = { .address = file->probe };
	int same;

	if (!file->probe || !names->object.size ||
	    asked_names(names->object, &question, 1))
		return -EOPNOTSUPP;
	same = question.name && question.start == file->probe &&
	       !strcmp(question.name, KALLSYMS_PROBE);
	free_name(&question);
	return same;
}

static int judge_file(const struct kernel_names *names,
		      const struct kallsyms_facts *file)
{
	struct kallsyms_facts running;
	int same;

	if (file->hidden)
		return refuse(names->file, "all its addresses are zero",
			      "save it as root with kernel.kptr_restrict=0");
	if (!file->text_start || !file->text_end)
		return refuse(names->file, "it has no _stext or no _etext",
			      "it has to be all of a /proc/kallsyms or "
			      "System.map");
	same = ask_about(names, file);
	if (same == -EOPNOTSUPP &&
	    !kallsyms_find(running_kallsyms, NULL, 0, &running) &&
	    !running.hidden && running.text_start)
		same = file->text_start == running.text_start &&
		       file->text_end == running.text_end;
	if (same == 0)
		return refuse(names->file, "not of this boot: the kernel has "
			      "other things at its addresses",
			      "each boot moves them; leave --kallsyms out if "
			      "the kernel can be asked");
	if (same < 0 && !file->modules && !booted_with("nokaslr"))
		return refuse(names->file, "a System.map has the addresses "
			      "before KASLR moved the kernel",
			      "give a copy of /proc/kallsyms of this boot, or "
			      "boot with nokaslr");
	return 0;
}

int kernel_names_check(struct kernel_names *names)
{
	struct kallsyms_facts facts;
	int error;

	if (!names->file)
		return 0;
	error = kallsyms_find(names->file, NULL, 0, &facts);
	if (error == -ENODATA)
		return refuse(names->file, "no line of it is a symbol",
			      "it has to look like /proc/kallsyms");
	if (!error)
		return judge_file(names, &facts);
	log_error("%s: --kallsyms: read: %s", names->file,
		  system_strerror(error));
	return error;
}

/*
 * By the user's file, which has been judged.  If most addresses are outside of
 * its text it is of another boot after all: rather no names than those.
 */
static void resolve_by_file(struct kernel_names *names)
{
	struct kallsyms_facts facts;
	size_t inside = 0;
	int error = kallsyms_find(names->file, names->names, names->count,
				  &facts);

	for (size_t i = 0; i < names->count; i++)
		inside += names->names[i].address >= facts.text_start &&
			  names->names[i].address < facts.text_end;
	if (!error && inside * 2 >= names->count)
		return;
	log_warning("%s: kernel symbols: %s: kernel frames stay addresses",
		    names->file, error ? system_strerror(error) :
		    "most sampled addresses are outside of its text");
	for (size_t i = 0; i < names->count; i++) {
		free_name(&names->names[i]);
		names->names[i].name = names->names[i].module = NULL;
	}
}

/*
 * Whether a frame has no name.  Not each address that was looked up needs
 * one: of a return address and the call before it only one is shown.
 */
static bool is_missed(const struct kernel_names *names,
		      const struct kernel_stack *stacks, size_t count)
{
	struct kernel_frame *frames = NULL;
	size_t capacity = 0;
	bool missed = false;

	for (size_t i = 0; !missed && i < count; i++) {
		frames = memory_grow(frames, &capacity, stacks[i].depth,
				     sizeof(*frames));
		kernel_names_stack(names, &stacks[i], frames);
		for (size_t j = 0; j < stacks[i].depth; j++)
			missed |= !frames[j].name;
	}
	free(frames);
	return missed;
}

static void resolve_by_kernel(struct kernel_names *names,
			      const struct kernel_stack *stacks, size_t count)
{
	struct kallsyms_facts facts;

	if (names->object.size && names->count <= ASKED_MOST)
		names->asked = !asked_names(names->object, names->names,
					    names->count);
	/* A second look: modules and BPF programs come while it is read. */
	for (int look = 0; look < 2 && is_missed(names, stacks, count);
	     look++) {
		int error = kallsyms_find(running_kallsyms, names->names,
					  names->count, &facts);

		if (error || facts.hidden) {
			tell_hidden(names, error);
			return;
		}
	}
}

void kernel_names_resolve(struct kernel_names *names,
			  const struct kernel_stack *stacks, size_t count)
{
	want_all(names, stacks, count);
	if (!names->count)
		return;
	if (names->file)
		resolve_by_file(names);
	else
		resolve_by_kernel(names, stacks, count);
}

/* -------------------------------------------------------- one stack */

static const struct kallsyms_name *find(const struct kernel_names *names,
					uint64_t address)
{
	size_t at = kallsyms_below(names->names, names->count, address);

	if (at == names->count || names->names[at].address != address)
		return NULL;
	return &names->names[at];
}

static bool starts_with_one_of(const char *name, const char *const *begins,
			       size_t count)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool is_interrupt_entry(const char *name)
{
	static const char *const entries[] = { ARCH_INTERRUPT_ENTRIES };

	return starts_with_one_of(name, entries,
				  sizeof(entries) / sizeof(*entries));
}

void kernel_names_stack(const struct kernel_names *names,
			const struct kernel_stack *stack,
			struct kernel_frame *frames)
{
	for (size_t i = 0; i < stack->depth; i++) {
		bool exact = i == 0 || is_interrupt_entry(frames[i - 1].name);
		uint64_t address = exact ? stack->ip[i] : stack->ip[i] - 1;
		const struct kallsyms_name *name = find(names, address);

		frames[i].address = address;
		frames[i].name = name ? name->name : NULL;
		frames[i].module = name ? name->module : NULL;
	}
}

bool kernel_frames_softirq(const struct kernel_frame *frames, size_t depth)
{
	static const char *const functions[] = {
		"__do_softirq", "handle_softirqs", "do_softirq",
		"irq_exit_rcu", "__irq_exit_rcu", "run_ksoftirqd",
	};

	for (size_t i = 0; i < depth; i++)
		if (starts_with_one_of(frames[i].name, functions,
				       sizeof(functions) / sizeof(*functions)))
			return true;
	return false;
}

bool kernel_frames_interrupt(const struct kernel_frame *frames, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (is_interrupt_entry(frames[i].name))
			return true;
	return false;
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free_name(&names->names[i]);
	free(names->names);
	free(names);
}
