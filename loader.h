/* SPDX-License-Identifier: MIT */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bytes.h"

/*
 * From the bytes of a BPF object file to maps and programs in the kernel:
 *
 *	loader_open        what is in the file: maps, programs
 *	loader_resize      how many entries a map shall have
 *	loader_choose      which programs are wanted
 *	loader_load        create the maps they use, patch, load
 *	loader_map_fd, loader_prog_fd
 *	loader_close       closes all descriptors
 *
 * It knows ELF, BTF and bpf(2), and nothing of what the programs do.  The first
 * four say themselves what went wrong.
 */
struct loader;

/*
 * Reads the object `file` (named `name` in messages), which must stay as it is
 * until loader_close().  NULL after a message.
 */
struct loader *loader_open(struct bytes file, const char *name);

/*
 * Sets max_entries and value_size of a map before loader_load(); 0 leaves what
 * the object says.  0, or -ENOENT after a message.
 */
int loader_resize(struct loader *loader, const char *map, uint32_t entries,
		  uint32_t value_size);

/* Wants the program of this name loaded; for several, called several times. */
int loader_choose(struct loader *loader, const char *program);

/* Tells (--explain) what is in the object. */
void loader_explain(const struct loader *loader);

/* Whether a refusal by the kernel is told from here on, or was only a try. */
void loader_silence(struct loader *loader, bool silent);

/*
 * Loads what is chosen and not loaded yet.  0 or -errno.  Programs that were
 * loaded before stay so; if there is none, nothing is left open on failure.
 */
int loader_load(struct loader *loader);

/*
 * Makes a map anew with `entries`, empty, before any program uses it.  0 or
 * -errno, and then the old one is still there.
 */
int loader_renew(struct loader *loader, const char *map, uint32_t entries);

/* Closes a program, and does not want it any more.  Its maps stay. */
void loader_unload(struct loader *loader, const char *program);

/*
 * Descriptors, owned by the loader; -ENOENT for a map or program that is not
 * there or that no chosen program uses.
 */
int loader_map_fd(const struct loader *loader, const char *map);
int loader_prog_fd(const struct loader *loader, const char *program);

/* Its max_entries; bytes of key and value of a map; or 0. */
uint32_t loader_entries(const struct loader *loader, const char *map);
uint32_t loader_key_size(const struct loader *loader, const char *map);
uint32_t loader_value_size(const struct loader *loader, const char *map);

/* Takes NULL. */
void loader_close(struct loader *loader);

#endif
