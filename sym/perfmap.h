/* SPDX-License-Identifier: MIT */
#ifndef SYM_PERFMAP_H
#define SYM_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

/* Names of the code that a process made itself, as it wrote them down. */
struct perfmap;

struct perfmap_task {
	uint32_t pid;		/* as its innermost namespace numbers it */
	uint32_t uid;		/* whose it is, as we see it */
	int64_t started;	/* as time(2) */
};

/* Never NULL.  Nothing is read yet. */
struct perfmap *perfmap_open(const struct perfmap_task *task);

/*
 * Reads what was written since the last call; to be called once a drain, if the
 * process has samples outside of files.  `root` is its root directory (O_PATH,
 * or -1: ours).  0; -ENOENT: it has none; -EPERM: one that is not to be
 * believed (see perfmap_why()); or another -errno.  What was read before goes on
 * to serve if the process and its file are gone.
 */
int perfmap_read(struct perfmap *map, int root);

/*
 * The name of an address of the process, valid until the next perfmap_read();
 * NULL if it has none.
 */
const char *perfmap_find(const struct perfmap *map, uint64_t address);

/* In words, why it was not read, or not to its end; NULL if it was. */
const char *perfmap_why(const struct perfmap *map);

/* What it takes in memory. */
size_t perfmap_memory(const struct perfmap *map);

/* Takes NULL. */
void perfmap_close(struct perfmap *map);

#endif
