/* SPDX-License-Identifier: MIT */
/*
 * whole SECONDS [WAY...]: burns CPU time at the ends of call chains that are
 * known, a process per way and named as it; without one, all.  `=WAY` is the
 * process itself.  Built without frame pointers.  Waits a little first, as what
 * is to be seen of it is not its start.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone, noipa))

static volatile unsigned long sink;
static struct timespec end;

ALONE void burn(void);
ALONE void burn(void)
{
	for (int i = 0; i < 50000; i++)
		sink += (unsigned long)i;
}

static int goes_on(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec &&
					   now.tv_nsec < end.tv_nsec);
}

/* The end of most chains: a leaf without a frame, called by one with. */
ALONE void work(void);
ALONE void work(void)
{
	while (goes_on())
		burn();
}

/* ---------------------------------------------------------------- recursion */

ALONE void down(int depth);
ALONE void down(int depth)
{
	if (depth)
		down(depth - 1);
	else
		work();
	sink++;
}

static void deep(void)
{
	down(79);
}

static void too_deep(void)
{
	down(199);
}

/* ------------------------------------------------------------------- frames */

ALONE void use(char *memory, size_t size);
ALONE void use(char *memory, size_t size)
{
	memory[0] = memory[size - 1] = (char)sink;
}

/* Its frame grows while it runs: the compiler has to keep a frame pointer. */
ALONE void grows(size_t size, int depth);
ALONE void grows(size_t size, int depth)
{
	/* cppcheck-suppress allocaCalled */
	char *memory = alloca(size);

	use(memory, size);
	if (depth)
		grows(size + 40, depth - 1);
	else
		work();
	use(memory, size);
}

static void growing(void)
{
	grows(100, 9);
}

/* Frames of which each has another size, aligned anew. */
ALONE void aligned(int depth);
ALONE void aligned(int depth)
{
	char memory[256] __attribute__((aligned(64)));

	use(memory, sizeof(memory));
	if (depth)
		aligned(depth - 1);
	else
		work();
	use(memory, sizeof(memory));
}

static void aligning(void)
{
	aligned(9);
}

void many(long a, long b, long c, long d, long e, long f, long g, long h,
	  int depth);
ALONE void many(long a, long b, long c, long d, long e, long f, long g, long h,
		int depth)
{
	long array[depth + 1];

	array[depth] = a + b + c + d + e + f;
	use((char *)array, sizeof(array));
	if (depth)
		many(b, c, d, e, f, g, h, a, depth - 1);
	else
		work();
	sink += (unsigned long)(a + b + c + d + e + f + g + h + array[0]);
}

static void arguments(void)
{
	many(1, 2, 3, 4, 5, 6, 7, 8, 9);
}

/* ------------------------------------------------------------------ signals */

ALONE void handler(int signal);
ALONE void handler(int signal)
{
	(void)signal;
	for (int i = 0; i < 10; i++)
		burn();
}

/* Interrupted at all of its instructions, the first ones of leaves as well. */
ALONE void interrupted(void);
ALONE void interrupted(void)
{
	while (goes_on())
		burn();
}

static void start_timer(void)
{
	/* Of its own CPU time, or it would do nothing else when that is rare. */
	struct itimerval often = { { 0, 4000 }, { 0, 4000 } };

	setitimer(ITIMER_VIRTUAL, &often, NULL);
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGVTALRM, &action, NULL);
	start_timer();
	interrupted();
	signal(SIGVTALRM, SIG_IGN);
}

/* On a stack of its own. */
static void other_stack(void)
{
	struct sigaction action = {
		.sa_handler = handler, .sa_flags = SA_ONSTACK,
	};
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	start_timer();
	interrupted();
	signal(SIGVTALRM, SIG_IGN);
}

/* Through address 0: nothing is mapped there, but the return address is. */
ALONE void crash_handler(int signal, siginfo_t *info, void *context);
ALONE void crash_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	work();
	_exit(0);
}

ALONE void crash(void);
ALONE void crash(void)
{
	void (*volatile nowhere)(void) = NULL;

	/* cppcheck-suppress nullPointer */
	nowhere();
	sink++;
}

static void crashing(void)
{
	struct sigaction action = {
		.sa_sigaction = crash_handler, .sa_flags = SA_SIGINFO,
	};

	sigaction(SIGSEGV, &action, NULL);
	crash();
}

/* -------------------------------------------------------------- other's code */

ALONE void *thread(void *unused);
ALONE void *thread(void *unused)
{
	work();
	return unused;
}

static void threads(void)
{
	pthread_t other;

	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
}

ALONE int compare(const void *a, const void *b);
ALONE int compare(const void *a, const void *b)
{
	for (int i = 0; i < 10; i++)
		burn();
	return *(const int *)a - *(const int *)b;
}

ALONE void sort(void);
ALONE void sort(void)
{
	int numbers[] = { 4, 2, 5, 1, 3 };

	qsort(numbers, 5, sizeof(*numbers), compare);
	sink += (unsigned long)numbers[0];
}

