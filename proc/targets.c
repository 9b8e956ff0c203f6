/* SPDX-License-Identifier: MIT */
/*
 * targets: the tree of processes below those that were asked for, over time.
 *
 *	asked for: 100           time ──────────────────────────────>
 *	100                      ├───────────────────────────────────
 *	  └ forks 230                   ├────────┤ 230 is another's
 *	      └ forks 231                  ├─────────────────────────
 *
 * A number belongs to a target from the fork on (from the start for those that
 * were asked for) until the number is given to somebody else: what a process
 * does after its exit record, it does as itself, and nobody else can use its
 * number before it is reaped.  Samples come with a time, and are held against
 * that.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/targets.h"
#include "sys/system.h"

/* One number, for as long as it is a target's. */
struct life {
	uint32_t id;		/* of a process, or of a thread */
	uint32_t root;		/* which of those asked for; its own position */
	uint64_t from, to;	/* ns; to: UINT64_MAX while it goes on */
	uint32_t earlier;	/* another life of this number, + 1 */
	bool asked, child;
	uint64_t samples;	/* of a root: with all below it */
};

struct lives {
	struct life *life;
	size_t count, capacity;
	struct index index;	/* to the latest life of each number */
};

struct targets {
	struct lives processes, threads;
};

struct targets *targets_new(void)
{
	return memory_new(1, sizeof(struct targets));
}

static bool life_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	return ((const struct life *)array)[position].id ==
	       *(const uint32_t *)wanted;
}

/* The first life of this number; later ones hang on it. */
static struct life *find_first(const struct lives *lives, uint32_t id)
{
	uint32_t position = index_find(&lives->index, index_hash(&id, 4),
				       life_equal, lives->life, &id);

	return position == INDEX_NONE ? NULL : &lives->life[position];
}

/* The life of this number at `time`, or NULL. */
static struct life *find_life(const struct lives *lives, uint32_t id,
			      uint64_t time)
{
	struct life *life = find_first(lives, id);

	while (life) {
		if (life->from <= time && time < life->to)
			return life;
		life = life->earlier ? &lives->life[life->earlier - 1] : NULL;
	}
	return NULL;
}

static struct life *add_life(struct lives *lives, struct life life)
{
	struct life *first = find_first(lives, life.id);
	uint32_t position = (uint32_t)lives->count;

	/* Nobody asks for times so long ago: drains are a second apart. */
	for (struct life *old = first; old;
	     old = old->earlier ? &lives->life[old->earlier - 1] : NULL) {
		if (old->asked || old->to >= life.from ||
		    life.from - old->to < 10000000000)
			continue;
		life.earlier = old->earlier;
		*old = life;
		return old;
	}
	/* Behind the first one in the chain, as the index knows that one. */
	if (first) {
		life.earlier = first->earlier;
		first->earlier = position + 1;
	} else {
		index_add(&lives->index, index_hash(&life.id, 4), position);
	}
	lives->life = memory_grow(lives->life, &lives->capacity,
				  lives->count + 1, sizeof(life));
	lives->life[lives->count++] = life;
	return &lives->life[position];
}

static void ask(struct lives *lives, uint32_t id, bool child)
{
	struct life life = {
		.id = id, .root = (uint32_t)lives->count, .to = UINT64_MAX,
		.asked = true, .child = child,
	};

	if (!find_first(lives, id))
		add_life(lives, life);
}

/* -------------------------------------------------------------- asking */

/* The process that this thread belongs to; 0 where /proc does not tell. */
static uint32_t process_of(uint32_t tid)
{
	char path[64], *line;
	unsigned int tgid = 0;
	struct lines lines;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (lines_open(&lines, path))
		return 0;
	while (!tgid && (line = lines_next(&lines)))
		if (!strncmp(line, "Tgid:", 5))
			tgid = (unsigned int)strtoul(line + 5, NULL, 10);
	lines_close(&lines);
	return tgid;
}

