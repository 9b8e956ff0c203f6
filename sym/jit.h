/* SPDX-License-Identifier: MIT */
#ifndef SYM_JIT_H
#define SYM_JIT_H

#include <stddef.h>
#include <stdint.h>

/* Names of code that processes made themselves: their perf maps. */
struct jit;

struct jit *jit_new(void);

/* A new drain begins: maps are read on. */
void jit_round(struct jit *jit);

/* Who has the code, and when (ns, CLOCK_MONOTONIC) its program began, or 0. */
struct jit_task {
	uint32_t tgid;
	uint64_t born;
};

/*
 * The name of an address, valid until the next jit_round(), or NULL.  Then
 * *late is 0 if there will be none, else it stands for the task in jit_late():
 * its map is there, and more may be written.
 */
const char *jit_find(struct jit *jit, const struct jit_task *task,
		     uint64_t address, uint32_t *late);

/* At the end: the name that has come since, or NULL. */
const char *jit_late(struct jit *jit, uint32_t late, uint64_t address);

/* Says why a map was not read, if any was not. */
void jit_report(const struct jit *jit);

/* Takes NULL. */
void jit_free(struct jit *jit);

#endif
