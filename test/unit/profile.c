/* SPDX-License-Identifier: MIT */
/* From samples to folded lines: each sample in one line, and only there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/balance.h"
#include "out/out.h"
#include "profile.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

enum { SHOW_ALL = SHOW_KERNEL | SHOW_USER | SHOW_IDLE };

static const char kernel_list[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T alpha\n"
	"ffffffff81000100 T beta\n"
	"ffffffff81000200 T gamma\n"
	"ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81000400 T el1h_64_irq\n"
	"ffffffff81000500 T __do_softirq\n"
	"ffffffff81000600 T do_idle\n"
	"ffffffff81000700 T _etext\n"
	"ffffffff82000000 D data\n";

#if defined(__aarch64__)
#define ENTRY 0xffffffff81000410
#define ENTRY_NAME "el1h_64_irq"
#else
#define ENTRY 0xffffffff81000310
#define ENTRY_NAME "asm_sysvec_apic_timer_interrupt"
#endif

static struct profile *new_profile(unsigned int show, size_t depth)
{
	unit_write_text("kallsyms", kernel_list);
	redirect("/proc/kallsyms", "kallsyms");
	/* Each address is an offset of one file. */
	unit_write_text("maps", "0-7ffffffff000 r-xp 00000000 fe:00 1 /u\n"
			"8000000000000000-ffffffffff000000 r-xp "
			"8000000000000000 fe:00 1 /u\n");
	for (unsigned int i = 0; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%u/maps", 4194305 + i);
		redirect(path, "maps");
	}
	return profile_new(show, depth, NULL, (struct bytes){ 0 });
}

/* Stacks as in struct sample, leaf first, ended by a zero; NULL: none. */
static void add(struct profile *profile, uint32_t tid, const char *comm,
		const uint64_t *kernel, const uint64_t *user, uint64_t samples)
{
	struct sample sample = {
		.key = { .tgid = tid, .tid = tid },
		.count = { samples, 1000, 2000 },
		.kernel = kernel, .user = user,
	};

	strncpy(sample.key.comm, comm, sizeof(sample.key.comm) - 1);
	while (kernel && kernel[sample.kernel_depth])
		sample.kernel_depth++;
	while (user && user[sample.user_depth])
		sample.user_depth++;
	if (kernel)
		sample.key.kernel = 12345;
	if (user)
		sample.key.user = 54321;
	profile_add(profile, &sample);
}

static void add_words(struct profile *profile, uint32_t tid, const char *comm,
		      uint64_t kernel, uint64_t user, uint64_t samples)
{
	struct sample sample = {
		.key = { .tgid = tid, .tid = tid, .kernel = kernel,
			 .user = user },
		.count = { samples, 1000, 2000 },
	};

	strncpy(sample.key.comm, comm, sizeof(sample.key.comm) - 1);
	profile_add(profile, &sample);
}

#define STACK(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

/* Names the profile, writes it folded, and gives the text; to be freed. */
static char *folded(struct profile *profile)
{
	struct meta meta = { 0 };
	char *text;

	profile_name(profile);
	CHECK(!out_write(profile, &meta, out_named("folded"), "out"));
	text = unit_read("out", NULL);
	CHECK(text);
	return text;
}

static void check_folded(struct profile *profile, const char *want)
{
	char *text = folded(profile);

	CHECK_TEXT(text, want);
	free(text);
	profile_free(profile);
}

static uint64_t listed(const struct profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->stack_count; i++)
		sum += profile->stacks[i].samples;
	return sum;
}

static uint64_t by_modes(const struct profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MODE_COUNT; i++)
		sum += profile->by_mode[i];
	return sum;
}

enum { PID = 4194305 };

/* ---------------------------------------------------------------- lines */

TEST(profile_root_first)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "prog",
	    STACK(0xffffffff81000210, 0xffffffff81000110),
	    STACK(0x3000, 0x2000, 0x1000), 7);
	check_folded(profile, "prog;[u+0xfff];[u+0x1fff];[u+0x3000];"
		     "beta_[k];gamma_[k] 7\n");
}

