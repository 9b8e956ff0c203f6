/* SPDX-License-Identifier: MIT */
/*
 * loader: brings a compiled BPF object into the kernel, without a library.
 *
 *	object file ── loader_object.c ──> maps, programs, relocations
 *	a chosen program ──> its maps are created, its instructions patched
 *	                 ──> the verifier checks it, a descriptor comes back
 *
 * A program names a map by the instruction `r1 = 0 ll` (LD_IMM64, 16 bytes)
 * with a relocation to the map's symbol.  The kernel wants the descriptor of
 * the map there, and src_reg = BPF_PSEUDO_MAP_FD to say that it is one:
 *
 *	18 01 00 00 | 00 00 00 00      18 11 00 00 | 05 00 00 00
 *	   ^ dst 1    ^ imm 0     ──>     ^ src 1     ^ imm: fd 5
 *	00 00 00 00 | 00 00 00 00      00 00 00 00 | 00 00 00 00
 *
 * Constants (.rodata) become a map as well, and the instruction then means an
 * address in its value (BPF_PSEUDO_MAP_VALUE, with the offset in the second
 * immediate).
 *
 * Left out on purpose, with an error that says so: variables (.data, .bss) and
 * functions that are not inlined (calls into .text).  CO-RE relocations
 * (.BTF.ext) are not looked at.  Each would double this file, and a profiler
 * needs none of them.
 *
 * Sources: Documentation/bpf/llvm_reloc.rst of the kernel, man 2 bpf.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "loader.h"
#include "loader_object.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/explain.h"
#include "sys/insn.h"
#include "sys/system.h"

struct loader *loader_open(struct bytes file, const char *name)
{
	struct loader *loader = memory_new(1, sizeof(*loader));

	loader->name = name;
	if (!loader_object_read(loader, file))
		return loader;
	loader_close(loader);
	return NULL;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static struct loader_map *find_map(const struct loader *loader,
				   const char *name)
{
	for (size_t i = 0; i < loader->map_count; i++)
		if (!strcmp(loader->maps[i].name, name))
			return &loader->maps[i];
	return NULL;
}

static struct loader_program *find_program(const struct loader *loader,
					   const char *name)
{
	for (size_t i = 0; i < loader->program_count; i++)
		if (!strcmp(loader->programs[i].name, name))
			return &loader->programs[i];
	return NULL;
}

int loader_resize(struct loader *loader, const char *name, uint32_t entries,
		  uint32_t value_size)
{
	struct loader_map *map = find_map(loader, name);

	if (!map) {
		log_error("%s: %s: no such map", loader->name, name);
		return -ENOENT;
	}
	if (entries)
		map->attr.max_entries = entries;
	if (value_size)
		map->attr.value_size = value_size;
	return 0;
}

int loader_choose(struct loader *loader, const char *name)
{
	struct loader_program *program = find_program(loader, name);

	if (!program) {
		log_error("%s: %s: no such program", loader->name, name);
		return -ENOENT;
	}
	program->chosen = true;
	return 0;
}

/*
 * The map that the relocation `symbol` means, or NULL; for constants, *offset
 * says where in it: where the symbol is, and what the instruction adds.
 */
static struct loader_map *relocated_map(struct loader *loader,
					const struct elf_symbol *symbol,
					const struct bpf_insn *insn,
					uint64_t *offset)
{
	*offset = symbol->value + (uint64_t)(uint32_t)insn->imm;
	for (size_t i = 0; i < loader->map_count; i++) {
		struct loader_map *map = &loader->maps[i];

		if (map->section == symbol->section &&
		    (map->data.size ? *offset < map->data.size :
		     map->offset == *offset))
			return map;
	}
	return NULL;
}

/* Puts constants where nobody can change them any more. */
static int fill_constants(const struct loader_map *map)
{
	uint32_t zero = 0;
	int error = bpf_map_update_elem(map->fd, &zero, map->data.data,
					BPF_ANY);

	return error ? error : bpf_map_freeze(map->fd);
}

