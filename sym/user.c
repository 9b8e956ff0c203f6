/* SPDX-License-Identifier: MIT */
/*
 * user: which file an address of a process belongs to.
 *
 * /proc/PID/maps says so, as things are now; the sample is up to a drain older.
 * So it is read anew in each drain in which the process has samples, and if the
 * thread is called otherwise by now (it started another program, or renamed
 * itself), what is read is not believed for the older sample.  A process that is
 * gone has no maps to read; what was read in an earlier drain serves then.
 *
 * Any user can make a process with many thousands of mappings.  So a process
 * with more than MAPPINGS_MOST is not looked at, and all of a drain may read
 * LINES_MOST lines, 40 ms or so; what is beyond stays addresses, and it is said.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/maps.h"
#include "proc/namespace.h"
#include "sym/user.h"
#include "sys/system.h"

enum {
	PROCESSES_MOST = 4096,	/* beyond, all is forgotten and read anew */
	MAPPINGS_MOST = 16384,	/* lines of one process */
	LINES_MOST = 100000,	/* lines of all processes, in one drain */
	COMM_LENGTH = 16,
};

struct process {
	uint32_t tgid;
	struct maps maps;
	uint64_t round;		/* the drain in which it was looked at */
	bool gone;		/* by then; the maps are older */
	char comm[COMM_LENGTH];	/* of a thread of it, when they were read */
};

/* A thread, and whether it still was who it was, in this drain. */
struct thread {
	uint32_t tid;
	char comm[COMM_LENGTH];	/* as the sample has it */
	bool same;
};

struct user_names {
	struct process *processes;
	size_t count, capacity;
	struct index index;
	struct thread *threads;		/* of this drain */
	size_t thread_count, thread_capacity;
	struct index thread_index;
	struct names files;	/* never forgotten: frames name them */
	uint64_t round;
	size_t lines;		/* read in this drain */
	bool blind;		/* /proc numbers processes otherwise */
	size_t too_many, forbidden, failed;	/* looks that were not taken */
	int why;		/* -errno of the last that failed */
};

struct user_names *user_names_new(void)
{
	struct user_names *names = memory_new(1, sizeof(*names));
	int error = namespace_check_proc();

	names->blind = error != 0;
	if (error == -ENOENT) {
		log_warning("/proc/PID/maps: not there: user frames stay "
			    "addresses");
		log_advice("mount it: mount -t proc proc /proc");
	} else if (error) {
		log_warning("/proc/PID/maps: of another PID namespace: user "
			    "frames stay addresses");
		log_advice("mount this namespace's own: mount -t proc proc "
			   "/proc");
	}
	return names;
}

static void forget_all(struct user_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		maps_free(&names->processes[i].maps);
	names->count = 0;
	index_clear(&names->index);
}

void user_names_round(struct user_names *names)
{
	names->round++;
	names->lines = 0;
	names->thread_count = 0;
	index_clear(&names->thread_index);
	if (names->count > PROCESSES_MOST)
		forget_all(names);
}

/* --------------------------------------------------------- threads, today */

static bool thread_equal(const void *array, uint32_t position,
			 const void *wanted)
{
	const struct thread *a = array, *b = wanted;

	return a[position].tid == b->tid &&
	       !memcmp(a[position].comm, b->comm, COMM_LENGTH);
}

/* A file of a process that could not be read, though it is there. */
static void note_error(struct user_names *names, int error)
{
	if (error == -E2BIG) {
		names->too_many++;
	} else if (error == -EACCES || error == -EPERM) {
		names->forbidden++;
	} else if (error) {
		names->failed++;
		names->why = error;
	}
}

static bool is_gone(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

/*
 * Whether the thread is called now as it was in the sample.  Gone counts as the
 * same: then there are only maps that were read while it was there.
 */
static bool is_same(struct user_names *names, const struct user_task *task)
{
	struct thread thread = { .tid = task->tid };
	char path[64], comm[64];
	uint64_t hash;
	uint32_t position;
	int error;

	memcpy(thread.comm, task->comm,
	       strnlen(task->comm, COMM_LENGTH - 1));
	hash = index_hash(&thread.tid, 4) ^
	       index_hash(thread.comm, COMM_LENGTH);
	position = index_find(&names->thread_index, hash, thread_equal,
			      names->threads, &thread);
	if (position != INDEX_NONE)
		return names->threads[position].same;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", task->tgid,
		 task->tid);
	error = file_read_text(path, comm, sizeof(comm));
	thread.same = error ? is_gone(error) : !strcmp(comm, thread.comm);
	if (!is_gone(error))
		note_error(names, error);
	names->threads = memory_grow(names->threads, &names->thread_capacity,
				     names->thread_count + 1, sizeof(thread));
	names->threads[names->thread_count] = thread;
	index_add(&names->thread_index, hash, (uint32_t)names->thread_count);
	names->thread_count++;
	return thread.same;
}