TEST(profile_empty)
{
	check_folded(new_profile(SHOW_ALL, 127), "");
	profile_free(NULL);
	profile_free(new_profile(SHOW_ALL, 127));
}

/* A frame without a name shows what was looked up. */
TEST(profile_unnamed)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "prog",
	    STACK(0xffffffff81000210, 0xffffffffc0000010), NULL, 3);
	add(profile, PID, "prog",
	    STACK(0xffffffffc0000020, 0xffffffffc0000010), NULL, 5);
	check_folded(profile, "prog;[0xffffffffc000000f]_[k];"
		     "[0xffffffffc0000020]_[k] 5\n"
		     "prog;[0xffffffffc000000f]_[k];gamma_[k] 3\n");
}

/* Lines that read alike are one, whatever they came from. */
TEST(profile_merges_equal_text)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "prog", STACK(0xffffffff81000210), NULL, 1);
	add(profile, PID + 1, "prog", STACK(0xffffffff81000210), NULL, 2);
	/* Another address of the same function, another element. */
	add(profile, PID, "prog", STACK(0xffffffff81000220), NULL, 4);
	add(profile, PID, "prog", STACK(0xffffffff81000210), NULL, 8);
	/* Another comm that reads alike. */
	add(profile, PID + 2, "a;b", STACK(0xffffffff81000210), NULL, 16);
	add(profile, PID + 2, "a:b", STACK(0xffffffff81000210), NULL, 32);
	add(profile, PID + 2, "a b", STACK(0xffffffff81000210), NULL, 64);
	check_folded(profile, "a b;gamma_[k] 64\na:b;gamma_[k] 48\n"
		     "prog;gamma_[k] 15\n");
}

/* The same name as user frame and as kernel frame are two lines. */
TEST(profile_keeps_kinds_apart)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "prog", STACK(0xffffffffc0000010), NULL, 1);
	add(profile, PID, "prog", NULL, STACK(0xffffffffc0000010), 2);
	check_folded(profile, "prog;[u+0xffffffffc0000010] 2\n"
		     "prog;[0xffffffffc0000010]_[k] 1\n");
}

/* By samples, then by the bytes of the stack, prefixes first. */
TEST(profile_order)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "b", NULL, STACK(0x10), 5);
	add(profile, PID, "a", NULL, STACK(0x20, 0x11), 5);
	add(profile, PID, "a", NULL, STACK(0x10), 5);
	add(profile, PID, "a.b", NULL, STACK(0x10), 5);
	add(profile, PID, "a-b", NULL, STACK(0x10), 5);
	add(profile, PID, "ab", NULL, STACK(0x10), 5);
	add(profile, PID, "\xc3\xa4", NULL, STACK(0x10), 5);
	add(profile, PID, "z", NULL, STACK(0x10), 10);
	add(profile, PID, "0", NULL, STACK(0x10), 4);
	add(profile, PID, "A", NULL, STACK(0x10), 5);
	/* '-' 2d, '.' 2e, ';' 3b, 'A' 41, 'a' 61, 'b' 62, 0xc3 */
	check_folded(profile, "z;[u+0x10] 10\n"
		     "A;[u+0x10] 5\n"
		     "a-b;[u+0x10] 5\n"
		     "a.b;[u+0x10] 5\n"
		     "a;[u+0x10] 5\n"
		     "a;[u+0x10];[u+0x20] 5\n"
		     "ab;[u+0x10] 5\n"
		     "b;[u+0x10] 5\n"
		     "\xc3\xa4;[u+0x10] 5\n"
		     "0;[u+0x10] 4\n");
}

