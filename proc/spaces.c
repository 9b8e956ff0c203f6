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
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "proc/comms.h"
#include "proc/namespace.h"
#include "proc/processes.h"
#include "proc/snapshot.h"
#include "proc/space.h"
#include "proc/spaces.h"
#include "sys/system.h"

enum {
	MAPPINGS_MOST = 70000,	/* lines of one process: max_map_count */
	LINES_MOST = 200000,	/* lines of all processes, in one drain */
	CHANGES_MOST = 200000,	/* of one process, until it is read anew */
	RANGES_MOST = 2000000,	/* of all processes: 110 MB */
	PARENTS_MOST = 8,	/* that are asked for one process's mappings */
	EXEC_ENDS = 2000000,	/* ns, from the vDSO's mapping on, at most */
};

#define SECOND 1000000000ull
#define LOOK_AROUND_NS 50000000ull

/* The page of the old system calls, in every process of x86-64. */
#define VSYSCALL 0xffffffffff600000ull

struct spaces {
	struct files *files;
	struct ranges ranges;
	struct processes all;
	struct comms comms;

	void (*update)(void *context);	/* NULL: there are no records */
	void *context;
	uint64_t doubt;		/* what was clean before is not any more */
	uint64_t lost_since;	/* ... as records since then may be lost */
	uint64_t round, turned, lost_round;
	bool blind;		/* /proc numbers processes otherwise */
	bool timeless;		/* samples do not tell when they were */
	uint32_t vsyscall;	/* a file */

	struct snapshot snapshot;	/* the last one */
	struct spaces_cost cost;
	size_t lines;		/* read in this round */
};

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

/* Whether all is known that this version had mapped. */
static bool is_whole(const struct spaces *spaces,
		     const struct version *version)
{
	return version->clean >= spaces->doubt;
}

static struct space *space_of(const struct spaces *spaces, uint32_t position)
{
	return &spaces->all.space[position];
}

static struct version *last_version(struct spaces *spaces, uint32_t position)
{
	struct space *space = space_of(spaces, position);

	return &space->versions[space->count - 1];
}

/* The position of this process number; a new one is not known yet. */
static uint32_t get(struct spaces *spaces, uint32_t tgid)
{
	const struct version unknown = { .birth = true };
	uint32_t position = processes_find(&spaces->all, tgid);

	if (position != INDEX_NONE)
		return position;
	position = processes_add(&spaces->all, tgid);
	space_push(space_of(spaces, position), &spaces->ranges, &unknown);
	return position;
}

/* Whether the position still is this process's: all can be forgotten. */
static bool is_there(const struct spaces *spaces, uint32_t position,
		     uint32_t tgid)
{
	return position < spaces->all.count &&
	       space_of(spaces, position)->tgid == tgid;
}

static void on_fork(struct spaces *spaces, const struct side_event *event)
{
	uint32_t parent, child, changes = 0;
	struct version version = {
		.time = event->time, .born = event->time, .birth = true,
		.parent = event->ppid,
	};

	/* A thread has its process's memory. */
	if (event->pid == event->ppid)
		return;
	if (event->ppid && event->ppid != UINT32_MAX) {
		const struct version *last;

		parent = get(spaces, event->ppid);
		last = last_version(spaces, parent);
		version.clean = last->clean;
		version.root = ranges_keep(&spaces->ranges, last->root);
		changes = space_of(spaces, parent)->changes;
	}
	child = processes_find(&spaces->all, event->pid);
	if (child == INDEX_NONE)
		child = processes_add(&spaces->all, event->pid);
	space_of(spaces, child)->gone = space_of(spaces, child)->looked = 0;
	space_of(spaces, child)->exited = false;
	space_of(spaces, child)->error = 0;
	space_of(spaces, child)->program[0] = '\0';
	space_of(spaces, child)->looks = 0;
	space_of(spaces, child)->changes = changes;
	space_push(space_of(spaces, child), &spaces->ranges, &version);
}

