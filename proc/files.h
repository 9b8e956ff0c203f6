/* SPDX-License-Identifier: MIT */
#ifndef PROC_FILES_H
#define PROC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The files that processes have mapped, each once and known by its number.
 * File 0 is memory without a file.
 */
struct files;

/* Which file, in the kernel's own numbers: mmap records, /proc/PID/maps. */
struct file_key {
	uint64_t inode;		/* 0: no file; what it is, its path says */
	uint32_t major, minor;	/* of its device */
	uint64_t generation;	/* of the inode, if ... */
	bool has_generation;	/* ... it is told */
};

enum file_kind {
	FILE_PLAIN,		/* has an inode; also one in memory (memfd) */
	FILE_VDSO,		/* the kernel's code in every process */
	FILE_MEMORY,		/* [anon], [heap], [stack]: nobody's code */
};

struct files *files_new(void);

/*
 * The number of a file.  `path` is as its process sees it, with " (deleted)"
 * behind it if that is so; without a file one of the kernel's words for memory.
 */
uint32_t files_add(struct files *files, const struct file_key *key,
		   const char *path);

enum file_kind files_kind(const struct files *files, uint32_t file);

/* What is shown of it: "libc.so.6", "vdso", "anon".  Any bytes but 0. */
const char *files_name(const struct files *files, uint32_t file);

/* Its path as its process saw it, without " (deleted)". */
const char *files_path(const struct files *files, uint32_t file);

/* Whether both are the same file, as far as is known. */
bool files_same(const struct files *files, uint32_t a, uint32_t b);

/* Who has it mapped, and where; to open it. */
struct file_user {
	uint32_t tgid, tid;	/* tid: a thread of it that was seen last */
	uint32_t parent;	/* may see the same files; 0: not known */
	uint64_t start, end;	/* of the mapping */
};

/*
 * What became of the opening of a file.  Only what was proved to be what was
 * mapped is ever given out.
 */
enum file_state {
	FILE_UNTRIED,
	FILE_OPEN,		/* files_fd() has it */
	FILE_CLOSED,		/* was open, but others had to be; try again */
	FILE_GONE,		/* cannot be found or opened any more */
	FILE_REPLACED,		/* another file has its path */
};

/*
 * Opens the file, if that was not done before, and returns its state then.
 * FILE_GONE and FILE_REPLACED are not final: another process that has it mapped
 * can have a way to it; so this may be called for each sample, and tries a few
 * times.
 */
enum file_state files_open(struct files *files, uint32_t file,
			   const struct file_user *user);

/* A descriptor, the set's own, until the next files_open(); or -1. */
int files_fd(const struct files *files, uint32_t file);

/*
 * Whether so many were used since files_settle() that one of those may be closed
 * soon, as is the one that was not used for the longest time.
 */
bool files_pressed(const struct files *files);
void files_settle(struct files *files);

/* The file has been shown to somebody: its number is never given to another. */
void files_pin(struct files *files, uint32_t file);

/*
 * When there are many files, those that are neither pinned nor marked since
 * files_unmark() can be forgotten.
 */
bool files_crowded(const struct files *files);
void files_unmark(struct files *files);
void files_mark(void *files, uint32_t file);
void files_sweep(struct files *files);

/* Takes NULL. */
void files_free(struct files *files);

#endif