TEST(profile_large_counts)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "a", NULL, STACK(0x10), UINT64_MAX - 1);
	add(profile, PID, "a", NULL, STACK(0x10), 1);
	add(profile, PID, "b", NULL, STACK(0x10), 1ull << 32);
	add(profile, PID, "c", NULL, STACK(0x10), 1);
	check_folded(profile, "a;[u+0x10] 18446744073709551615\n"
		     "b;[u+0x10] 4294967296\nc;[u+0x10] 1\n");
}

/* ------------------------------------------------------- what is missing */

TEST(profile_notes)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add_words(profile, PID, "a", STACK_LOST, STACK_NONE, 1);
	add_words(profile, PID, "b", STACK_NONE, STACK_COLLIDED, 2);
	add_words(profile, PID, "c", STACK_FAILED, STACK_LOST, 3);
	add_words(profile, PID, "d", STACK_COLLIDED, STACK_FAILED, 4);
	add_words(profile, PID, "e", STACK_NONE, STACK_NONE, 5);
	check_folded(profile, "e;[no stack] 5\n"
		     "d;[stack error];[collision] 4\n"
		     "c;[lost];[stack error] 3\n"
		     "b;[collision] 2\n"
		     "a;[lost] 1\n");
}

/* Kernel threads have no user stack, user mode has no kernel stack. */
TEST(profile_one_stack)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "kthreadd", STACK(0xffffffff81000010), NULL, 2);
	add(profile, PID, "prog", NULL, STACK(0x10), 1);
	check_folded(profile, "kthreadd;alpha_[k] 2\nprog;[u+0x10] 1\n");
}

/* A stack of as many frames as the kernel gives may have had more. */
TEST(profile_truncated)
{
	uint64_t deep[STACK_DEPTH + 1] = { 0 };

	for (size_t depth = 1; depth <= STACK_DEPTH; depth += 63) {
		for (size_t limit = depth; limit <= depth + 1; limit++) {
			struct profile *profile =
				new_profile(SHOW_ALL, limit);
			char *text;

			for (size_t i = 0; i < depth; i++)
				deep[i] = 0x10;
			deep[depth] = 0;
			add(profile, PID, "user", NULL, deep, 1);
			for (size_t i = 0; i < depth; i++)
				deep[i] = 0xffffffff81000010;
			add(profile, PID, "kern", deep, NULL, 1);
			text = folded(profile);
			/* Nothing was ever deeper than STACK_DEPTH. */
			if (limit == depth || depth == STACK_DEPTH) {
				CHECK(strstr(text, "user;[truncated];[u+0x"));
				CHECK(strstr(text, "kern;[truncated];alpha_"));
			} else {
				CHECK(!strstr(text, "truncated"));
			}
			free(text);
			profile_free(profile);
		}
	}
}

TEST(profile_deepest_of_both)
{
	struct profile *profile = new_profile(SHOW_ALL, 1000);
	uint64_t user[STACK_DEPTH + 1] = { 0 };
	uint64_t kernel[STACK_DEPTH + 1] = { 0 };
	size_t semicolons = 0;
	char *text;

	for (size_t i = 0; i < STACK_DEPTH; i++) {
		user[i] = 0x1000 + i;
		kernel[i] = 0xffffffff81000010 + i;
	}
	add(profile, PID, "prog", kernel, user, 1);
	text = folded(profile);
	for (const char *p = text; *p; p++)
		semicolons += *p == ';';
	CHECK_U64(semicolons, 2 * (STACK_DEPTH + 1));
	CHECK(!strncmp(text, "prog;[truncated];[u+0x107d];", 26));
	CHECK(strstr(text, ";[u+0x1000];[truncated];alpha_[k];"));
	free(text);
	profile_free(profile);
}

/* ----------------------------------------------------------------- modes */