static void on_exec(struct spaces *spaces, const struct side_event *event)
{
	uint32_t position = get(spaces, event->pid);
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
	struct space *space = space_of(spaces, get(spaces, event->pid));
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
	/* Of losses that follow each other, the first. */
	if (spaces->lost_round + 2 < spaces->round ||
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

/* ------------------------------------------------------------ the snapshots */

static int read_rows(struct spaces *spaces, uint32_t pid)
{
	size_t lines = 0;
	int error;

	if (spaces->blind)
		return -ENOENT;
	if (spaces->lines > LINES_MOST)
		return -E2BIG;
	error = snapshot_read(&spaces->snapshot, spaces->files, pid,
			      MAPPINGS_MOST, &lines);
	spaces->lines += lines;
	spaces->cost.lines += lines;
	spaces->cost.looks++;
	return error;
}

/*
 * Looks at /proc, by a thread if the process's first one has ended.  Once in a
 * round: what comes of it is in space->error and in the versions.
 */
static void look(struct spaces *spaces, uint32_t position, uint32_t tid)
{
	uint32_t tgid = space_of(spaces, position)->tgid;
	uint64_t before = system_now(), after;
	int error = read_rows(spaces, tgid);
	struct space *space;

	if (error == -ENOENT && tid && tid != tgid && !spaces->blind)
		error = read_rows(spaces, tid);
	after = system_now();
	if (spaces->update)
		spaces->update(spaces->context);
	if (!is_there(spaces, position, tgid))
		return;
	space = space_of(spaces, position);
	space->looked = spaces->round;
	space->error = error;
	if (error == -ENOENT || error == -ESRCH)
		space->exited = true;
	if (error == -E2BIG)
		spaces->cost.too_many++;
	if (error == -EACCES || error == -EPERM)
		spaces->cost.forbidden++;
	if (!error && !snapshot_use(&spaces->snapshot, space, &spaces->ranges,
				    spaces->files, &(struct snapshot_times){
					    before, after, spaces->doubt,
					    spaces->lost_since,
					    spaces->update != NULL,
				    }))
		space->looked = 0;
}

/* All that the parent had when it made this one: it may live on, or be known. */
static void inherit(struct spaces *spaces, uint32_t position, uint64_t time,
		    unsigned int depth)
{
	struct space *space = space_of(spaces, position);
	long at = space_at(space, time), there;
	uint32_t parent, root, tgid = space->tgid, parent_tgid;
	uint64_t born;

	if (at < 0 || depth > PARENTS_MOST || space->versions[at].clean ||
	    !space->versions[at].parent)
		return;
	born = space->versions[at].born;
	parent_tgid = space->versions[at].parent;
	parent = get(spaces, parent_tgid);
	if (space_of(spaces, parent)->looked != spaces->round)
		look(spaces, parent, 0);
	if (!is_there(spaces, parent, parent_tgid))
		return;
	inherit(spaces, parent, born, depth + 1);
	if (!is_there(spaces, position, tgid))
		return;
	space = space_of(spaces, position);
	at = space_at(space, time);
	there = space_at(space_of(spaces, parent), born);
	if (at < 0 || there < 0 ||
	    !is_whole(spaces, &space_of(spaces, parent)->versions[there]))
		return;
	root = space_of(spaces, parent)->versions[there].root;
	for (size_t i = space_birth(space, (size_t)at);
	     i < space->count && space->versions[i].born == born; i++) {
		struct range range = { 0 };
		struct version *version = &space->versions[i];

		while (ranges_next(&spaces->ranges, root, range.end, &range))
			if (range.since <= born)
				version->root = ranges_fill(&spaces->ranges,
							    version->root,
							    &range);
		version->clean = spaces->doubt;
	}
}

void spaces_look(struct spaces *spaces, uint32_t tgid)
{
	if (!spaces->blind)
		look(spaces, get(spaces, tgid), 0);
}

void spaces_look_around(struct spaces *spaces)
{
	struct spaces_cost before = spaces->cost;
	uint64_t begin = system_cpu_time();
	DIR *directory = spaces->blind ? NULL : opendir("/proc");
	struct dirent *entry;
	uint64_t tgid;

	while (directory && (entry = readdir(directory)) &&
	       system_cpu_time() - begin < LOOK_AROUND_NS) {
		uint32_t position;

		if (!text_number(entry->d_name, 10, 1, INT32_MAX, &tgid))
			continue;
		position = get(spaces, (uint32_t)tgid);
		if (!is_whole(spaces, last_version(spaces, position)))
			look(spaces, position, 0);
	}
	if (directory)
		closedir(directory);
	/* That matters for those that will have samples, and is told then. */
	spaces->cost.too_many = before.too_many;
	spaces->cost.forbidden = before.forbidden;
}

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
			look(spaces, position, moment->tid);
		if (spaces->update)
			inherit(spaces, position, moment->last, 0);
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
	position = get(spaces, moment->tgid);
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

	if (!is_there(spaces, view->space, view->tgid))
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
	look(spaces, view->space, view->tid);
	space = space_of(spaces, view->space);
	if (!is_there(spaces, view->space, view->tgid))
		return false;
	first = space_at(space, view->from);
	last = space_at(space, view->to);
	if (last < 0 || space->error)
		return false;
	view->first = first < 0 ? 0 : (size_t)first;
	view->last = (size_t)last;
	return true;
}

uint64_t spaces_born(const struct spaces *spaces,
		     const struct space_view *view)
{
	const struct space *space = view->space == INDEX_NONE ? NULL :
				    space_of(spaces, view->space);

	return space && view->last < space->count ?
	       space->versions[view->last].born : 0;
}

struct place spaces_find(struct spaces *spaces, struct space_view *view,
			 uint64_t address)
{
	struct place place = { .note = view->note };
	struct range range = { 0 };

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
	place.born = spaces_born(spaces, view);
	if (view->last < space_of(spaces, view->space)->count)
		place.user.parent = space_of(spaces, view->space)
				    ->versions[view->last].parent;
	return place;
}

bool spaces_next(const struct spaces *spaces, const struct space_view *view,
		 uint64_t address, struct range *range)
{
	const struct space *space = view->space == INDEX_NONE ? NULL :
				    space_of(spaces, view->space);

	return space && view->last < space->count &&
	       ranges_next(&spaces->ranges, space->versions[view->last].root,
			   address, range);
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