/* -------------------------------------------------------- their mappings */

static bool process_equal(const void *array, uint32_t position,
			  const void *wanted)
{
	return ((const struct process *)array)[position].tgid ==
	       *(const uint32_t *)wanted;
}

static void look_at(struct user_names *names, struct process *process,
		    const char comm[COMM_LENGTH])
{
	struct maps fresh = { 0 };
	size_t lines;
	int error;

	process->round = names->round;
	if (names->lines > LINES_MOST) {
		error = -E2BIG;
	} else {
		error = maps_read(&fresh, process->tgid, &names->files,
				  MAPPINGS_MOST, &lines);
		names->lines += lines;
	}
	/*
	 * If it is gone, what was read in time goes on to serve, if it still
	 * was called the same in its last sample.
	 */
	process->gone = is_gone(error);
	if (process->gone)
		return;
	note_error(names, error);
	maps_free(&process->maps);
	process->maps = fresh;
	memcpy(process->comm, comm, COMM_LENGTH);
}

/* NULL for one whose mappings may be those of another program. */
static const struct process *find_process(struct user_names *names,
					  const struct user_task *task)
{
	uint32_t tgid = task->tgid;
	char comm[COMM_LENGTH] = "";
	struct process *process;
	uint64_t hash = index_hash(&tgid, sizeof(tgid));
	uint32_t position = index_find(&names->index, hash, process_equal,
				       names->processes, &tgid);

	if (position == INDEX_NONE) {
		names->processes = memory_grow(names->processes,
					       &names->capacity,
					       names->count + 1,
					       sizeof(*names->processes));
		position = (uint32_t)names->count++;
		names->processes[position] = (struct process){ .tgid = tgid };
		index_add(&names->index, hash, position);
	}
	process = &names->processes[position];
	memcpy(comm, task->comm, strnlen(task->comm, COMM_LENGTH - 1));
	if (process->round != names->round)
		look_at(names, process, comm);
	return process->gone && strcmp(process->comm, comm) ? NULL : process;
}

void user_names_stack(struct user_names *names, const struct user_task *task,
		      const uint64_t *ip, size_t depth,
		      struct user_frame *frames)
{
	const struct process *process = NULL;

	if (depth && !names->blind && task->tgid && is_same(names, task))
		process = find_process(names, task);
	for (size_t i = 0; i < depth; i++) {
		uint64_t address = i && ip[i] ? ip[i] - 1 : ip[i];
		const struct map *map = process ?
			maps_find(&process->maps, address) : NULL;

		frames[i] = (struct user_frame){ .value = address };
		if (!map || !*names->files.text[map->file])
			continue;
		frames[i].value = address - map->start + map->offset;
		frames[i].file = map->file + 1;
	}
}

void user_names_text(const struct user_names *names,
		     const struct user_frame *frame, struct text *text)
{
	if (frame->file)
		text_format(text, "[%s+0x%" PRIx64 "]",
			    names->files.text[frame->file - 1], frame->value);
	else
		text_format(text, "[0x%" PRIx64 "]", frame->value);
}

void user_names_report(const struct user_names *names)
{
	if (names->too_many)
		log_warning("/proc/PID/maps: %zu times too many mappings: some "
			    "user frames stay addresses", names->too_many);
	if (names->failed)
		log_warning("/proc/PID/maps, /proc/PID/task/TID/comm: %zu times: "
			    "%s: some user frames stay addresses",
			    names->failed, system_strerror(names->why));
	if (!names->forbidden)
		return;
	log_warning("/proc/PID/maps: %zu times not permitted: some user "
		    "frames stay addresses", names->forbidden);
	log_advice("run as root, or with CAP_SYS_PTRACE");
}

void user_names_free(struct user_names *names)
{
	if (!names)
		return;
	forget_all(names);
	names_free(&names->files);
	index_free(&names->index);
	index_free(&names->thread_index);
	free(names->threads);
	free(names->processes);
	free(names);
}