TEST(profile_modes)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	add(profile, PID, "prog", NULL, STACK(0x10), 1);
	add(profile, PID, "prog", STACK(0xffffffff81000010), STACK(0x10), 2);
	add(profile, PID, "kthread", STACK(0xffffffff81000010), NULL, 4);
	add(profile, 0, "swapper/0", STACK(0xffffffff81000610), NULL, 8);
	/* Any interrupt's work in the idle task, soft ones in all. */
	add(profile, 0, "swapper/0", STACK(0xffffffff81000010, ENTRY,
					   0xffffffff81000610), NULL, 16);
	add(profile, 0, "swapper/0", STACK(0xffffffff81000510,
					   0xffffffff81000610), NULL, 32);
	add(profile, PID, "prog", STACK(0xffffffff81000510, ENTRY),
	    STACK(0x10), 64);
	/* An interrupt in a program is the kernel's time. */
	add(profile, PID, "prog", STACK(0xffffffff81000010, ENTRY),
	    STACK(0x10), 128);
	add_words(profile, PID, "prog", STACK_NONE, STACK_NONE, 256);
	add_words(profile, PID, "prog", STACK_LOST, STACK_NONE, 512);
	profile_name(profile);
	CHECK_U64(profile->by_mode[MODE_USER], 1);
	CHECK_U64(profile->by_mode[MODE_KERNEL], 2 + 4 + 128 + 512);
	CHECK_U64(profile->by_mode[MODE_IDLE], 8);
	CHECK_U64(profile->by_mode[MODE_SOFTIRQ], 16 + 32 + 64);
	CHECK_U64(profile->by_mode[MODE_UNKNOWN], 256);
	CHECK_U64(profile->filtered, 0);
	CHECK_U64(listed(profile), 1023);
	profile_free(profile);
}

/* Only thread 0 of process 0 is the idle task. */
TEST(profile_idle_task)
{
	struct profile *profile = new_profile(SHOW_KERNEL | SHOW_USER, 127);

	add(profile, 0, "swapper/1", STACK(0xffffffff81000610), NULL, 1);
	add(profile, PID, "swapper/1", STACK(0xffffffff81000610), NULL, 2);
	add(profile, 0, "swapper/1", STACK(0xffffffff81000510), NULL, 4);
	check_folded(profile, "swapper/1;__do_softirq_[k] 4\n"
		     "swapper/1;do_idle_[k] 2\n");
}

/* A task of which only the number is not known has 0 as well. */
TEST(profile_elsewhere_is_not_idle)
{
	struct profile *profile = new_profile(SHOW_KERNEL | SHOW_USER, 127);
	struct sample sample = {
		.key = { .comm = "far", .flags = TASK_ELSEWHERE, .kernel = 99 },
		.count = { 3, 1, 2 },
		.kernel = STACK(0xffffffff81000610), .kernel_depth = 1,
	};

	profile_add(profile, &sample);
	profile_skip(profile, &sample);
	sample.key.flags = 0;
	sample.count.samples = 5;
	profile_skip(profile, &sample);
	CHECK_U64(profile->filtered, 8);
	CHECK_U64(profile->elsewhere, 3);
	check_folded(profile, "far;do_idle_[k] 3\n");
}

TEST(profile_interrupted_frames)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);

	/* Exact behind the entry: beta; a return address: alpha. */
	add(profile, PID, "prog", STACK(0xffffffff81000210, ENTRY,
					0xffffffff81000100,
					0xffffffff81000100), NULL, 1);
	check_folded(profile, "prog;alpha_[k];beta_[k];" ENTRY_NAME
		     "_[k];gamma_[k] 1\n");
}

/* ---------------------------------------------------------------- filters */

static void add_mixture(struct profile *profile)
{
	add(profile, PID, "prog", NULL, STACK(0x10), 1);
	add(profile, PID, "prog", STACK(0xffffffff81000010), STACK(0x10), 2);
	add(profile, PID, "kthread", STACK(0xffffffff81000010), NULL, 4);
	add(profile, 0, "swapper/0", STACK(0xffffffff81000610), NULL, 8);
	add_words(profile, PID, "gone", STACK_NONE, STACK_NONE, 16);
	add_words(profile, PID, "note", STACK_LOST, STACK_NONE, 32);
	add_words(profile, PID, "note", STACK_NONE, STACK_LOST, 64);
}

