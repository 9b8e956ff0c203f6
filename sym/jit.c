/* SPDX-License-Identifier: MIT */
/*
 * jit: which perf map is whose.
 *
 *	tgid, when its program began ──> inner number, root, owner ──> perf map
 *
 * A map is found by the number that the process has for itself, below the root
 * that it has, and believed only if it is of its owner and not older than its
 * program: numbers are used again, and another program of the same process has
 * other code.
 *
 * Of a process that is gone nobody can be asked who it was.  What we or root
 * have written is believed then, if it is known when the process began.
 *
 * Some runtimes write late (a buffer of 2 MB), so addresses that have no name
 * yet are asked for once more at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/identity.h"
#include "sym/jit.h"
#include "sym/perfmap.h"
#include "sys/regular.h"
#include "sys/system.h"

enum {
	TASKS_MOST = 64,		/* with a map; each has a descriptor */
	MEMORY_MOST = 64 * 1024 * 1024,	/* of all maps */
};

struct jit {
	struct jit_entry {
		struct jit_task task;
		struct perfmap *map;	/* NULL: has none, or was too many */
		int root;
		uint64_t started;	/* identity's; 0: not known */
		uint64_t round;		/* of the last reading */
		bool there;		/* it was read, at least once */
	} *entries;
	size_t count, capacity;
	struct index index;
	uint64_t round;
	size_t maps;
	uint64_t doubted;
	const char *why;
	uint32_t why_tgid;
};

struct jit *jit_new(void)
{
	struct jit *jit = memory_new(1, sizeof(*jit));

	jit->round = 1;
	return jit;
}

void jit_round(struct jit *jit)
{
	jit->round++;
}

static bool entry_equal(const void *array, uint32_t position,
			const void *wanted)
{
	const struct jit_entry *a = (const struct jit_entry *)array + position;
	const struct jit_task *b = wanted;

	return a->task.tgid == b->tgid && a->task.born == b->born;
}

static struct jit_entry *entry_of(struct jit *jit, const struct jit_task *task)
{
	uint64_t hash = index_hash(&task->tgid, sizeof(task->tgid)) ^
			index_hash(&task->born, sizeof(task->born));
	uint32_t position = index_find(&jit->index, hash, entry_equal,
				       jit->entries, task);

	if (position != INDEX_NONE)
		return &jit->entries[position];
	jit->entries = memory_grow(jit->entries, &jit->capacity,
				   jit->count + 1, sizeof(*jit->entries));
	jit->entries[jit->count] = (struct jit_entry){
		.task = *task, .root = -1,
	};
	index_add(&jit->index, hash, (uint32_t)jit->count);
	return &jit->entries[jit->count++];
}

static void drop_map(struct jit *jit, struct jit_entry *entry)
{
	if (entry->map)
		jit->maps--;
	perfmap_close(entry->map);
	regular_close(entry->root);
	entry->map = NULL;
	entry->root = -1;
}

/* Makes room for one more. */
static void drop_oldest(struct jit *jit, const struct jit_entry *spared)
{
	for (;;) {
		struct jit_entry *oldest = NULL;
		size_t memory = 0;

		for (size_t i = 0; i < jit->count; i++) {
			struct jit_entry *entry = &jit->entries[i];

			if (!entry->map)
				continue;
			memory += perfmap_memory(entry->map);
			if (entry != spared &&
			    (!oldest || entry->round < oldest->round))
				oldest = entry;
		}
		if (!oldest ||
		    (jit->maps < TASKS_MOST && memory <= MEMORY_MOST))
			return;
		drop_map(jit, oldest);
	}
}

static void open_map(struct jit *jit, struct jit_entry *entry,
		     const struct perfmap_task *task)
{
	drop_map(jit, entry);
	drop_oldest(jit, entry);
	entry->map = perfmap_open(task);
	jit->maps++;
}

/* Opens the map of the process that has the number now, if it is the one. */
static void identify(struct jit *jit, struct jit_entry *entry)
{
	struct identity identity;
	struct perfmap_task task;
	char path[32];

	task.started = entry->task.born ?
		       system_time_of(entry->task.born) : 0;
	if (identity_read(entry->task.tgid, &identity)) {
		if (entry->map || !entry->task.born)
			return;
		task.pid = entry->task.tgid;
		task.uid = system_user();
		open_map(jit, entry, &task);
		return;
	}
	if (entry->map && entry->started == identity.started)
		return;
	task.pid = identity.inner;
	task.uid = identity.uid;
	if (!task.started)
		task.started = system_time_of_boot(identity.started);
	open_map(jit, entry, &task);
	entry->started = identity.started;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root",
		 entry->task.tgid);
	entry->root = system_open_directory(path);
}

static void read_map(struct jit *jit, struct jit_entry *entry)
{
	entry->round = jit->round;
	identify(jit, entry);
	if (!entry->map)
		return;
	if (perfmap_read(entry->map, entry->root) == 0)
		entry->there = true;
	if (perfmap_why(entry->map)) {
		jit->why = perfmap_why(entry->map);
		jit->why_tgid = entry->task.tgid;
		jit->doubted++;
	}
	/* Most processes with code of their own have no map. */
	if (!entry->there)
		drop_map(jit, entry);
}

const char *jit_find(struct jit *jit, const struct jit_task *task,
		     uint64_t address, uint32_t *late)
{
	struct jit_entry *entry = entry_of(jit, task);
	const char *name = NULL;

	if (entry->round != jit->round)
		read_map(jit, entry);
	if (entry->map)
		name = perfmap_find(entry->map, address);
	*late = entry->map && !name ?
		(uint32_t)(entry - jit->entries) + 1 : 0;
	return name;
}

const char *jit_late(struct jit *jit, uint32_t late, uint64_t address)
{
	struct jit_entry *entry = &jit->entries[late - 1];

	if (entry->map && entry->round != jit->round) {
		entry->round = jit->round;
		perfmap_read(entry->map, entry->root);
	}
	return entry->map ? perfmap_find(entry->map, address) : NULL;
}

void jit_report(const struct jit *jit)
{
	if (jit->doubted)
		log_warning("/tmp/perf-%" PRIu32 ".map: %s: some user frames "
			    "have no names", jit->why_tgid, jit->why);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->count; i++)
		drop_map(jit, &jit->entries[i]);
	free(jit->entries);
	index_free(&jit->index);
	free(jit);
}
