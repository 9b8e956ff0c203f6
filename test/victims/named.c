/* SPDX-License-Identifier: MIT */
/*
 * named: burns in functions whose names are hard to get right.
 *
 *	named MS chain		main, outer, middle, leaf
 *	named MS gap		leaf; and code between two functions, nobody's
 *	named MS bare		leaf; and a function in assembler, without a size
 *	named MS alias		one place with several names: best_name
 *	named MS last		a call that is a function's last instruction
 *	named MS clones		.constprop, .part and others of one function
 *	named MS stub		in the PLT, if it is linked so
 *	named MS clock		in the vDSO
 *	named MS copy		in memcpy(3), of which there are many
 *	named MS signal		in a signal's handler
 *	named MS jit MAP	in made code; MAP: good, grows, late, none, fifo,
 *				link, links, stale, other, junk
 *	named MS map FILE...	in the last page of each of the files
 *
 * All but `chain` are called as they are here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* A loop of a million turns, and its end: what it takes to burn. */
static const unsigned char code[] = {
#if defined(__x86_64__) || defined(__i386__)
	/* mov $1000000,%ecx; dec %ecx; jne .-2; ret */
	0xb9, 0x40, 0x42, 0x0f, 0x00, 0x83, 0xe9, 0x01, 0x75, 0xfb, 0xc3,
#define LOOP(begin) "\tmov $1000000, %ecx\n" begin "\tdec %ecx\n" \
	"\tjnz 1b\n\tret\n"
#elif defined(__aarch64__)
	/* movz x0, #0xf, lsl 16; subs x0, x0, #1; b.ne .-4; ret */
	0xe0, 0x01, 0xa0, 0xd2, 0x00, 0x04, 0x00, 0xf1,
	0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
#define LOOP(begin) "\tmovz x0, #0xf, lsl 16\n" begin \
	"\tsubs x0, x0, #1\n\tb.ne 1b\n\tret\n"
#endif
};

/* Functions of known bounds, with a loop of nobody's between the first two. */
#ifdef LOOP
__asm__(".text\n.globl before_gap, after_gap, in_gap, bare_loop\n"
	".type before_gap, %function\nbefore_gap:\n" LOOP("1:")
	".size before_gap, . - before_gap\n"
	".Lin_gap:\n" LOOP("1:")
	".type after_gap, %function\nafter_gap:\n" LOOP("1:")
	".size after_gap, . - after_gap\n"
	".data\n.balign 8\nin_gap:\n"
#if __SIZEOF_POINTER__ == 8
	".quad .Lin_gap\n"
#else
	".long .Lin_gap\n"
#endif
	".text\n"
	"bare_loop:\n" LOOP("1:")
	".section .text.end_of_bare, \"ax\", %progbits\n.text\n");
extern void (*in_gap)(void);
void bare_loop(void);
#endif

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static volatile unsigned long sum;

/* Compilers leave the frame out where no stack is used. */
static NOINLINE void leaf(void)
{
	volatile unsigned long room[64];

	for (int i = 0; i < 200000; i++)
		room[i % 64] = (unsigned long)i;
	sum += room[0];
}

static NOINLINE void middle(void)
{
	leaf();
	sum++;
}

NOINLINE void outer(void);
NOINLINE void outer(void)
{
	middle();
	sum++;
}

/* ------------------------------------------------------------------ names */

NOINLINE void __best_name(void);
NOINLINE void __best_name(void)
{
	leaf();
	sum++;
}
void best_name(void) __attribute__((alias("__best_name")));
void a_weak_name(void) __attribute__((weak, alias("__best_name")));
static void a_local(void) __attribute__((used, alias("__best_name")));

/* The call does not return: behind it the next function begins. */
static double the_end;

__attribute__((noreturn)) NOINLINE static void burn_and_exit(void)
{
	while (now() < the_end)
		leaf();
	_exit(0);
}

NOINLINE void last_call(void);
NOINLINE void last_call(void)
{
	burn_and_exit();
}
NOINLINE void next_of_last(void);
NOINLINE void next_of_last(void)
{
	sum++;
}

static NOINLINE void clone_a(void) __asm__("cloned.constprop.0");
static NOINLINE void clone_b(void) __asm__("cloned.part.0.isra.0");
static NOINLINE void clone_c(void) __asm__("cloned.cold");

static void clone_a(void)
{
	leaf();
	sum++;
}

static void clone_b(void)
{
	clone_a();
	sum++;
}

static void clone_c(void)
{
	clone_b();
	sum++;
}

static void on_signal(int number)
{
	(void)number;
	while (now() < the_end)
		leaf();
	_exit(0);
}

NOINLINE static void raise_it(void)
{
	volatile int *volatile nowhere = (volatile int *)8;

	signal(SIGSEGV, on_signal);
	*nowhere = 1;
	sum++;
}

