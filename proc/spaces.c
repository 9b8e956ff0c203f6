/* SPDX-License-Identifier: MIT */
/*
 * spaces: what code was where, in every process, at every moment.
 *
 *	fork, exec, mmap records ──> space of each process ──┐
 *	/proc/PID/maps, a snapshot ──> what was before ──────┴─> (process, time,
 *							address) -> file, offset
 *
 * A process that began while records came is known from them alone: an exec
 * starts with nothing, a fork with what the parent had, and each mapping of
 * code is told.  One that ran before has mappings that nobody told of.  They are
 * read from /proc, after the sample that asks for them, so what is read may have
 * changed meanwhile.  Why it can be believed:
 *
 *	begin            sample    snapshot S         drain
 *	  ├──── records ─────┼──────────┼────────────────┤
 *
 * Say the snapshot has code X at an address.  Whatever was mapped there after
 * `begin` has a record; all records up to S are replayed before the snapshot is
 * used.  If one covers the address, it tells what is there since its time, and
 * the snapshot adds nothing (ranges_fill takes only what is free).  If none
 * does, X was there before `begin`, and so it was at the sample's time.  An exec
 * later than the opening of /proc/PID/maps is in the records as well; one while
 * it was opened makes the snapshot worthless, and it is taken again.  If an
 * address has a record, but a later one than the sample: [remapped].
 *
 * What was unmapped between begin and S is in neither: [unmapped].  To keep that
 * small, processes are read at the start, as long as it takes little time; else
 * when they, or a child of theirs, are first met.
 * Mappings without records (mremap(2), shared memory) are addresses that nobody
 * knows: that process is looked at once more.
 *
 * Lost records make all that was known before doubtful: /proc is read anew.
 * Without rings that is so in each drain, and the thread's name has to tell
 * whether it still is the same program.
 *
 * The time of an exec: the kernel exchanges the memory, tells of it, maps the
 * new program, and last its vDSO; all that time the thread still has the
 * registers of the old program, so a sample in the kernel is held against what
 * was mapped before.  For a short time after the vDSO's record it can be of
 * either: [remapped], if both have something else there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "proc/namespace.h"
#include "proc/spaces_parts.h"
#include "sys/system.h"

enum {
	CHANGES_MOST = 200000,	/* of one process, until it is read anew */
	RANGES_MOST = 2000000,	/* of all processes: 110 MB */
	EXEC_ENDS = 2000000,	/* ns, from the vDSO's mapping on, at most */
};

#define SECOND 1000000000ull

/* The page of the old system calls, in every process of x86-64. */
#define VSYSCALL 0xffffffffff600000ull

struct spaces *spaces_new(struct files *files)
{
	struct spaces *spaces = memory_new(1, sizeof(*spaces));
	int error = namespace_check_proc();

	spaces->files = files;
	spaces->doubt = 1;
	spaces->round = 1;
	spaces->vsyscall = files_add(files, &(struct file_key){ 0 },
				     "[vsyscall]");
	files_pin(files, spaces->vsyscall);
	spaces->blind = error != 0;
	if (error == -ENOENT) {
		log_warning("/proc/PID/maps: not there: programs that ran "
			    "before have no names");
		log_advice("mount it: mount -t proc proc /proc");
	} else if (error) {
		log_warning("/proc/PID/maps: of another PID namespace: "
			    "programs that ran before have no names");
		log_advice("mount this namespace's own: mount -t proc proc "
			   "/proc");
	}
	return spaces;
}

/* -------------------------------------------------------------- the records */

static void on_fork(struct spaces *spaces, const struct side_event *event)
{
	uint32_t parent, child, changes = 0;
	struct space *space;
	struct version version = {
		.time = event->time, .born = event->time, .birth = true,
		.parent = event->ppid,
	};

	/* A thread has its process's memory. */
	if (event->pid == event->ppid)
		return;
	if (event->ppid && event->ppid != UINT32_MAX) {
		const struct version *last;

		parent = spaces_get(spaces, event->ppid);
		last = last_version(spaces, parent);
		version.clean = last->clean;
		version.root = ranges_keep(&spaces->ranges, last->root);
		changes = space_of(spaces, parent)->changes;
	}
	child = processes_find(&spaces->all, event->pid);
	if (child == INDEX_NONE)
		child = processes_add(&spaces->all, event->pid);
	space = space_of(spaces, child);
	space->gone = space->looked = 0;
	space->exited = false;
	space->error = 0;
	space->program[0] = '\0';
	space->looks = 0;
	space->changes = changes;
	space_push(space, &spaces->ranges, &version);
}

