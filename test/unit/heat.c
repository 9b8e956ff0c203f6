/* SPDX-License-Identifier: MIT */
/* Heat: what is hot in a profile that is being filled. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "test/unit/redirect.h"
#include "test/unit/unit.h"
#include "tui/heat.h"

enum { SHOW_ALL = SHOW_KERNEL | SHOW_USER | SHOW_IDLE };

static const uint64_t second = 1000000000;

static const char kernel_list[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T alpha\n"
	"ffffffff81000100 T beta\n"
	"ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81000400 T el1h_64_irq\n"
	"ffffffff81000500 T __do_softirq\n"
	"ffffffff81000600 T do_idle\n"
	"ffffffff81000700 T _etext\n"
	"ffffffffc0000000 t work\t[mod]\n"
	"ffffffffc0000100 t last\t[mod]\n";

static struct profile *profile;
static struct heat heat;

static void open_heat(unsigned int show)
{
	unit_write_text("kallsyms", kernel_list);
	redirect("/proc/kallsyms", "kallsyms");
	profile = profile_new(show, STACK_DEPTH, NULL, (struct bytes){ 0 });
	profile_watch(profile);
	heat_new(&heat, profile);
}

static void close_heat(void)
{
	heat_free(&heat);
	profile_free(profile);
}

/* Stacks leaf first, ended by a zero; NULL: none. */
static void add(uint32_t tid, const char *comm, const uint64_t *kernel,
		const uint64_t *user, uint64_t samples)
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
	sample.key.kernel = kernel ? 12345 : STACK_NONE;
	sample.key.user = user ? 54321 : STACK_NONE;
	profile_add(profile, &sample);
	profile_drained(profile);
}

#define STACK(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

/* Naming rests for twenty times as long as it took. */
static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

/* "name image samples, ...": the hottest first. */
static const char *functions(void)
{
	static char text[4096];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < heat.function_count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
			"%s%s %s %d", i ? ", " : "", heat.functions[i]->name,
			heat.functions[i]->image,
			(int)heat.functions[i]->samples);
	return text;
}

/* Different addresses of one function are one. */
TEST(heat_names_kernel_leaves)
{
	open_heat(SHOW_ALL);
	add(1, "a", STACK(0xffffffff81000010, 0xffffffff81000110), NULL, 5);
	add(1, "a", STACK(0xffffffff81000020, 0xffffffff81000110), NULL, 3);
	add(1, "a", STACK(0xffffffff81000120), NULL, 2);
	add(2, "b", STACK(0xffffffffc0000010), STACK(0x1000), 9);
	heat_look(&heat, second);
	CHECK_TEXT(functions(), "work mod 9, alpha [kernel] 8, "
		   "beta [kernel] 2");
	CHECK_U64(heat.functions[0]->kind, TREE_MODULE);
	CHECK_U64(heat.busy, 19);
	CHECK(heat.busy_now == 19);
	close_heat();
}

TEST(heat_user_code)
{
	open_heat(SHOW_ALL);
	add(1, "a", NULL, STACK(0x1000, 0x2000), 5);
	add(1, "a", NULL, STACK(0x1010, 0x2000), 2);
	heat_look(&heat, second);
	CHECK_U64(heat.function_count, 1);
	CHECK_U64(heat.functions[0]->samples, 7);
	CHECK_U64(heat.functions[0]->kind, TREE_NOTE);
	close_heat();
}

TEST(heat_idle_is_apart)
{
	open_heat(SHOW_ALL);
	add(0, "swapper/0", STACK(0xffffffff81000610), NULL, 90);
	add(0, "swapper/0", STACK(0xffffffff81000510, 0xffffffff81000610),
	    NULL, 4);
	add(1, "a", STACK(0xffffffff81000010), NULL, 6);
	heat_look(&heat, second);
	/* What is the idle task's, but no idling, is known at the next look. */
	heat_look(&heat, second);
	rest();
	heat_look(&heat, second);
	CHECK_U64(heat.idle, 90);
	CHECK_U64(heat.busy, 10);
	CHECK_TEXT(functions(), "alpha [kernel] 6, __do_softirq [kernel] 4");
	close_heat();
}