/* Whatever is shown: listed + filtered is all there was. */
TEST(profile_filters_add_up)
{
	for (unsigned int show = 0; show < 8; show++) {
		struct profile *profile = new_profile(show, 127);

		add_mixture(profile);
		profile_name(profile);
		CHECK_U64(listed(profile) + profile->filtered, 127);
		CHECK_U64(by_modes(profile), listed(profile));
		profile_free(profile);
	}
}

TEST(profile_kernel_only)
{
	struct profile *profile = new_profile(SHOW_KERNEL | SHOW_IDLE, 127);
	char *text;

	add_mixture(profile);
	text = folded(profile);
	CHECK_TEXT(text, "note;[lost] 32\n"
		   "gone;[no stack] 16\n"
		   "swapper/0;do_idle_[k] 8\n"
		   "kthread;alpha_[k] 4\n"
		   "prog;alpha_[k] 2\n");
	CHECK_U64(profile->filtered, 1 + 64);
	free(text);
	profile_free(profile);
}

TEST(profile_user_only)
{
	struct profile *profile = new_profile(SHOW_USER | SHOW_IDLE, 127);
	char *text;

	add_mixture(profile);
	text = folded(profile);
	/* In the kernel on behalf of the same user stack: one line. */
	CHECK_TEXT(text, "note;[lost] 64\n"
		   "gone;[no stack] 16\n"
		   "prog;[u+0x10] 3\n");
	CHECK_U64(profile->filtered, 4 + 8 + 32);
	free(text);
	profile_free(profile);
}

TEST(profile_no_idle)
{
	struct profile *profile = new_profile(SHOW_KERNEL | SHOW_USER, 127);
	char *text;

	add_mixture(profile);
	text = folded(profile);
	CHECK(!strstr(text, "swapper"));
	CHECK_U64(profile->filtered, 8);
	CHECK_U64(profile->by_mode[MODE_IDLE], 0);
	free(text);
	profile_free(profile);
}

/* ----------------------------------------------------------------- many */

struct canned {
	uint32_t tid;
	uint64_t kernel[4], user[4], samples;
};

static void make_canned(struct canned *canned, size_t count)
{
	uint64_t random = 16;

	for (size_t i = 0; i < count; i++) {
		uint64_t bits = unit_random(&random);

		canned[i] = (struct canned){
			.tid = PID + bits % 5,
			.samples = (bits >> 8) % 3 + 1,
		};
		for (size_t j = 0; j < (bits >> 16) % 4; j++)
			canned[i].kernel[j] = 0xffffffff81000010 +
					      (bits >> (20 + 4 * j)) % 8 * 256;
		for (size_t j = 0; j < (bits >> 40) % 4; j++)
			canned[i].user[j] = 0x1000 + (bits >> (44 + 2 * j)) % 4;
	}
}

static char *fold_canned(const struct canned *canned, size_t count,
			 uint64_t *all)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);
	char comm[16], *text;

	*all = 0;
	for (size_t i = 0; i < count; i++) {
		if (i % 100 == 0)
			profile_round(profile);
		sprintf(comm, "t%u", canned[i].tid - PID);
		add(profile, canned[i].tid, comm,
		    *canned[i].kernel ? canned[i].kernel : NULL,
		    *canned[i].user ? canned[i].user : NULL,
		    canned[i].samples);
		*all += canned[i].samples;
	}
	text = folded(profile);
	CHECK_U64(listed(profile), *all);
	CHECK_U64(by_modes(profile), *all);
	profile_free(profile);
	return text;
}