static int create_map(const struct loader *loader, struct loader_map *map)
{
	const char *what = "bpf(BPF_MAP_CREATE)";
	int error;

	map->fd = bpf_map_create(&map->attr);
	error = map->fd < 0 ? map->fd : 0;
	if (!error && map->data.size) {
		what = "bpf(BPF_MAP_UPDATE_ELEM, BPF_MAP_FREEZE)";
		error = fill_constants(map);
	}
	if (!error || loader->silent)
		return error;
	log_error("%s: %s with max_entries %u: %s", map->name, what,
		  map->attr.max_entries, system_strerror(error));
	advice_tell(ADVICE_MAP, error);
	return error;
}

/* One relocation of a program: which instruction means which map. */
struct meaning {
	uint64_t at;		/* number of the instruction */
	struct loader_map *map;
	uint64_t offset;	/* in the value, for constants */
};

static int read_relocation(struct loader *loader,
			   const struct loader_program *program,
			   const Elf64_Rel *relocation,
			   struct meaning *meaning)
{
	uint64_t at = relocation->r_offset - program->offset;
	const struct bpf_insn *insn = &program->insns[at / sizeof(*insn)];
	struct elf_symbol symbol;

	/* LD_IMM64 takes two instructions; both must be inside. */
	if (at % sizeof(*insn) || at + 2 * sizeof(*insn) > program->size ||
	    !elf_symbol(&loader->symbols, ELF64_R_SYM(relocation->r_info),
			&symbol))
		return loader_object_bad(loader, program->name,
				  "a relocation points outside");
	if (ELF64_R_TYPE(relocation->r_info) != RELOCATION_64_64 ||
	    insn->code != (BPF_LD | BPF_DW | BPF_IMM))
		return loader_object_bad(loader, program->name,
				  "calls a function that is not inlined");
	meaning->at = at / sizeof(*insn);
	meaning->map = relocated_map(loader, &symbol, insn, &meaning->offset);
	if (!meaning->map)
		return loader_object_bad(loader, *symbol.name ? symbol.name :
				  program->name, "is not a map or a constant: "
				  "variables are not supported");
	return 0;
}

/* Creates the map if this is the first to mean it, and patches. */
static int relocate(struct loader *loader, struct loader_program *program,
		    const struct meaning *meaning)
{
	struct bpf_insn *insn = &program->insns[meaning->at];
	struct loader_map *map = meaning->map;

	if (!map)
		return -ENOEXEC;
	if (map->fd < 0) {
		int error = create_map(loader, map);

		if (error)
			return error;
	}
	insn[0].src_reg = map->data.size ? BPF_PSEUDO_MAP_VALUE :
			  BPF_PSEUDO_MAP_FD;
	insn[0].imm = map->fd;
	insn[1].imm = map->data.size ? (int32_t)meaning->offset : 0;
	explain("instruction %" PRIu64 " of `%s`: r%u = `%s`", meaning->at,
		program->name, insn->dst_reg, map->name);
	explain("    imm=%d  src_reg=%s", map->fd, map->data.size ?
		"BPF_PSEUDO_MAP_VALUE" : "BPF_PSEUDO_MAP_FD");
	return 0;
}

typedef int relocation_fn(struct loader *loader, struct loader_program *program,
			  const struct meaning *meaning);

static int note_map(struct loader *loader, struct loader_program *program,
		    const struct meaning *meaning)
{
	(void)loader;
	if (meaning->map)
		meaning->map->meant_by = program;
	return 0;
}

static void explain_maps(const struct loader *loader,
			 const struct loader_program *program)
{
	size_t count = 0;

	for (size_t i = 0; i < loader->map_count; i++)
		count += loader->maps[i].meant_by == program;
	explain("`%s` uses %zu of the %zu maps; each is made where it is first "
		"named", program->name, count, loader->map_count);
}