/* What is hot now is first, however hot something else has been. */
TEST(heat_cools)
{
	open_heat(SHOW_ALL);
	add(1, "a", STACK(0xffffffff81000010), NULL, 1000);
	heat_look(&heat, second);
	for (int i = 0; i < 12; i++) {
		add(2, "b", STACK(0xffffffff81000110), NULL, 100);
		if (i == 11)
			rest();
		heat_look(&heat, second);
	}
	CHECK_TEXT(functions(), "beta [kernel] 1200, alpha [kernel] 1000");
	CHECK_U64(heat.threads[0]->comm, profile->tasks[1].comm);
	CHECK(heat.functions[0]->now > 4 * heat.functions[1]->now);
	for (int i = 0; i < 100; i++)
		heat_look(&heat, second);
	CHECK_U64(heat.function_count, 0);
	CHECK_U64(heat.busy, 2200);
	close_heat();
}

/* The same samples are hot, and not twice, as the profile goes on. */
TEST(heat_leaves_the_profile_as_it_is)
{
	uint64_t total = 0;

	open_heat(SHOW_ALL);
	for (int i = 0; i < 5; i++) {
		add(1, "a", STACK(0xffffffff81000010 + (uint64_t)i), NULL, 10);
		add(1, "a", NULL, STACK(0x1000), 1);
		heat_look(&heat, second);
	}
	profile_name(profile);
	for (size_t i = 0; i < profile->stack_count; i++)
		total += profile->stacks[i].samples;
	CHECK_U64(total, 55);
	CHECK_U64(profile->total, 55);
	CHECK_U64(heat.busy, 55);
	close_heat();
}

TEST(heat_shows_what_is_wanted)
{
	open_heat(SHOW_USER);
	add(1, "a", STACK(0xffffffff81000010), STACK(0x1000), 5);
	add(1, "a", STACK(0xffffffff81000010), NULL, 3);
	heat_look(&heat, second);
	CHECK_U64(heat.busy, 5);
	CHECK_U64(heat.functions[0]->kind, TREE_NOTE);
	close_heat();
	open_heat(SHOW_KERNEL);
	add(1, "a", STACK(0xffffffff81000010), STACK(0x1000), 5);
	add(1, "a", NULL, STACK(0x1000), 3);
	heat_look(&heat, second);
	CHECK_TEXT(functions(), "alpha [kernel] 5");
	close_heat();
}

/* Names that cannot be had are looked for once, and not at each look. */
TEST(heat_without_names)
{
	open_heat(SHOW_ALL);
	redirect("/proc/kallsyms", NULL);
	add(1, "a", STACK(0xffffffff81000010), NULL, 5);
	add(1, "a", STACK(0xffffffff81000110), NULL, 5);
	heat_look(&heat, second);
	CHECK_TEXT(functions(), "[kernel] [kernel] 10");
	rest();
	heat_look(&heat, second);
	CHECK_TEXT(functions(), "[kernel] [kernel] 10");
	close_heat();
}

static void count_one(void *context, const struct profile_glance *glance)
{
	(void)glance;
	++*(size_t *)context;
}

/* When nobody looks on, names come for many at once. */
TEST(heat_is_not_watched)
{
	size_t seen = 0;

	open_heat(SHOW_ALL);
	profile_free(profile);
	profile = profile_new(SHOW_ALL, STACK_DEPTH, NULL,
			      (struct bytes){ 0 });
	add(1, "a", STACK(0xffffffff81000010), NULL, 1);
	profile_drained(profile);
	profile_glance(profile, count_one, &seen);
	CHECK_U64(seen, 0);
	for (uint32_t i = 0; i < 4095; i++)
		add(i + 2, "a", STACK(0xffffffff81000010), NULL, 1);
	profile_drained(profile);
	profile_glance(profile, count_one, &seen);
	CHECK_U64(seen, 4096);
	close_heat();
}
