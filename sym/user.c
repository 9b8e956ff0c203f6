/* SPDX-License-Identifier: MIT */
/*
 * user: which file an address of a process belongs to.
 *
 * /proc/PID/maps is read when a process is first seen in a drain, and kept.  A
 * process that changes its thread's name may have started another program, so
 * it is looked at anew; so is one that shows an address where it had no code,
 * at most once a drain and more seldom the less it helped (programs without
 * frame pointers give addresses that are none).
 *
 * A process that is gone by the time of the drain has no maps to read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "proc/maps.h"
#include "proc/namespace.h"
#include "sym/user.h"

enum {
	PROCESSES_MOST = 4096,	/* beyond, all is forgotten and read anew */
	COMM_LENGTH = 16,
};

struct identity {
	uint32_t tgid;
	char comm[COMM_LENGTH];
};

struct process {
	struct identity who;
	struct maps maps;
	uint64_t read_again;	/* not before this round */
	uint32_t pause;		/* rounds to wait after the next vain look */
};

struct user_names {
	struct process *processes;
	size_t count, capacity;
	struct index index;
	struct names files;	/* never forgotten: frames name them */
	uint64_t round;
	bool blind;		/* /proc numbers processes otherwise */
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
	if (names->count > PROCESSES_MOST)
		forget_all(names);
}

static bool process_equal(const void *array, uint32_t position,
			  const void *wanted)
{
	return !memcmp(&((const struct process *)array)[position].who, wanted,
		       sizeof(struct identity));
}

static struct process *find_process(struct user_names *names, uint32_t tgid,
				    const char *comm)
{
	struct process new = { .who.tgid = tgid, .pause = 1 };
	uint64_t hash;
	uint32_t position;

	memcpy(new.who.comm, comm, strnlen(comm, COMM_LENGTH - 1));
	hash = index_hash(&new.who, sizeof(new.who));
	position = index_find(&names->index, hash, process_equal,
			      names->processes, &new.who);
	if (position == INDEX_NONE) {
		maps_read(&new.maps, tgid, &names->files);
		new.read_again = names->round + 1;
		names->processes = memory_grow(names->processes,
					       &names->capacity,
					       names->count + 1, sizeof(new));
		position = (uint32_t)names->count++;
		names->processes[position] = new;
		index_add(&names->index, hash, position);
	}
	return &names->processes[position];
}

static const struct map *find_map(struct user_names *names,
				  struct process *process, uint64_t address)
{
	const struct map *map = maps_find(&process->maps, address);
	struct maps fresh = { 0 };

	if (map || names->round < process->read_again)
		return map;
	/* If it is gone by now, what was read in time goes on to serve. */
	if (!maps_read(&fresh, process->who.tgid, &names->files)) {
		maps_free(&process->maps);
		process->maps = fresh;
		map = maps_find(&process->maps, address);
	}
	if (map)
		process->pause = 1;
	else if (process->pause < 64)
		process->pause *= 2;
	process->read_again = names->round + process->pause;
	return map;
}

void user_names_stack(struct user_names *names, uint32_t tgid,
		      const char *comm, const uint64_t *ip, size_t depth,
		      struct user_frame *frames)
{
	struct process *process = names->blind ? NULL :
				  find_process(names, tgid, comm);

	for (size_t i = 0; i < depth; i++) {
		uint64_t address = i && ip[i] ? ip[i] - 1 : ip[i];
		const struct map *map = process ?
			find_map(names, process, address) : NULL;

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

void user_names_free(struct user_names *names)
{
	if (!names)
		return;
	forget_all(names);
	names_free(&names->files);
	index_free(&names->index);
	free(names->processes);
	free(names);
}