/* ------------------------------------------------------------------- code */

typedef void call(void);

static char map_path[64];

static void end(int number)
{
	(void)number;
	unlink(map_path);
	_exit(0);
}

static void write_map(const void *page, const char *name, const char *mode)
{
	FILE *file = fopen(map_path, mode);

	if (!file)
		_exit(1);
	fprintf(file, "%lx %zx %s\n", (unsigned long)(size_t)page,
		sizeof(code), name);
	fclose(file);
}

static void make_map(const void *page, const char *kind)
{
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	char other[80];
	FILE *file;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.other", map_path);
	unlink(map_path);
	signal(SIGTERM, end);
	if (!strcmp(kind, "none"))
		return;
	if (!strcmp(kind, "fifo")) {
		mkfifo(map_path, 0644);
		return;
	}
	write_map(page, !strcmp(kind, "grows") ? "first name" :
		  "made by hand", "w");
	if (!strcmp(kind, "stale"))
		utimensat(AT_FDCWD, map_path, old, 0);
	if (!strcmp(kind, "other") && chown(map_path, 12345, 12345))
		_exit(1);
	if (!strcmp(kind, "link") &&
	    (rename(map_path, other) || symlink(other, map_path)))
		_exit(1);
	if (!strcmp(kind, "links") && link(map_path, other))
		_exit(1);
	if (!strcmp(kind, "late") && truncate(map_path, 0))
		_exit(1);
	if (!strcmp(kind, "junk")) {
		file = fopen(map_path, "a");
		if (!file)
			_exit(1);
		fprintf(file, "zz zz zz\n0 ffffffffffffffff\n%lx -1 wrong\n"
			"%lx 0 wrong\n", (unsigned long)(size_t)page,
			(unsigned long)(size_t)page);
		fclose(file);
	}
}

static void burn_made(double ms, const char *kind)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double begin = now();
	char other[80], name[16];
	int grown = 0;

	snprintf(name, sizeof(name), "jit %s", kind);
	prctl(PR_SET_NAME, name);
	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(page, page + sizeof(code));
	make_map(page, kind);
	while (sizeof(code) > 1 && now() < begin + ms / 1e3) {
		((call *)(void *)page)();
		if (!grown && now() > begin + ms / 2e3) {
			grown = 1;
			if (!strcmp(kind, "grows"))
				write_map(page, "second name", "a");
			if (!strcmp(kind, "late"))
				write_map(page, "made by hand", "a");
		}
	}
	snprintf(other, sizeof(other), "%s.other", map_path);
	unlink(other);
	unlink(map_path);
}

static void burn_mapped(double ms, char **files)
{
	double end_of_all = now() + ms / 1e3;
	char *page[256];
	int count = 0;

	prctl(PR_SET_NAME, "map");
	for (; count < 256 && files[count]; count++) {
		int fd = open(files[count], O_RDONLY);
		long size = lseek(fd, 0, SEEK_END) & ~4095L;

		page[count] = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE, fd, size - 4096);
		close(fd);
		if (page[count] == MAP_FAILED)
			_exit(1);
	}
	while (count && now() < end_of_all)
		for (int i = 0; i < count; i++)
			((call *)(void *)page[i])();
}

/* ------------------------------------------------------------------ kinds */

static void burn_copy(void)
{
	static char from[65536], to[65536];
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;

	copy(to, from, sizeof(to));
}

#ifdef STUBBED
void stubbed(void);
#else
#define stubbed getppid
#endif

static void burn_stub(void)
{
	for (int i = 0; i < 10000; i++)
		stubbed();
}

static void once(const char *kind)
{
	if (!strcmp(kind, "gap") || !strcmp(kind, "bare")) {
#ifdef LOOP
		if (!strcmp(kind, "gap"))
			in_gap();
		else
			bare_loop();
#endif
		leaf();
	} else if (!strcmp(kind, "alias")) {
		best_name();
	} else if (!strcmp(kind, "last")) {
		last_call();
	} else if (!strcmp(kind, "signal")) {
		raise_it();
	} else if (!strcmp(kind, "clones")) {
		clone_c();
	} else if (!strcmp(kind, "stub")) {
		burn_stub();
	} else if (!strcmp(kind, "clock")) {
		now();
	} else if (!strcmp(kind, "copy")) {
		burn_copy();
	} else {
		outer();
	}
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 0;
	const char *kind = argc > 2 ? argv[2] : "chain";

	the_end = now() + ms / 1e3;
	if (!strcmp(kind, "jit") && argc > 3) {
		burn_made(ms, argv[3]);
		return 0;
	}
	if (!strcmp(kind, "map")) {
		burn_mapped(ms, argv + 3);
		return 0;
	}
	if (strcmp(kind, "chain"))
		prctl(PR_SET_NAME, kind);
	while (now() < the_end)
		once(kind);
	return 0;
}