static void on_exec(struct spaces *spaces, const struct side_event *event)
{
	uint32_t position = spaces_get(spaces, event->pid);
	struct version version = {
		.time = event->time, .born = event->time,
		.clean = event->time, .birth = true, .executed = true,
		.parent = last_version(spaces, position)->parent,
	};
	struct space *space = space_of(spaces, position);

	space->changes = 0;
	space->looks = 0;
	memcpy(space->program, event->comm, sizeof(space->program));
	space_push(space, &spaces->ranges, &version);
}

static void on_map(struct spaces *spaces, const struct side_event *event)
{
	const struct side_map *map = &event->map;
	const struct file_key key = {
		.inode = map->inode, .major = map->major, .minor = map->minor,
		.generation = map->generation, .has_generation = true,
	};
	const struct map line = {
		.start = map->start, .end = map->start + map->size,
		.offset = map->offset, .path = map->path,
	};
	struct range range = space_range(spaces->files, map->inode ? &key :
					 &(struct file_key){ 0 }, &line);
	struct space *space = space_of(spaces, spaces_get(spaces, event->pid));
	struct version *last;

	range.since = event->time;
	if (space->changes > CHANGES_MOST) {
		/* Most of it is gone by now: begin anew. */
		space->changes = 0;
		space_push(space, &spaces->ranges, &(struct version){
				   .time = event->time, .born = event->time,
				   .birth = true,
			   });
	}
	space_map(space, &spaces->ranges, spaces->files, &range);
	last = &space->versions[space->count - 1];
	if (!last->settled &&
	    files_kind(spaces->files, range.file) == FILE_VDSO)
		last->settled = event->time;
}

static void on_lost(struct spaces *spaces, const struct side_event *event)
{
	spaces->doubt = event->time;
	spaces->lost = true;
	/* Of losses that follow each other, the first. */
	if (!spaces->lost_round || spaces->lost_round + 2 < spaces->round ||
	    event->lost_since < spaces->lost_since)
		spaces->lost_since = event->lost_since;
	spaces->lost_round = spaces->round;
	/* An exit may be among what was lost. */
	for (size_t i = 0; i < spaces->all.count; i++)
		space_of(spaces, i)->exited = true;
}

void spaces_event(void *context, const struct side_event *event)
{
	struct spaces *spaces = context;
	uint32_t position;

	if (event->kind == SIDE_LOST) {
		on_lost(spaces, event);
		return;
	}
	/* In another PID namespace, or gone already: no number of ours. */
	if (!event->pid || event->pid == UINT32_MAX)
		return;
	if (spaces->ranges.used > RANGES_MOST)
		processes_clear(&spaces->all, &spaces->ranges);
	switch (event->kind) {
	case SIDE_FORK:
		on_fork(spaces, event);
		break;
	case SIDE_EXEC:
		on_exec(spaces, event);
		break;
	case SIDE_MAP:
		on_map(spaces, event);
		break;
	case SIDE_COMM:
		/* The name no longer tells which program it is. */
		position = processes_find(&spaces->all, event->pid);
		if (position != INDEX_NONE && event->tid == event->pid)
			space_of(spaces, position)->program[0] = '\0';
		break;
	case SIDE_EXIT:
		position = processes_find(&spaces->all, event->pid);
		if (position != INDEX_NONE)
			space_of(spaces, position)->exited = true;
		break;
	default:
		break;
	}
}

void spaces_listen(struct spaces *spaces, uint64_t begin,
		   void (*update)(void *context), void *context)
{
	spaces->update = update;
	spaces->context = context;
	spaces->doubt = begin ? begin : 1;
}

void spaces_timeless(struct spaces *spaces)
{
	spaces->timeless = true;
}

/* ------------------------------------------------------------------ drains */