/* All relocations that fall into this program. */
static int each_relocation(struct loader *loader,
			   struct loader_program *program, relocation_fn *each)
{
	for (uint32_t i = 1; i < loader->elf.sections; i++) {
		struct elf_section section;
		Elf64_Rel relocation;

		if (elf_section(&loader->elf, i, &section) ||
		    section.type != SHT_REL ||
		    section.info != program->section)
			continue;
		for (uint64_t at = 0; bytes_copy(section.bytes, at, &relocation,
						 sizeof(relocation));
		     at += sizeof(relocation)) {
			struct meaning meaning;
			int error;

			if (relocation.r_offset < program->offset ||
			    relocation.r_offset - program->offset >=
			    program->size)
				continue;
			error = read_relocation(loader, program, &relocation,
						&meaning);
			if (!error)
				error = each(loader, program, &meaning);
			if (error)
				return error;
		}
	}
	return 0;
}

/* Whether the verifier said no, and not somebody before or after it. */
static bool is_verifier_error(int error)
{
	return error == -EACCES || error == -EINVAL || error == -E2BIG ||
	       error == -EOPNOTSUPP || error == -ENOENT;
}

/* The verifier's words, which it is asked for only after a refusal. */
static void show_verifier_log(struct bpf_prog_attr *attr)
{
	enum { FIRST_SIZE = 64 * 1024, LAST_SIZE = 16 * 1024 * 1024 };
	int fd = -ENOSPC;

	for (uint32_t size = FIRST_SIZE; size <= LAST_SIZE && fd == -ENOSPC;
	     size *= 4) {
		free(attr->log);
		attr->log = memory_new(size, 1);
		attr->log_size = size;
		fd = bpf_prog_load(attr);
	}
	if (fd >= 0)
		close(fd);
	/* Its last lines matter; those before tell how it came there. */
	if (*attr->log) {
		char *from = attr->log + strlen(attr->log);
		int lines = 0;

		while (from > attr->log && lines < 30)
			lines += *--from == '\n';
		for (char *line = strtok(from, "\n"); line;
		     line = strtok(NULL, "\n"))
			log_advice("verifier: %s", line);
	}
	free(attr->log);
	attr->log = NULL;
}

/* Copies the instructions and creates the maps that they use. */
static int prepare_program(struct loader *loader,
			   struct loader_program *program)
{
	struct elf_section section;
	int error;

	program->insns = memory_new(program->size, 1);
	if (elf_section(&loader->elf, program->section, &section) ||
	    !bytes_copy(section.bytes, program->offset, program->insns,
			program->size))
		return -ENOEXEC;
	/* All are read before the first map is made. */
	error = each_relocation(loader, program, note_map);
	if (error)
		return error;
	explain_maps(loader, program);
	return each_relocation(loader, program, relocate);
}

/* The 8 bytes in the order in which they lie in memory. */
static uint64_t insn_bytes(const struct bpf_insn *insn)
{
	const uint8_t *byte = (const uint8_t *)insn;
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof(*insn); i++)
		bytes = bytes << 8 | byte[i];
	return bytes;
}

/*
 * The instructions, in hexadecimal and as text; of those that were patched also
 * what the compiler wrote.
 */
static void explain_instructions(const struct loader *loader,
				 const struct loader_program *program)
{
	struct text text = { 0 };
	struct elf_section section;
	size_t size = sizeof(struct bpf_insn);

	if (elf_section(&loader->elf, program->section, &section))
		return;
	for (size_t i = 0; i < program->size / size; i++) {
		const struct bpf_insn *now = &program->insns[i];
		struct bpf_insn was[2] = { 0 };
		size_t wide = insn_is_wide(now) ? 2 : 1;

		bytes_copy(section.bytes, program->offset + i * size, was,
			   wide * size);
		if (memcmp(was, now, wide * size)) {
			text.length = 0;
			insn_text(&text, was);
			explain("%5s  %016" PRIx64 "  %s  <- before", "",
				insn_bytes(was), text.data);
		}
		text.length = 0;
		insn_text(&text, now);
		explain("%5zu  %016" PRIx64 "  %s", i, insn_bytes(now),
			text.data);
		i += wide - 1;
	}
	text_free(&text);
}

