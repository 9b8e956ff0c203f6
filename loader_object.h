/* SPDX-License-Identifier: MIT */
#ifndef LOADER_OBJECT_H
#define LOADER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include "elf/object.h"
#include "elf/symbols.h"
#include "lib/bytes.h"
#include "sys/bpf.h"

/* <elf.h> of some libcs does not know them. */
enum { MACHINE_BPF = 247, RELOCATION_64_64 = 1 };

struct loader_map {
	const char *name;
	uint32_t section;	/* .maps, or the read-only data that it holds */
	uint64_t offset;	/* of its variable in .maps */
	struct bytes data;	/* read-only data; none: an ordinary map */
	struct bpf_map_attr attr;
	const struct loader_program *meant_by;	/* the latest that uses it */
	int fd;
};

struct loader_program {
	const char *name;
	uint32_t type, flags, section;
	uint64_t offset, size;	/* in the section, in bytes */
	bool chosen;
	struct bpf_insn *insns;	/* a copy, with maps' descriptors patched in */
	int fd;
};

struct loader {
	const char *name;	/* of the object, for messages */
	bool silent;		/* about what the kernel refuses */
	struct elf elf;
	struct elf_symbols symbols;
	struct elf_section maps_section;
	const char *license;
	struct loader_map *maps;
	size_t map_count, map_capacity;
	struct loader_program *programs;
	size_t program_count, program_capacity;
};

/*
 * Fills `loader` from the bytes of an object file, which stay in use.  0, or
 * -ENOEXEC after a message.  What was found is freed by loader_close().
 */
int loader_object_read(struct loader *loader, struct bytes file);

/* Tells (--explain) what is in it. */
void loader_object_explain(const struct loader *loader);

/* Says what is wrong with which part of the object; -ENOEXEC. */
int loader_object_bad(const struct loader *loader, const char *where,
		      const char *why);

#endif