void spaces_round(struct spaces *spaces)
{
	/* Somewhat earlier: the last drain turned the maps before it came here. */
	uint64_t horizon = spaces->turned > SECOND / 5 ?
			   spaces->turned - SECOND / 5 : 0;

	spaces->turned = system_now();
	for (size_t i = 0; i < spaces->all.count; i++) {
		struct space *space = space_of(spaces, i);

		if (!space->tgid)
			continue;
		space_prune(space, &spaces->ranges, horizon);
		if ((!space->exited && spaces->update) ||
		    system_task_exists(space->tgid))
			continue;
		/* Samples of it can still come in this round. */
		if (!space->gone)
			space->gone = spaces->turned;
		else if (space->gone < horizon)
			processes_forget(&spaces->all, (uint32_t)i,
					 &spaces->ranges);
	}
	if (files_crowded(spaces->files)) {
		files_unmark(spaces->files);
		ranges_files(&spaces->ranges, files_mark, spaces->files);
		files_sweep(spaces->files);
	}
	comms_round(&spaces->comms);
	spaces->lines = 0;
	spaces->round++;
	/* Nobody tells what happens: nothing is sure. */
	if (!spaces->update)
		spaces->doubt = spaces->turned;
}

/* ---------------------------------------------------------------- a sample */

/* Why a space is not whole. */
static enum space_note note_of(const struct spaces *spaces, int error)
{
	if (spaces->blind)
		return SPACE_NO_PROC;
	if (error == -EACCES || error == -EPERM)
		return SPACE_FORBIDDEN;
	return error == -E2BIG ? SPACE_TOO_MANY : SPACE_EXITED;
}

/*
 * Whether a sample in the kernel had the registers of the program before: until
 * the vDSO is mapped it has, for a short time after that it may.
 */
static bool in_exec(const struct space_moment *moment,
		    const struct version *version, uint64_t after)
{
	/* Some kernels have no vDSO, but an exec does not last. */
	uint64_t end = version->settled ? version->settled + after :
		       version->born + SECOND / 20;

	return moment->in_kernel && version->executed && moment->first <= end;
}

/* Reads what is not known yet; false if that has to be told as view->note. */
static bool learn(struct spaces *spaces, uint32_t position,
		  const struct space_moment *moment, struct space_view *view)
{
	struct space *space = space_of(spaces, position);
	long at = space_at(space, moment->last);
	const struct version *version;

	if (at >= 0 && !is_whole(spaces, &space->versions[at])) {
		if (space->looked != spaces->round)
			looks_at(spaces, position, moment->tid);
		if (spaces->update)
			looks_at_parents(spaces, position, moment->last);
		space = space_of(spaces, position);
		at = space_at(space, moment->last);
	}
	if (at < 0)
		return false;
	version = &space->versions[at];
	view->whole = is_whole(spaces, version);
	view->note = view->whole ? SPACE_UNMAPPED :
		     note_of(spaces, space->error);
	if ((!spaces->update || spaces->timeless) && moment->comm &&
	    !spaces->blind &&
	    !comms_same_program(&spaces->comms, space_of(spaces, position),
				moment->tid, moment->comm, spaces->update))
		return false;
	/* What was whole before records were lost may be of another program. */
	if (!view->whole && version->clean && spaces->update)
		return false;
	if (in_exec(moment, version, EXEC_ENDS))
		view->before = space_birth(space, (size_t)at);
	view->last = (size_t)at;
	at = space_at(space, moment->first);
	view->first = at < 0 ? 0 : (size_t)at;
	if (!in_exec(moment, version, 0))
		return true;
	/* Nothing can be of the new program yet. */
	view->note = SPACE_EXEC;
	view->whole = false;
	view->first = view->last = view->before - 1;
	return view->before;
}

struct space_view spaces_view(struct spaces *spaces,
			      const struct space_moment *moment)
{
	struct space_view view = {
		.space = INDEX_NONE, .note = SPACE_ELSEWHERE,
		.from = moment->first, .to = moment->last,
		.tgid = moment->tgid, .tid = moment->tid,
	};
	uint32_t position;

	if (!moment->tgid)
		return view;
	view.note = SPACE_EXITED;
	position = spaces_get(spaces, moment->tgid);
	if (learn(spaces, position, moment, &view))
		view.space = position;
	else if (view.note == SPACE_UNMAPPED)
		view.note = SPACE_REMAPPED;
	return view;
}

