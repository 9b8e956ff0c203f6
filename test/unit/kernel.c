/* SPDX-License-Identifier: MIT */
/* Kernel stacks: which address is looked up, and which lists are believed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf_prog.h"
#include "sym/kernel.h"
#include "test/unit/fake_bpf.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

static const char running[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T alpha\n"
	"ffffffff81000100 T beta\n"
	"ffffffff81000200 T gamma\n"
	"ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81000400 T asm_exc_page_fault\n"
	"ffffffff81000500 T delta\n"
	"ffffffff81000600 T __do_softirq\n"
	"ffffffff81000700 T el1h_64_irq\n"
	"ffffffff81000800 T _etext\n"
	"ffffffffc0000000 t mod_function\t[mod]\n"
	"ffffffffc0000100 t mod_last\t[mod]\n";

/* Without the BPF object the kernel is not asked; see below. */
static const struct bytes unasked;

static void set_running(const char *list)
{
	if (list)
		unit_write_text("running", list);
	redirect("/proc/kallsyms", list ? "running" : NULL);
}

/* "beta alpha": the names of one stack, leaf first; "-" for none. */
static const char *names_of(struct kernel_names *names, const uint64_t *ip,
			    size_t depth)
{
	static char text[4096];
	struct kernel_stack stack = { ip, depth };
	struct kernel_frame frames[127];
	size_t length = 0;

	kernel_names_stack(names, &stack, frames);
	text[0] = '\0';
	for (size_t i = 0; i < depth; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s%s", i ? " " : "",
					   frames[i].name ? frames[i].name :
					   "-");
	return text;
}

static const char *resolve(const uint64_t *ip, size_t depth)
{
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { ip, depth };
	const char *text;

	kernel_names_resolve(names, &stack, 1);
	text = names_of(names, ip, depth);
	kernel_names_free(names);
	return text;
}