TEST(profile_counts_add_up)
{
	enum { COUNT = 5000 };
	static struct canned canned[COUNT];
	uint64_t all, sum = 0, last = UINT64_MAX;
	char *text, *before = "";

	make_canned(canned, COUNT);
	text = fold_canned(canned, COUNT, &all);
	for (char *line = strtok(text, "\n"); line;
	     line = strtok(NULL, "\n")) {
		char *space = strrchr(line, ' ');
		uint64_t samples = strtoull(space + 1, NULL, 10);

		*space = '\0';
		CHECK(samples && samples <= last);
		/* Ascending among equals, and so never twice. */
		if (samples == last)
			CHECK(strcmp(before, line) < 0);
		before = line;
		last = samples;
		sum += samples;
	}
	CHECK_U64(sum, all);
	free(text);
}

/* The order in which elements are drained is the hash's: it must not show. */
TEST(profile_any_order_gives_the_same)
{
	enum { COUNT = 1000 };
	static struct canned canned[COUNT];
	uint64_t all, random = 17;
	char *first, *other;

	make_canned(canned, COUNT);
	first = fold_canned(canned, COUNT, &all);
	for (int round = 0; round < 5; round++) {
		for (size_t i = COUNT; i > 1; i--) {
			size_t j = unit_random(&random) % i;
			struct canned keep = canned[i - 1];

			canned[i - 1] = canned[j];
			canned[j] = keep;
		}
		other = fold_canned(canned, COUNT, &all);
		CHECK_TEXT(other, first);
		free(other);
	}
	free(first);
}

TEST(profile_times)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);
	struct sample sample = {
		.key = { .tgid = PID, .tid = PID, .comm = "p", .user = 99 },
		.user = STACK(0x10), .user_depth = 1,
	};

	sample.count = (struct count){ 1, 500, 600 };
	profile_add(profile, &sample);
	sample.key.slot = 7;
	sample.count = (struct count){ 2, 300, 400 };
	profile_add(profile, &sample);
	sample.count = (struct count){ 3, 450, 900 };
	profile_add(profile, &sample);
	profile_name(profile);
	CHECK_U64(profile->stack_count, 1);
	CHECK_U64(profile->stacks[0].samples, 6);
	CHECK_U64(profile->stacks[0].first, 300);
	CHECK_U64(profile->stacks[0].last, 900);
	profile_free(profile);
}

/* ------------------------------------------------------ names from outside */

TEST(profile_hostile_names)
{
	struct profile *profile;

	unit_write_text("kallsyms",
			"ffffffff81000000 T odd;name\n"
			"ffffffff81000100 T esc\x1b[31m\n"
			"ffffffff81000200 T bad\xff\n"
			"ffffffff81000300 T end\n"
			"ffffffff81000400 T _etext\n");
	redirect("/proc/kallsyms", "kallsyms");
	profile = profile_new(SHOW_ALL, 127, NULL, (struct bytes){ 0 });
	unit_write_text("maps", "00001000-00002000 r-xp 00000000 fe:00 1 "
			"/tmp/a;b c\x1b (deleted)\n");
	redirect("/proc/4194305/maps", "maps");
	profile_round(profile);
	add(profile, PID, "#a;b 12", STACK(0xffffffff81000010,
					   0xffffffff81000110,
					   0xffffffff81000210),
	    STACK(0x1010), 1);
	check_folded(profile, "_a:b 12;[a:b c?+0x10];bad\xef\xbf\xbd_[k];"
		     "esc?[31m_[k];odd:name_[k] 1\n");
}

/* A list that cannot be believed is told before anything is sampled. */
TEST(profile_refused_file)
{
	struct profile *profile;

	unit_write_text("kallsyms", kernel_list);
	redirect("/proc/kallsyms", "kallsyms");
	unit_write_text("other", "ffffffff91000000 T _stext\n"
				 "ffffffff91000000 T f\n");
	profile = profile_new(SHOW_ALL, 127, "other", (struct bytes){ 0 });
	CHECK(profile_check(profile) < 0);
	CHECK(strstr(unit_messages(), "other"));
	profile_free(profile);
}

/* --------------------------------------------------------------- outputs */