/* What was at the address in one of the versions that the view spans. */
static enum space_note find_range(const struct spaces *spaces,
				  const struct space_view *view,
				  uint64_t address, struct range *found)
{
	const struct space *space = space_of(spaces, view->space);
	bool any = false, later = false;
	struct range range;

	if (!spaces_has(spaces, view->space, view->tgid))
		return SPACE_EXITED;
	for (size_t i = view->first; i <= view->last && i < space->count;
	     i++) {
		if (!ranges_find(&spaces->ranges, space->versions[i].root,
				 address, &range))
			continue;
		if (range.since > view->to) {
			later = true;
			continue;
		}
		if (any && !space_same(spaces->files, found, &range))
			return SPACE_REMAPPED;
		*found = range;
		any = true;
	}
	if (view->before && view->before <= space->count &&
	    ranges_find(&spaces->ranges,
			space->versions[view->before - 1].root, address,
			&range)) {
		if (any && !space_same(spaces->files, found, &range))
			return SPACE_REMAPPED;
		*found = range;
		any = true;
	}
	if (any)
		return SPACE_FILE;
	return later ? SPACE_REMAPPED : view->note;
}

/*
 * An address that nobody knows, of a process that is known: it may have been
 * mapped without a record.  Looked at in rounds 1, 2, 4, 8...
 */
static bool look_again(struct spaces *spaces, struct space_view *view)
{
	struct space *space = space_of(spaces, view->space);
	long first, last;

	if (!view->whole || !spaces->update ||
	    space->looked == spaces->round)
		return false;
	if (space->looks < 31 && space->looked &&
	    spaces->round - space->looked < 1ull << space->looks)
		return false;
	if (space->looks < 31)
		space->looks++;
	looks_at(spaces, view->space, view->tid);
	space = space_of(spaces, view->space);
	if (!spaces_has(spaces, view->space, view->tgid))
		return false;
	first = space_at(space, view->from);
	last = space_at(space, view->to);
	if (last < 0 || space->error)
		return false;
	view->first = first < 0 ? 0 : (size_t)first;
	view->last = (size_t)last;
	return true;
}

/* The last one that the view spans; NULL: nothing is known. */
static const struct version *version_of(const struct spaces *spaces,
					const struct space_view *view)
{
	const struct space *space = view->space == INDEX_NONE ? NULL :
				    space_of(spaces, view->space);

	return space && view->last < space->count ?
	       &space->versions[view->last] : NULL;
}

bool spaces_born(const struct spaces *spaces, const struct space_view *view,
		 uint64_t *born)
{
	const struct version *version = version_of(spaces, view);

	*born = version ? version->born : 0;
	return version;
}

struct place spaces_find(struct spaces *spaces, struct space_view *view,
			 uint64_t address)
{
	struct place place = { .note = view->note };
	struct range range = { 0 };
	const struct version *version;

	if ((address & ~0xfffull) == VSYSCALL) {
		place.note = SPACE_FILE;
		place.file = spaces->vsyscall;
		return place;
	}
	if (view->space == INDEX_NONE)
		return place;
	place.note = find_range(spaces, view, address, &range);
	if (place.note == SPACE_UNMAPPED && look_again(spaces, view))
		place.note = find_range(spaces, view, address, &range);
	if (place.note != SPACE_FILE)
		return place;
	place.file = range.file;
	place.offset = address - range.start + range.offset;
	place.user = (struct file_user){
		.tgid = view->tgid, .tid = view->tid,
		.start = range.start, .end = range.end,
	};
	version = version_of(spaces, view);
	if (version) {
		place.user.parent = version->parent;
		place.born = version->born;
	}
	return place;
}

bool spaces_next(const struct spaces *spaces, const struct space_view *view,
		 uint64_t address, struct range *range)
{
	const struct version *version = version_of(spaces, view);

	return version && ranges_next(&spaces->ranges, version->root, address,
				      range);
}

struct spaces_cost spaces_cost(const struct spaces *spaces)
{
	struct spaces_cost cost = spaces->cost;

	cost.spaces = spaces->all.count - spaces->all.spare_count;
	cost.ranges = spaces->ranges.used;
	return cost;
}

void spaces_free(struct spaces *spaces)
{
	if (!spaces)
		return;
	processes_free(&spaces->all, &spaces->ranges);
	snapshot_free(&spaces->snapshot);
	comms_free(&spaces->comms);
	ranges_free(&spaces->ranges);
	free(spaces);
}