static int load_program(struct loader *loader, struct loader_program *program)
{
	struct bpf_prog_attr attr = {
		.type = program->type, .flags = program->flags,
		.insns = program->insns,
		.insn_count = (uint32_t)(program->size /
					 sizeof(*program->insns)),
		.license = loader->license,
		.name = program->name,
	};
	int error;

	if (explain_code())
		explain_instructions(loader, program);
	error = bpf_prog_load(&attr);
	/* EAGAIN: a signal came while the verifier worked. */
	for (int tries = 0; error == -EAGAIN && tries < 5; tries++)
		error = bpf_prog_load(&attr);
	if (error >= 0) {
		program->fd = error;
		return 0;
	}
	if (loader->silent)
		return error;
	log_error("%s: bpf(BPF_PROG_LOAD): %s", program->name,
		  system_strerror(error));
	if (is_verifier_error(error))
		show_verifier_log(&attr);
	advice_tell(ADVICE_PROG, error);
	return error;
}

int loader_renew(struct loader *loader, const char *name, uint32_t entries)
{
	struct loader_map *map = find_map(loader, name), old;
	int error;

	if (!map)
		return -ENOENT;
	old = *map;
	map->attr.max_entries = entries;
	error = create_map(loader, map);
	if (error)
		*map = old;
	else
		/* Programs that use the old one keep it until they go. */
		close_fd(&old.fd);
	return error;
}

static void unload(struct loader_program *program)
{
	close_fd(&program->fd);
	free(program->insns);
	program->insns = NULL;
}

void loader_unload(struct loader *loader, const char *name)
{
	struct loader_program *program = find_program(loader, name);

	if (!program)
		return;
	program->chosen = false;
	unload(program);
}

/* Maps of programs that are not loaded after all. */
static void close_unused(struct loader *loader)
{
	for (size_t i = 0; i < loader->program_count; i++)
		if (loader->programs[i].fd >= 0)
			return;
	for (size_t i = 0; i < loader->map_count; i++)
		close_fd(&loader->maps[i].fd);
}

int loader_load(struct loader *loader)
{
	int error = 0;

	for (size_t i = 0; !error && i < loader->program_count; i++) {
		struct loader_program *program = &loader->programs[i];

		if (!program->chosen || program->fd >= 0)
			continue;
		error = prepare_program(loader, program);
		if (!error)
			error = load_program(loader, program);
		if (error)
			unload(program);
	}
	if (error)
		close_unused(loader);
	return error;
}

void loader_explain(const struct loader *loader)
{
	if (explain_calls())
		loader_object_explain(loader);
}

void loader_silence(struct loader *loader, bool silent)
{
	loader->silent = silent;
}

int loader_map_fd(const struct loader *loader, const char *name)
{
	const struct loader_map *map = find_map(loader, name);

	return map && map->fd >= 0 ? map->fd : -ENOENT;
}

int loader_prog_fd(const struct loader *loader, const char *name)
{
	const struct loader_program *program = find_program(loader, name);

	return program && program->fd >= 0 ? program->fd : -ENOENT;
}

uint32_t loader_entries(const struct loader *loader, const char *name)
{
	const struct loader_map *map = find_map(loader, name);

	return map ? map->attr.max_entries : 0;
}

uint32_t loader_key_size(const struct loader *loader, const char *name)
{
	const struct loader_map *map = find_map(loader, name);

	return map ? map->attr.key_size : 0;
}

uint32_t loader_value_size(const struct loader *loader, const char *name)
{
	const struct loader_map *map = find_map(loader, name);

	return map ? map->attr.value_size : 0;
}

void loader_close(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < loader->program_count; i++)
		unload(&loader->programs[i]);
	close_unused(loader);
	free(loader->maps);
	free(loader->programs);
	free(loader);
}
