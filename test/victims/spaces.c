/* SPDX-License-Identifier: MIT */
/*
 * spaces: a program whose address space changes while it burns.
 *
 *	spaces burn MS			burns, no more
 *	spaces exec MS FILE OTHER	executes OTHER, then FILE, and so on, for
 *					MS each, all under one name
 *	spaces dl MS A.so B.so		opens, calls burn() of, and closes both in
 *					turn, for MS each
 *	spaces maps N MS		maps N pages of code first
 *	spaces leader MS		its first thread ends, another burns
 *	spaces memfd MS			executes itself from memory
 *	spaces chroot DIRECTORY FILE MS	executes FILE below DIRECTORY as its root
 *	spaces jit MS			burns in memory of no file
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static volatile unsigned long sum;

/* Puts the code elsewhere in the file. */
#ifdef PAD
__asm__(".text\n.skip 0x4000, 0x90\n");
#endif

__attribute__((noinline)) static void spin(void)
{
	for (int i = 0; i < 20000; i++)
		sum += (unsigned long)i;
}

__attribute__((noinline)) static void burn(double ms)
{
	double end = now() + ms / 1e3;

	while (now() < end)
		spin();
}

/* Two programs that are called the same, in turn, as one process. */
static void next_program(char **argv)
{
	char *args[] = { argv[0], argv[1], argv[2], argv[4], argv[3], NULL };

	prctl(PR_SET_NAME, "again");
	burn(atof(argv[2]));
	execv(argv[4], args);
	_exit(1);
}

static void open_and_close(char **argv)
{
	double ms = atof(argv[2]);

	for (int i = 0;; i++) {
		void *library = dlopen(argv[3 + i % 2], RTLD_NOW);
		void (*call)(void) = library ? (void (*)(void))dlsym(library,
							"burn") : NULL;
		double end = now() + ms / 1e3;

		if (!call)
			_exit(1);
		while (now() < end)
			call();
		dlclose(library);
	}
}

static void *burn_on(void *ms)
{
	burn(atof(ms));
	return NULL;
}

static void map_code(int count)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; i < count; i++)
		(void)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		     i % 2 * 4096);
	close(fd);
}

static void run_from_memory(char **argv)
{
	char *args[] = { "in memory", "burn", argv[2], NULL };
	int from = open("/proc/self/exe", O_RDONLY);
	int to = memfd_create("code", MFD_CLOEXEC);
	char data[65536];
	ssize_t size;

	while ((size = read(from, data, sizeof(data))) > 0)
		if (write(to, data, (size_t)size) != size)
			_exit(1);
	fexecve(to, args, environ);
	_exit(1);
}

/* Instructions that loop, in memory. */
static void run_made_code(double ms)
{
	static const unsigned char code[] = {
#if defined(__x86_64__)
		/* mov $1000000,%ecx; dec %ecx; jne .-2; ret */
		0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
#elif defined(__aarch64__)
		/* movz x0, #0xf, lsl 16; subs x0, x0, #1; b.ne .-4; ret */
		0xe0, 0x01, 0xa0, 0xd2, 0x00, 0x04, 0x00, 0xf1,
		0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
#endif
	};
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double end = now() + ms / 1e3;

	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(page, page + sizeof(code));
	while (sizeof(code) > 1 && now() < end)
		((void (*)(void))page)();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(argv[0], "in memory"))
		prctl(PR_SET_NAME, argv[0]);
	if (!strcmp(what, "burn") && argc > 2) {
		burn(atof(argv[2]));
	} else if (!strcmp(what, "exec") && argc > 4) {
		next_program(argv);
	} else if (!strcmp(what, "dl") && argc > 4) {
		open_and_close(argv);
	} else if (!strcmp(what, "maps") && argc > 3) {
		map_code(atoi(argv[2]));
		burn(atof(argv[3]));
	} else if (!strcmp(what, "leader") && argc > 2) {
		pthread_create(&thread, NULL, burn_on, argv[2]);
		pthread_exit(NULL);
	} else if (!strcmp(what, "memfd") && argc > 2) {
		run_from_memory(argv);
	} else if (!strcmp(what, "chroot") && argc > 4) {
		if (chroot(argv[2]) || chdir("/"))
			return 1;
		execl(argv[3], argv[3], "burn", argv[4], (char *)NULL);
		return 1;
	} else if (!strcmp(what, "jit") && argc > 2) {
		run_made_code(atof(argv[2]));
	} else {
		fprintf(stderr, "usage: spaces WHAT ...; see spaces.c\n");
		return 2;
	}
	return 0;
}