TEST(out_formats)
{
	CHECK(out_named("folded"));
	CHECK(!out_named("") && !out_named("Folded") && !out_named("fold"));
	CHECK(out_for_file("x") == out_named("folded"));
	CHECK(out_for_file("x.folded") == out_named("folded"));
	CHECK(out_for_file("x.txt") == out_named("folded"));
	CHECK(out_for_file("/a.b/x") == out_named("folded"));
	CHECK(out_for_file("/dev/null") == out_named("folded"));
	CHECK(!out_for_file("x.docx"));
	CHECK(!out_for_file("x.folded.gz"));
	CHECK(!out_for_file("x."));
}

/* All that are offered are there. */
TEST(out_offered)
{
	char names[256];

	snprintf(names, sizeof(names), "%s", out_names);
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
		CHECK(out_named(name) && !strcmp(out_named(name)->name, name));
}

TEST(out_write_fails)
{
	struct profile *profile = new_profile(SHOW_ALL, 127);
	struct meta meta = { 0 };

	add(profile, PID, "prog", NULL, STACK(0x10), 1);
	profile_name(profile);
	CHECK(out_write(profile, &meta, out_named("folded"), "/dev/full") == -ENOSPC);
	CHECK(strstr(unit_messages(), "/dev/full: write: "));
	CHECK(out_write(profile, &meta, out_named("folded"), "none/x") == -ENOENT);
	CHECK(strstr(unit_messages(), "none/x: write: "));
	profile_free(profile);
}

/* --------------------------------------------------------------- balance */

TEST(balance_adds_up)
{
	struct profile *profile = new_profile(SHOW_KERNEL | SHOW_USER, 127);
	struct balance balance = {
		.hz = 99, .cpus = 2, .wall = 1000000000, .expected = 150,
		.cpu_time = 2000000000, .kind.clock = true, .drained = 127,
	};
	unsigned long long user, kernel, idle, softirq, unknown, filtered,
			   lost, missing;
	struct meta meta = { 0 };
	const char *text;

	add_mixture(profile);
	profile_name(profile);
	balance.tally.n[TALLY_TICKS] = 127 + 3 + 2 + 1;
	balance.tally.n[TALLY_COUNTED] = 127;
	balance.tally.n[TALLY_COUNT_FULL] = 3;
	balance.tally.n[TALLY_COUNT_BUSY] = 2;
	balance.tally.n[TALLY_COUNT_FAILED] = 1;
	balance.tally.n[TALLY_STACK_FULL] = 50;
	CHECK_U64(balance_lost(&balance), 6);
	balance_describe(&balance, profile, &meta);
	meta_tell(&meta);
	text = unit_messages();
	text = strchr(text, '\n');
	CHECK(text);
	if (sscanf(text, " prof: user %llu %*f %% prof: kernel %llu %*f %% "
		   "prof: idle %llu %*f %% prof: softirq %llu %*f %% "
		   "prof: unknown %llu %*f %% prof: filtered %llu %*f %% "
		   "prof: lost %llu %*f %% prof: unaccounted %llu", &user,
		   &kernel, &idle, &softirq, &unknown, &filtered, &lost,
		   &missing) != 8)
		unit_fail(__FILE__, __LINE__, "%s", text);
	CHECK_U64(user, 1 + 64);
	CHECK_U64(kernel, 2 + 4 + 32);
	CHECK_U64(idle, 0);
	CHECK_U64(unknown, 16);
	CHECK_U64(filtered, 8);
	CHECK_U64(lost, 6);
	CHECK_U64(user + kernel + idle + softirq + unknown + filtered + lost +
		  missing, balance.expected);
	CHECK(meta.balanced && meta.foreseen);
	CHECK_U64(meta.sampled, 133);
	CHECK_U64(meta.expected, 150);
	CHECK_U64(meta.lost, 6);
	CHECK_U64((uint64_t)meta.unaccounted, 17);
	meta_free(&meta);
	profile_free(profile);
}
