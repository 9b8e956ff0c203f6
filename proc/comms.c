/* SPDX-License-Identifier: MIT */
/*
 * comms: whether a thread still is who it was.
 *
 * Where nothing tells of an exec, or of a sample's time, the thread's name does
 * (/proc/PID/task/TID/comm): a program that has started another is called like
 * that one.  It is a guess, as a thread may rename itself, and a program call
 * itself anything.
 *
 * Source: man 5 proc_pid_comm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "proc/comms.h"

static bool comm_equal(const void *array, uint32_t position,
		       const void *wanted)
{
	const struct comm *a = array, *b = wanted;

	return a[position].tid == b->tid &&
	       !memcmp(a[position].comm, b->comm, sizeof(b->comm));
}

void comms_round(struct comms *comms)
{
	comms->count = 0;
	index_clear(&comms->index);
}

static enum comm_now comms_now(struct comms *comms, uint32_t tgid, uint32_t tid,
			       const char comm[16])
{
	struct comm new = { .tid = tid };
	char path[64], now[64];
	uint64_t hash;
	uint32_t position;

	memcpy(new.comm, comm, sizeof(new.comm));
	hash = index_hash(&new.tid, sizeof(new.tid)) ^
	       index_hash(new.comm, sizeof(new.comm));
	position = index_find(&comms->index, hash, comm_equal, comms->comm,
			      &new);
	if (position != INDEX_NONE)
		return comms->comm[position].now;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", tgid, tid);
	if (file_read_text(path, now, sizeof(now)))
		new.now = COMM_GONE;
	else
		new.now = strcmp(now, new.comm) ? COMM_OTHER : COMM_SAME;
	comms->comm = memory_grow(comms->comm, &comms->capacity,
				  comms->count + 1, sizeof(new));
	comms->comm[comms->count] = new;
	index_add(&comms->index, hash, (uint32_t)comms->count);
	comms->count++;
	return new.now;
}

/*
 * A thread that is gone: whether it was called as the last exec called it.
 * Other threads than the first one have names of their own.
 */
static bool last_program(const struct space *space, uint32_t tid,
			 const char *comm)
{
	return !space->program[0] || tid != space->tgid ||
	       !strcmp(space->program, comm);
}

bool comms_same_program(struct comms *comms, struct space *space, uint32_t tid,
			const char *name, bool records)
{
	char comm[sizeof(space->comm)] = "";
	enum comm_now now;

	memcpy(comm, name, strnlen(name, sizeof(comm) - 1));
	now = comms_now(comms, space->tgid, tid, comm);
	if (now == COMM_OTHER)
		return false;
	if (records)
		return now == COMM_SAME || last_program(space, tid, comm);
	if (!space->error)
		memcpy(space->comm, comm, sizeof(comm));
	return !strcmp(space->comm, comm);
}

void comms_free(struct comms *comms)
{
	free(comms->comm);
	index_free(&comms->index);
	*comms = (struct comms){ 0 };
}