/* kill(2) finds threads as well as processes. */
static int check_there(const char *what, uint32_t id)
{
	if (system_task_exists(id))
		return 0;
	log_error("%s %u: look for it: there is no such %s", what, id, what);
	log_advice("pgrep -a NAME finds processes, ls /proc/PID/task their "
		   "threads");
	return -ESRCH;
}

int targets_add_process(struct targets *targets, uint32_t pid)
{
	uint32_t tgid;
	int error = check_there("process", pid);

	if (error)
		return error;
	tgid = process_of(pid);
	if (tgid && tgid != pid) {
		log_error("process %u: look for it: it is a thread of process "
			  "%u", pid, tgid);
		log_advice("-t %u samples the thread, -p %u all of them", pid,
			   tgid);
		return -ESRCH;
	}
	ask(&targets->processes, pid, false);
	return 0;
}

int targets_add_thread(struct targets *targets, uint32_t tid)
{
	int error = check_there("thread", tid);

	if (!error)
		ask(&targets->threads, tid, false);
	return error;
}

void targets_add_child(struct targets *targets, uint32_t pid)
{
	ask(&targets->processes, pid, true);
}

/* ----------------------------------------------------------- over time */

static void on_fork(struct lives *lives, uint32_t id, uint32_t parent,
		    bool inherit, uint64_t time)
{
	struct life *old = find_life(lives, id, time);
	struct life *from = inherit ? find_life(lives, parent, time) : NULL;
	struct life life = { .id = id, .from = time, .to = UINT64_MAX };

	/* The number is somebody else's from here on. */
	if (old)
		old->to = time;
	if (!from)
		return;
	life.root = from->root;
	add_life(lives, life);
}

void targets_event(void *context, const struct side_event *event)
{
	struct targets *targets = context;

	if (event->kind != SIDE_FORK)
		return;
	/* A thread that was asked for starts threads of its own: not asked. */
	on_fork(&targets->threads, event->tid, 0, false, event->time);
	if (event->pid != event->ppid)
		on_fork(&targets->processes, event->pid, event->ppid, true,
			event->time);
}

bool targets_has(const struct targets *targets, uint32_t tgid, uint32_t tid,
		 uint64_t time)
{
	return find_life(&targets->processes, tgid, time) ||
	       find_life(&targets->threads, tid, time);
}

bool targets_take(struct targets *targets, uint32_t tgid, uint32_t tid,
		  uint64_t time, uint64_t samples)
{
	struct lives *lives = &targets->processes;
	struct life *life = find_life(lives, tgid, time);

	if (!life) {
		lives = &targets->threads;
		life = find_life(lives, tid, time);
	}
	if (!life)
		return false;
	lives->life[life->root].samples += samples;
	return true;
}

/* ------------------------------------------------------------- report */

static bool is_live(const struct life *life)
{
	return life->to == UINT64_MAX && system_task_exists(life->id);
}

static bool any_live(const struct lives *lives)
{
	for (size_t i = 0; i < lives->count; i++)
		if (is_live(&lives->life[i]))
			return true;
	return false;
}

bool targets_live(const struct targets *targets)
{
	return any_live(&targets->processes) || any_live(&targets->threads);
}

static void report(const struct lives *lives, const char *what)
{
	for (size_t i = 0; i < lives->count; i++) {
		const struct life *life = &lives->life[i];

		if (!life->asked)
			continue;
		if (!life->samples)
			log_warning("%s %u: no sample: it was never on a CPU "
				    "at a tick", what, life->id);
		if (!life->child && !is_live(life))
			log_note("%s %u has ended", what, life->id);
	}
}

void targets_report(const struct targets *targets)
{
	report(&targets->processes, "process");
	report(&targets->threads, "thread");
}

static void free_lives(struct lives *lives)
{
	free(lives->life);
	index_free(&lives->index);
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	free_lives(&targets->processes);
	free_lives(&targets->threads);
	free(targets);
}
