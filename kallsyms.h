/* SPDX-License-Identifier: MIT */
#ifndef KALLSYMS_H
#define KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel address that wants a name. */
struct kallsyms_name {
	uint64_t address;
	uint64_t start;		/* out: of the symbol */
	char *name;		/* out: NULL if it has none; freed with free() */
	char *module;		/* out: "bpf" for BPF programs; NULL: kernel */
};

/* A function that every kernel has, to hold a file against the kernel. */
#define KALLSYMS_PROBE "vfs_read"

/* What was learned about the file. */
struct kallsyms_facts {
	uint64_t symbols;	/* lines understood */
	uint64_t text_start;	/* _stext, or _text; 0 if it has neither */
	uint64_t text_end;	/* _etext */
	uint64_t probe;		/* where KALLSYMS_PROBE is; 0: not there */
	bool hidden;		/* all addresses are zero: kptr_restrict */
	bool modules;		/* it names a module or a BPF program */
};

/*
 * Reads `path` (/proc/kallsyms, or a saved one, or a System.map) once and
 * names the addresses, which must ascend without doubles.  Memory is used for
 * the wanted addresses only.  Addresses that have a name already keep it.
 * 0 or -errno; says nothing.
 */
int kallsyms_find(const char *path, struct kallsyms_name *names, size_t count,
		  struct kallsyms_facts *facts);

/* How many of the ascending addresses are below `address`. */
size_t kallsyms_below(const struct kallsyms_name *names, size_t count,
		      uint64_t address);

/*
 * Whether this is the name of a function: not of the padding in front of one,
 * of a label, or of a place that the linker marked.
 */
bool kallsyms_is_function(const char *name);

#endif