static void sorting(void)
{
	while (goes_on())
		sort();
}

ALONE void stubs_of(unsigned int *seed);
ALONE void stubs_of(unsigned int *seed)
{
	for (int i = 0; i < 1000; i++)
		sink += (unsigned long)rand_r(seed);
}

static void stubs(void)
{
	unsigned int seed = 1;

	while (goes_on())
		stubs_of(&seed);
}

static jmp_buf target;
static volatile int always = 1;

ALONE void jump(int depth);
ALONE void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	else if (always)
		longjmp(target, 1);
	sink++;
}

static void jumping(void)
{
	if (!setjmp(target))
		jump(20);
	work();
	sink++;
}

static void loading(const char *own)
{
	char path[4096];
	void *library;
	void (*call)(void (*)(void));

	/* Sampled without the library for some time. */
	for (int i = 0; i < 1000; i++)
		burn();
	snprintf(path, sizeof(path), "%s.so", own);
	library = dlopen(path, RTLD_NOW);
	call = library ? (void (*)(void (*)(void)))dlsym(library, "call") :
	       NULL;
	if (!call) {
		fprintf(stderr, "whole: %s\n", dlerror());
		exit(1);
	}
	call(work);
	sink++;
}

/* ---------------------------------------------------------------- assembly */

/*
 * Without .cfi: `bare` keeps a chain of frames, as its neighbours do not; `pushing`
 * has three words above its return address, and `alone` nothing.
 */
void bare(void (*call)(void));
void pushing(void);
/* On a stack that nothing is above of. */
void on_stack(void *stack, void (*call)(void));
__asm__(".text\n.type bare, @function\n.globl bare\n"
	"bare: push %rbp\nmov %rsp, %rbp\ncall *%rdi\npop %rbp\nret\n"
	".size bare, .-bare\n"
	".type pushing, @function\n.globl pushing\n"
	"pushing: push %rbx\nsub $16, %rsp\ncall alone\n"
	"add $16, %rsp\npop %rbx\nret\n.size pushing, .-pushing\n"
	".type alone, @function\n"
	"alone: mov $100000, %eax\n0: dec %eax\njnz 0b\nret\n"
	".size alone, .-alone\n"
	".type on_stack, @function\n.globl on_stack\n"
	"on_stack:\n.cfi_startproc\npush %rbx\nmov %rsp, %rbx\nmov %rdi, %rsp\n"
	"call *%rsi\nmov %rbx, %rsp\npop %rbx\nret\n.cfi_endproc\n"
	".size on_stack, .-on_stack\n.section .note.GNU-stack\n.text\n");

ALONE void inner(void);
ALONE void inner(void)
{
	work();
	sink++;
}

ALONE void outer(void);
ALONE void outer(void)
{
	bare(inner);
	sink++;
}

static void assembly(void)
{
	outer();
	sink++;
}

static void frameless(void)
{
	while (goes_on())
		pushing();
}

/* The bytes of `bare`, elsewhere: code that belongs to no file. */
static void made(void)
{
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3,
	};
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)(void));

	memcpy(memory, code, sizeof(code));
	call = (void (*)(void (*)(void)))memory;
	call(inner);
	sink++;
}

static void executed(void)
{
	inner();
	sink++;
}

/* Another program in the same process; it is this one. */
static void executing(const char *own)
{
	for (int i = 0; i < 1000; i++)
		burn();
	execl(own, own, "4", "=executed", NULL);
}

static void unreadable(void)
{
	char *memory = mmap(NULL, 65536 + 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(memory + 65536, 4096);
	on_stack(memory + 65536, inner);
	sink++;
}

/* --------------------------------------------------------------------- main */

static const struct way {
	const char *name;
	void (*call)(void);
} ways[] = {
	{ "deep", deep }, { "growing", growing }, { "aligning", aligning },
	{ "arguments", arguments }, { "signals", signals },
	{ "other_stack", other_stack }, { "crashing", crashing },
	{ "threads", threads }, { "sorting", sorting }, { "stubs", stubs },
	{ "jumping", jumping }, { "assembly", assembly },
	{ "frameless", frameless }, { "made", made },
	{ "too_deep", too_deep }, { "unreadable", unreadable },
	{ "loading", NULL }, { "executing", NULL }, { "executed", executed },
};

ALONE static void go(const struct way *way, const char *own)
{
	prctl(PR_SET_NAME, way->name);
	if (way->call)
		way->call();
	else if (!strcmp(way->name, "loading"))
		loading(own);
	else
		executing(own);
	sink++;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	usleep(200000);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		int wanted = argc <= 2 && ways[i].call != executed;

		for (int j = 2; j < argc; j++) {
			wanted |= !strcmp(argv[j], ways[i].name);
			if (*argv[j] == '=' && !strcmp(argv[j] + 1, ways[i].name))
				go(&ways[i], argv[0]);
		}
		if (wanted && !fork()) {
			go(&ways[i], argv[0]);
			exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
