/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bpf_prog.h: the contract between bpf_prog.c, which runs in the kernel, and
 * samples.c, stackid.c and sym/asked.c, which read its maps.  Fixed types, no hidden padding, sizes
 * asserted: the two sides are compiled by different compilers for different
 * machines.
 *
 *	stacks0 stacks1   hash of: u64 -> struct stack       one pair is live,
 *	counts0 counts1   hash of: struct count_key -> count  the other quiet
 *	live              [0] -> u32: which pair the next tick uses
 *	seeds             [0] -> struct seeds
 *	scope             [0] -> struct scope: which tasks are whose
 *	cgroups           [0] -> descriptor of the cgroup that is asked for
 *	tallies           [0] -> struct tally of each CPU
 */
#ifndef BPF_PROG_H
#define BPF_PROG_H

#include <linux/types.h>

#include "bpf/lanes.h"	/* struct seeds */
#include "bpf/unwind.h"	/* tables to walk user stacks by */

enum {
	/* As many as bpf_get_stack gives: perf_event_max_stack's default. */
	STACK_DEPTH = 127,
	/* Stacks are hashed this many words at a time: 128 is a multiple. */
	STACK_WORDS = 128,
	COMM_SIZE = 16,		/* TASK_COMM_LEN of the kernel */
	SLOT_SHIFT = 23,	/* a time slot is 2^23 ns: 8.4 ms */
};

/* A stack as bpf_get_stack gives it: ip[0] is the leaf. */
struct stack {
	__u64 check;		/* second lane of its hash; the first is the key */
	__u64 depth;		/* frames in ip */
	__u64 ip[STACK_WORDS];	/* zero beyond depth; the last word always is */
};

/*
 * What stands in count_key where the key of a stack could stand.  No hash is
 * below STACK_FIRST.
 */
enum {
	STACK_NONE = 0,		/* there is none: a kernel thread has no user
				   stack, a tick in user mode no kernel stack */
	STACK_LOST = 1,		/* it could not be stored */
	STACK_COLLIDED = 2,	/* another stack has the same first lane */
	STACK_FAILED = 3,	/* bpf_get_stack gave an error */
	STACK_FIRST = 16,
};

/* count_key.flags */
enum {
	TASK_IN_CGROUP = 1,	/* in cgroups[0], or below it */
	TASK_ELSEWHERE = 2,	/* in a PID namespace that has no number for
				   it that we know; tgid and tid are 0 */
};

struct count_key {
	__u32 tgid, tid;	/* as our own PID namespace numbers them */
	char comm[COMM_SIZE];
	__u64 slot;		/* bpf_ktime_get_ns() >> SLOT_SHIFT */
	__u64 kernel, user;	/* keys into stacks, or STACK_ above */
	__u32 flags, unused;
};

/* What user space tells the program about itself and its wishes. */
struct scope {
	__u64 namespace_device;	/* of our PID namespace, if it is not the */
	__u64 namespace_inode;	/* first one; else 0 */
	__u32 cgroup;		/* whether cgroups[0] is set */
	__u32 unused;
};

struct count {
	__u64 samples;
	__u64 first, last;	/* bpf_ktime_get_ns() of its samples */
};

/*
 * The textbook's program, for learners and as a fallback: the kernel's own map
 * for stacks gives them numbers, and a stack whose bucket is taken is refused.
 *
 *	stackid_stacks    number -> addresses, leaf first, 0 behind the last
 *	stackid_counts    struct stackid_key -> u64
 */
struct stackid_key {
	__u32 tgid, tid, flags, unused;
	char comm[COMM_SIZE];
	__s64 kernel, user;	/* numbers, or -errno */
};

_Static_assert(sizeof(struct stackid_key) == 48, "stackid_key");

/*
 * The third program, which names kernel addresses: what it is asked, and what
 * it answers.
 *
 *	questions         [0] -> struct questions
 */
enum { QUESTIONS_MOST = 64, ANSWER_SIZE = 256 };

struct questions {
	__u64 count;
	__u64 address[QUESTIONS_MOST];
	char answer[QUESTIONS_MOST][ANSWER_SIZE];
};

/*
 * A sample whose user stack is to be walked in user space, as the tables of its
 * process are not in the kernel yet: all of it, with the stack's memory.
 *
 *	copies            ring of struct copied
 */
struct copied {
	struct count_key key;	/* .user says nothing */
	struct count count;
	struct unwind_registers start;
	__u32 bytes;		/* of stack, from start.sp upwards */
	__u32 kernel_depth;	/* if key.kernel is a stack's */
	__u64 kernel[STACK_WORDS];
	__u8 stack[COPY_BYTES];	/* a page begins at each multiple of 4096: the
				   memory at start.sp is at start.sp & 4095 */
};

/* What the program counts, per CPU.  Labels: samples.c. */
enum tally_index {
	TALLY_TICKS,		/* the program ran */
	TALLY_COUNTED,		/* ... and the sample is in counts */

	/* ... or it is lost, because counts ... */
	TALLY_COUNT_FULL,	/* has no room (E2BIG) */
	TALLY_COUNT_BUSY,	/* could not be locked (EBUSY) */
	TALLY_COUNT_FAILED,	/* refused it with another error */

	/* The sample is there, but one of its stacks is not, as stacks ... */
	TALLY_STACK_FULL,
	TALLY_STACK_BUSY,
	TALLY_STACK_FAILED,
	TALLY_STACK_COLLIDED,	/* holds another one under its key */

	/* ... or bpf_get_stack failed (other than by -EFAULT: no such stack) */
	TALLY_KERNEL_ERROR,
	TALLY_USER_ERROR,
	TALLY_NO_STACK,		/* neither stack is there */

	TALLY_RACES,		/* two CPUs stored the same; nothing is lost */

	/* The sample is not in counts but in copies: nothing is lost. */
	TALLY_COPIED,
	TALLY_RING_FULL,	/* it is in counts, for want of room there */

	/* User stacks that are in counts, by how they were found ... */
	TALLY_BY_POINTERS,
	TALLY_BY_TABLES,	/* to the root */

	/* ... and by tables, but not to the root: + WALK_NO_MAPPING, ... */
	TALLY_CAUSES,
	TALLY_SIZE = 32,
};

struct tally {
	__u64 n[TALLY_SIZE];
};

_Static_assert(sizeof(struct stack) == 16 + 8 * STACK_WORDS, "stack");
_Static_assert(sizeof(struct count_key) == 56, "count_key");
_Static_assert(sizeof(struct scope) == 24, "scope");
_Static_assert(sizeof(struct count) == 24, "count");
_Static_assert(sizeof(struct seeds) == 32, "seeds");
_Static_assert(sizeof(struct tally) == 256, "tally");
_Static_assert(TALLY_CAUSES + WALK_CAUSES <= TALLY_SIZE, "tally has room");
_Static_assert(STACK_DEPTH < STACK_WORDS && STACK_WORDS % 8 == 0, "chunks");

#endif