#define RESOLVE(...)							\
	resolve((const uint64_t[]){ __VA_ARGS__ },			\
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/*
 * A call that is the last instruction of its function returns to the first
 * byte of the next: of gamma to alpha's end, which is beta's beginning.
 */
TEST(kernel_return_addresses)
{
	set_running(running);
	CHECK_TEXT(RESOLVE(0xffffffff81000210, 0xffffffff81000100),
		   "gamma alpha");
	/* The leaf's address is exact: that is beta's first instruction. */
	CHECK_TEXT(RESOLVE(0xffffffff81000100, 0xffffffff81000100,
			   0xffffffff81000200),
		   "beta alpha beta");
	CHECK_TEXT(RESOLVE(0xffffffff81000000, 0xffffffff81000001),
		   "alpha alpha");
	/* Nothing is before the first function. */
	CHECK_TEXT(RESOLVE(0xffffffff81000010, 0xffffffff81000000),
		   "alpha -");
}

/* What an interrupt interrupted is no call: its address is exact again. */
TEST(kernel_behind_interrupts)
{
	set_running(running);
#if defined(__x86_64__)
	CHECK_TEXT(RESOLVE(0xffffffff81000210, 0xffffffff81000310,
			   0xffffffff81000100, 0xffffffff81000200),
		   "gamma asm_sysvec_apic_timer_interrupt beta beta");
	/* Twice: a page fault in an interrupt. */
	CHECK_TEXT(RESOLVE(0xffffffff81000210, 0xffffffff81000410,
			   0xffffffff81000500, 0xffffffff81000310,
			   0xffffffff81000100, 0xffffffff81000100),
		   "gamma asm_exc_page_fault delta "
		   "asm_sysvec_apic_timer_interrupt beta alpha");
	/* The entry itself is the leaf. */
	CHECK_TEXT(RESOLVE(0xffffffff81000300, 0xffffffff81000200),
		   "asm_sysvec_apic_timer_interrupt gamma");
#elif defined(__aarch64__)
	CHECK_TEXT(RESOLVE(0xffffffff81000210, 0xffffffff81000710,
			   0xffffffff81000100, 0xffffffff81000200),
		   "gamma el1h_64_irq beta beta");
#endif
}

TEST(kernel_frames_say_what_was_looked_up)
{
	const uint64_t ip[] = { 0xffffffff81000210, 0xffffffff81000100 };
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { ip, 2 };
	struct kernel_frame frames[2];

	set_running(running);
	kernel_names_resolve(names, &stack, 1);
	kernel_names_stack(names, &stack, frames);
	CHECK_U64(frames[0].address, 0xffffffff81000210);
	CHECK_U64(frames[1].address, 0xffffffff810000ff);
	kernel_names_free(names);
}

TEST(kernel_modules)
{
	const uint64_t ip[] = { 0xffffffffc0000010, 0xffffffffc0000100,
				0xffffffffc0900000 };
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { ip, 3 };
	struct kernel_frame frames[3];

	set_running(running);
	kernel_names_resolve(names, &stack, 1);
	kernel_names_stack(names, &stack, frames);
	CHECK_TEXT(frames[0].name, "mod_function");
	CHECK_TEXT(frames[1].name, "mod_function");
	CHECK_TEXT(frames[2].name, NULL);
	kernel_names_free(names);
}

TEST(kernel_nothing_to_name)
{
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack empty = { NULL, 0 };

	set_running(NULL);
	kernel_names_resolve(names, NULL, 0);
	kernel_names_resolve(names, &empty, 1);
	CHECK_TEXT(unit_messages(), "");
	kernel_names_free(names);
	kernel_names_free(NULL);
}

/* Later stacks: what is known stays, what was missed is looked for again. */
TEST(kernel_resolves_again)
{
	const uint64_t one[] = { 0xffffffff81000010, 0xffffffffc0500010 };
	const uint64_t two[] = { 0xffffffff81000110, 0xffffffff81000210,
				 0xffffffffc0500010 };
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { one, 2 };

	set_running(running);
	kernel_names_resolve(names, &stack, 1);
	CHECK_TEXT(names_of(names, one, 2), "alpha -");
	set_running("ffffffff81000000 T renamed\n"
		    "ffffffff81000100 T beta\n"
		    "ffffffff81000200 T gamma\n"
		    "ffffffff81000300 T end\n"
		    "ffffffffc0500000 t new_module\t[new]\n");
	stack = (struct kernel_stack){ two, 3 };
	kernel_names_resolve(names, &stack, 1);
	CHECK_TEXT(names_of(names, two, 3), "beta gamma new_module");
	CHECK_TEXT(names_of(names, one, 2), "alpha new_module");
	kernel_names_free(names);
}

TEST(kernel_many_stacks)
{
	static uint64_t ips[2000][8];
	static struct kernel_stack stacks[2000];
	static const char *const order[] = { "alpha", "beta", "gamma" };
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	uint64_t random = 6;

	set_running(running);
	for (size_t i = 0; i < 2000; i++) {
		for (size_t j = 0; j < 8; j++)
			ips[i][j] = 0xffffffff81000001 +
				    unit_random(&random) % 0x2ff;
		stacks[i] = (struct kernel_stack){ ips[i], 8 };
	}
	kernel_names_resolve(names, stacks, 2000);
	for (size_t i = 0; i < 2000; i++) {
		struct kernel_frame frames[8];

		kernel_names_stack(names, &stacks[i], frames);
		for (size_t j = 0; j < 8; j++) {
			uint64_t at = ips[i][j] - (j > 0) - 0xffffffff81000000;

			CHECK_TEXT(frames[j].name, order[at / 0x100]);
		}
	}
	kernel_names_free(names);
}

/* ------------------------------------------------------ asking the kernel */

/* What "%pS" would make of each address. */
static void answer(void)
{
	static const struct {
		uint64_t address;
		const char *answer;
	} answers[] = {
		{ 0xffffffff81000210, "asked_leaf+0x10/0x100" },
		{ 0xffffffff810000ff, "asked_call+0xff/0x100" },
		{ 0xffffffffc0000034, "nf_hook+0x34/0x90 [nf_tables]" },
		{ 0xffffffff81000100, "__pfx_f+0x0/0x10" },
		{ 0xffffffff81000500, "odd+name+0x0/0x10" },
		{ 0xffffffff81000600, "cut+0x" },
		{ 0xffffffff81000700, "+0x0/0x10" },
		{ 0xffffffff81000800, "below+0xffffffffffffff00/0x10" },
		{ 0xffffffff81012340, "vfs_read+0x0/0x340" },
		{ 0xffffffff81012400, "vfs_read+0xc0/0x340" },
		{ 0xffffffff81012500, "vfs_write+0x0/0x340" },
	};
	uint32_t zero = 0;
	struct questions *asked = fake_get(fake_map("questions"), &zero);

	CHECK(asked->count && asked->count <= QUESTIONS_MOST);
	for (size_t i = 0; i < asked->count; i++) {
		snprintf(asked->answer[i], ANSWER_SIZE, "0x%llx",
			 (unsigned long long)asked->address[i]);
		for (size_t j = 0; j < sizeof(answers) / sizeof(*answers); j++)
			if (answers[j].address == asked->address[i])
				strcpy(asked->answer[i], answers[j].answer);
	}
}

static const char *ask(const uint64_t *ip, size_t depth)
{
	struct kernel_names *names = kernel_names_new(NULL, unit_object());
	struct kernel_stack stack = { ip, depth };
	const char *text;

	fake_bpf.run = answer;
	kernel_names_resolve(names, &stack, 1);
	text = names_of(names, ip, depth);
	kernel_names_free(names);
	return text;
}

#define ASK(...)							\
	ask((const uint64_t[]){ __VA_ARGS__ },				\
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(kernel_asked)
{
	size_t before = unit_descriptors();

	set_running(NULL);
	CHECK_TEXT(ASK(0xffffffff81000210, 0xffffffff81000100),
		   "asked_leaf asked_call");
	CHECK_TEXT(ASK(0xffffffffc0000034), "nf_hook");
	CHECK_TEXT(ASK(0xffffffff81000500), "odd+name");
	CHECK_TEXT(unit_messages(), "");
	/* No names: padding, a text that is cut, an offset beyond the address. */
	CHECK_TEXT(ASK(0xffffffff81000100), "-");
	CHECK_TEXT(ASK(0xffffffff81000600), "-");
	CHECK_TEXT(ASK(0xffffffff81000700), "-");
	CHECK_TEXT(ASK(0xffffffff81000800), "-");
	CHECK_TEXT(ASK(0), "-");
	fake_bpf_reset();
	CHECK_U64(unit_descriptors(), before);
}

/* What the kernel does not say is looked up; what it says is kept. */
TEST(kernel_asked_and_read)
{
	set_running(running);
	CHECK_TEXT(ASK(0xffffffff81000210, 0xffffffff81000100,
		       0xffffffff81000110),
		   "asked_leaf asked_call beta");
	fake_bpf_reset();
}

/* A kernel that cannot be asked (before 5.14): read, without a word. */
TEST(kernel_cannot_be_asked)
{
	set_running(running);
	fake_bpf.load_errors = 100;
	fake_bpf.load_error = -EINVAL;
	CHECK_TEXT(ASK(0xffffffff81000210, 0xffffffff81000110), "gamma beta");
	fake_bpf_reset();
	fake_bpf.fail_map = 1;
	fake_bpf.map_error = -EPERM;
	CHECK_TEXT(ASK(0xffffffff81000210, 0xffffffff81000110), "gamma beta");
	fake_bpf_reset();
	fake_bpf.run_error = -524;
	CHECK_TEXT(ASK(0xffffffff81000210, 0xffffffff81000110), "gamma beta");
	fake_bpf_reset();
	CHECK_TEXT(unit_messages(), "");
}

/* More addresses than fit one question. */
TEST(kernel_asked_many)
{
	static uint64_t ip[127];
	struct kernel_names *names = kernel_names_new(NULL, unit_object());
	struct kernel_stack stack = { ip, 127 };
	struct kernel_frame frames[127];

	set_running(NULL);
	for (size_t i = 0; i < 127; i++)
		ip[i] = 0xffffffff90000000 + i * 16;
	ip[0] = 0xffffffff81000210;
	ip[126] = 0xffffffff81000100;
	fake_bpf.run = answer;
	kernel_names_resolve(names, &stack, 1);
	kernel_names_stack(names, &stack, frames);
	CHECK_TEXT(frames[0].name, "asked_leaf");
	CHECK_TEXT(frames[126].name, "asked_call");
	CHECK_TEXT(frames[50].name, NULL);
	kernel_names_free(names);
	fake_bpf_reset();
}

/* ---------------------------------------------------- no names to be had */

static const uint64_t somewhere[] = { 0xffffffff81000110 };

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

TEST(kernel_hidden_is_said_once)
{
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { somewhere, 1 };
	const char *messages;

	unit_write_text("kptr_restrict", "1\n");
	redirect("/proc/sys/kernel/kptr_restrict", "kptr_restrict");
	set_running("0000000000000000 T _stext\n0000000000000000 T f\n");
	kernel_names_resolve(names, &stack, 1);
	kernel_names_resolve(names, &stack, 1);
	CHECK_TEXT(names_of(names, somewhere, 1), "-");
	messages = unit_messages();
	CHECK_U64(count_of(messages, "warning"), 1);
	CHECK(strstr(messages, "kptr_restrict"));
	kernel_names_free(names);
}

TEST(kernel_missing_is_said_once)
{
	struct kernel_names *names = kernel_names_new(NULL, unasked);
	struct kernel_stack stack = { somewhere, 1 };
	const char *messages;

	set_running(NULL);
	kernel_names_resolve(names, &stack, 1);
	kernel_names_resolve(names, &stack, 1);
	messages = unit_messages();
	CHECK_U64(count_of(messages, "warning"), 1);
	CHECK(strstr(messages, "--kallsyms"));
	kernel_names_free(names);
}

/* ---------------------------------------------------------- --kallsyms */

static const char system_map[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T alpha\n"
	"ffffffff81000100 T beta\n"
	"ffffffff81000800 T _etext\n";

/* Uses the user's list: 0 and the name of `address`, or the refusal. */
static int use_file_and_ask(const char *list, uint64_t address,
			    struct bytes object, const char **name)
{
	struct kernel_names *names = kernel_names_new("file", object);
	struct kernel_stack stack = { &address, 1 };
	int error;

	if (list)
		unit_write_text("file", list);
	error = kernel_names_check(names);
	if (!error)
		kernel_names_resolve(names, &stack, 1);
	*name = names_of(names, &address, 1);
	kernel_names_free(names);
	return error;
}

static int use_file(const char *list, uint64_t address, const char **name)
{
	return use_file_and_ask(list, address, unasked, name);
}

static void check_believed(const char *list, uint64_t address)
{
	const char *name;

	CHECK(!use_file(list, address, &name));
	CHECK_TEXT(name, "beta");
	CHECK_TEXT(unit_messages(), "");
}

/* Refused, with the file, the reason, a remedy, and without any name. */
static void check_refused(const char *list, const char *why)
{
	const char *name, *messages;

	CHECK(use_file(list, 0xffffffff81000110, &name) == -EINVAL);
	CHECK_TEXT(name, "-");
	messages = unit_messages();
	if (!strstr(messages, "prof: file: ") || !strstr(messages, why) ||
	    count_of(messages, "\n") != 2)
		unit_fail(__FILE__, __LINE__, "%s", messages);
}

/* Believed at first, until the samples say that it cannot be. */
static void check_doubted(const char *list, uint64_t address)
{
	const char *name;

	CHECK(!use_file(list, address, &name));
	CHECK_TEXT(name, "-");
	CHECK(strstr(unit_messages(), "outside of its text"));
}

/* Where the running kernel shows its own, it decides. */
TEST(kernel_file_beside_running)
{
	char other[2048];

	set_running(running);
	check_believed(running, 0xffffffff81000110);
	check_believed(system_map, 0xffffffff81000110);
	check_refused("ffffffff92000000 T _stext\nffffffff81000100 T beta\n"
		      "ffffffff92000800 T _etext\n", "not of this boot");
	/* The same beginning, another end: another kernel without KASLR. */
	strcpy(other, running);
	memcpy(strstr(other, "ffffffff81000800"), "ffffffff81000900", 16);
	check_refused(other, "not of this boot");
	/* Neither mark: nothing says that it fits. */
	check_refused("ffffffff81000100 T beta\n"
		      "ffffffffc0000000 t f\t[mod]\n", "_stext");
	check_refused("ffffffff81000000 T _stext\n"
		      "ffffffff81000100 T beta\n", "_etext");
}

TEST(kernel_file_alone)
{
	set_running("0000000000000000 T _stext\n");
	redirect("/proc/cmdline", "cmdline");
	unit_write_text("cmdline", "root=/dev/vda quiet\n");
	/* Modules: it was saved from a running kernel. */
	check_believed(running, 0xffffffff81000110);
	/* ... but another one's text is elsewhere. */
	check_doubted(running, 0xffffffff95000110);
	check_refused(system_map, "System.map");
	unit_write_text("cmdline", "root=/dev/vda nokaslr quiet\n");
	check_believed(system_map, 0xffffffff81000110);
	check_doubted(system_map, 0xffffffff95000110);
	unit_write_text("cmdline", "nokaslr");
	check_believed(system_map, 0xffffffff81000110);
	unit_write_text("cmdline", "root=/dev/vda quiet nokaslr\n");
	check_believed(system_map, 0xffffffff81000110);
	unit_write_text("cmdline", "xnokaslr nokaslr=0 nokaslrx\n");
	check_refused(system_map, "System.map");
	redirect("/proc/cmdline", NULL);
	check_refused(system_map, "System.map");
	/* No /proc/kallsyms at all: the same rules. */
	set_running(NULL);
	check_believed(running, 0xffffffff81000110);
	check_refused(system_map, "System.map");
}

/* A kernel that can be asked knows best, whatever /proc/kallsyms shows. */
static int ask_about(const char *probe, const char **name)
{
	char list[1024];
	int error;

	snprintf(list, sizeof(list), "ffffffff81000000 T _stext\n"
		 "ffffffff81000100 T beta\n"
		 "ffffffff81000200 T gamma\n"
		 "%s T vfs_read\nffffffff81100000 T _etext\n", probe);
	fake_bpf.run = answer;
	error = use_file_and_ask(list, 0xffffffff81000110, unit_object(),
				 name);
	fake_bpf_reset();
	return error;
}

TEST(kernel_file_and_ask)
{
	const char *name;

	set_running(NULL);
	redirect("/proc/cmdline", NULL);
	CHECK(!ask_about("ffffffff81012340", &name));
	CHECK_TEXT(name, "beta");
	CHECK_TEXT(unit_messages(), "");
	/* In the midst of it, at another function, at nothing. */
	CHECK(ask_about("ffffffff81012400", &name) == -EINVAL);
	CHECK_TEXT(name, "-");
	CHECK(strstr(unit_messages(), "not of this boot"));
	CHECK(ask_about("ffffffff81012500", &name) == -EINVAL);
	CHECK(ask_about("ffffffff81019999", &name) == -EINVAL);
}

TEST(kernel_file_useless)
{
	const char *name;

	set_running(running);
	check_refused("0000000000000000 T _stext\n0000000000000000 T beta\n"
		      "0000000000000000 T _etext\n", "zero");
	check_refused("", "no line");
	check_refused("nothing of the kind\n", "no line");
	remove("file");
	CHECK(use_file(NULL, 0xffffffff81000110, &name) == -ENOENT);
	CHECK(strstr(unit_messages(), "prof: file: "));
}

/* Gone between the look at it and the end: addresses, and a word. */
TEST(kernel_file_vanishes)
{
	struct kernel_names *names = kernel_names_new("file", unasked);
	struct kernel_stack stack = { somewhere, 1 };

	set_running(running);
	unit_write_text("file", running);
	CHECK(!kernel_names_check(names));
	remove("file");
	kernel_names_resolve(names, &stack, 1);
	CHECK_TEXT(names_of(names, somewhere, 1), "-");
	CHECK(strstr(unit_messages(), "prof: warning: file: "));
	kernel_names_free(names);
}

/* ------------------------------------------------- what a stack tells */

static bool softirq(const char *name)
{
	struct kernel_frame frames[3] = {
		{ .name = "alpha" }, { .name = name }, { .name = NULL },
	};

	return kernel_frames_softirq(frames, 3);
}

static bool interrupt(const char *name)
{
	struct kernel_frame frames[3] = {
		{ .name = NULL }, { .name = "alpha" }, { .name = name },
	};

	return kernel_frames_interrupt(frames, 3);
}

TEST(kernel_frames_tell)
{
	CHECK(softirq("__do_softirq"));
	CHECK(softirq("handle_softirqs"));
	CHECK(softirq("run_ksoftirqd"));
	CHECK(softirq("__irq_exit_rcu"));
	CHECK(!softirq("beta"));
	CHECK(!softirq("softirq"));
	CHECK(!softirq(NULL));
	CHECK(!softirq(""));
	CHECK(!interrupt("beta"));
	CHECK(!interrupt(NULL));
	CHECK(!interrupt("do_idle"));
	CHECK(!kernel_frames_interrupt(NULL, 0));
	CHECK(!kernel_frames_softirq(NULL, 0));
#if defined(__x86_64__)
	CHECK(interrupt("asm_sysvec_apic_timer_interrupt"));
	CHECK(interrupt("asm_exc_page_fault"));
	CHECK(interrupt("asm_common_interrupt"));
	CHECK(interrupt("ret_from_intr"));
	CHECK(!interrupt("entry_SYSCALL_64_after_hwframe"));
	CHECK(!interrupt("ret_from_fork_asm"));
	CHECK(!interrupt("sysvec_apic_timer_interrupt"));
#endif
}
