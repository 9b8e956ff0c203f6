/* SPDX-License-Identifier: MIT */
/*
 * loader: brings a compiled BPF object into the kernel, without a library.
 *
 * What clang -target bpf wrote, as far as it matters here:
 *
 *	section       holds
 *	perf_event    instructions (8 bytes each) of one or more programs;
 *	              the section's name tells their type
 *	.relperf_event  relocations: "the instruction at this offset means
 *	              that symbol"
 *	.symtab       symbols: where each program begins (STT_FUNC), and the
 *	              name of each map (STT_OBJECT in .maps)
 *	.maps         nothing but room: one variable per map
 *	.BTF          the types of these variables: there stands what kind of
 *	              map it is and how large its keys and values are
 *	license       a text; it decides which helpers may be called
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
 * Sources: Documentation/bpf/llvm_reloc.rst, Documentation/bpf/btf.rst and
 * Documentation/bpf/libbpf/program_types.rst of the kernel, man 2 bpf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "elf/btf.h"
#include "elf/object.h"
#include "elf/symbols.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "loader.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/system.h"

/* <elf.h> of some libcs does not know them. */
enum { MACHINE_BPF = 247, RELOCATION_64_64 = 1 };

struct loader_map {
	const char *name;
	uint32_t section;	/* .maps, or the read-only data that it holds */
	uint64_t offset;	/* of its variable in .maps */
	struct bytes data;	/* read-only data; none: an ordinary map */
	struct bpf_map_attr attr;
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

/* Which program type a section's name means: by its part before a slash. */
static const struct {
	const char *section;
	uint32_t type, flags;
} loader_types[] = {
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT, 0 },
	{ "tracepoint", BPF_PROG_TYPE_TRACEPOINT, 0 },
	{ "syscall", BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE },
};

/* ----------------------------------------------------- what is in the file */

/*
 * One member of a map's struct.  MAP_NUMBER made it `int (*name)[value]`, a
 * pointer to an array whose length is meant; MAP_TYPE a pointer to the type.
 */
static bool map_member(const struct btf *btf, const struct btf_member *member,
		       struct bpf_map_attr *attr)
{
	const char *name = bytes_text(btf->texts, member->name_off);
	struct btf_type pointer;
	uint64_t extra;

	if (!name || !btf_type(btf, member->type, &pointer, &extra) ||
	    BTF_INFO_KIND(pointer.info) != BTF_KIND_PTR)
		return false;
	if (!strcmp(name, "type"))
		return btf_length(btf, pointer.type, &attr->type);
	if (!strcmp(name, "max_entries"))
		return btf_length(btf, pointer.type, &attr->max_entries);
	if (!strcmp(name, "map_flags"))
		return btf_length(btf, pointer.type, &attr->flags);
	if (!strcmp(name, "key_size"))
		return btf_length(btf, pointer.type, &attr->key_size);
	if (!strcmp(name, "value_size"))
		return btf_length(btf, pointer.type, &attr->value_size);
	if (!strcmp(name, "key"))
		return btf_size(btf, pointer.type, &attr->key_size);
	if (!strcmp(name, "value"))
		return btf_size(btf, pointer.type, &attr->value_size);
	return false;
}

/* The variable `number` of .maps: its name and the members of its struct. */
static bool read_map(const struct btf *btf, uint32_t number,
		     struct loader_map *map)
{
	struct btf_type variable, type;
	uint64_t extra;

	*map = (struct loader_map){ .fd = -1 };
	if (!btf_type(btf, number, &variable, &extra) ||
	    BTF_INFO_KIND(variable.info) != BTF_KIND_VAR ||
	    !btf_type(btf, variable.type, &type, &extra) ||
	    BTF_INFO_KIND(type.info) != BTF_KIND_STRUCT)
		return false;
	map->name = bytes_text(btf->texts, variable.name_off);
	if (!map->name)
		return false;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type.info); i++) {
		struct btf_member member;

		if (!bytes_copy(btf->types, extra + i * sizeof(member),
				&member, sizeof(member)) ||
		    !map_member(btf, &member, &map->attr))
			return false;
	}
	map->attr.name = map->name;
	return map->attr.type != BPF_MAP_TYPE_UNSPEC;
}

static int bad_object(const struct loader *loader, const char *where,
		      const char *why)
{
	log_error("%s: %s: %s", loader->name, where, why);
	return -ENOEXEC;
}

/* Where the variable of this map lies in .maps: its symbol says. */
static bool find_map_symbol(struct loader *loader, struct loader_map *map)
{
	struct elf_symbol symbol;

	for (uint64_t i = 0; elf_symbol(&loader->symbols, i, &symbol); i++) {
		if (symbol.section != loader->maps_section.number ||
		    symbol.type != STT_OBJECT ||
		    strcmp(symbol.name, map->name))
			continue;
		map->section = symbol.section;
		map->offset = symbol.value;
		return true;
	}
	return false;
}

static void add_map(struct loader *loader, struct loader_map map)
{
	loader->maps = memory_grow(loader->maps, &loader->map_capacity,
				   loader->map_count + 1, sizeof(map));
	loader->maps[loader->map_count++] = map;
}

/*
 * Constants (.rodata) are maps too: an array of one element, the whole section,
 * that programs cannot write and user space cannot once it is frozen.
 */
static void read_constants(struct loader *loader)
{
	static const char rodata[] = ".rodata";

	for (uint32_t i = 1; i < loader->elf.sections; i++) {
		struct loader_map map = { .name = rodata, .fd = -1 };
		struct elf_section section;

		if (elf_section(&loader->elf, i, &section) ||
		    strncmp(section.name, rodata, sizeof(rodata) - 1) ||
		    section.type != SHT_PROGBITS || !section.bytes.size ||
		    section.bytes.size > UINT32_MAX)
			continue;
		map.section = i;
		map.data = section.bytes;
		map.attr = (struct bpf_map_attr){
			.type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
			.value_size = (uint32_t)section.bytes.size,
			.max_entries = 1, .flags = BPF_F_RDONLY_PROG,
			.name = rodata,
		};
		add_map(loader, map);
	}
}

/* The variables of one DATASEC: when it is .maps, they are maps. */
static int read_data_section(struct loader *loader, const struct btf *btf,
			     const struct btf_type *type, uint64_t extra)
{
	const char *name = bytes_text(btf->texts, type->name_off);

	if (!name || strcmp(name, ".maps"))
		return 0;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		struct btf_var_secinfo variable;
		struct loader_map map;

		if (!bytes_copy(btf->types, extra + i * sizeof(variable),
				&variable, sizeof(variable)) ||
		    !read_map(btf, variable.type, &map))
			return bad_object(loader, ".maps",
					  "a map's type cannot be read");
		if (!find_map_symbol(loader, &map))
			return bad_object(loader, map.name,
					  "this map has no symbol in .maps");
		add_map(loader, map);
	}
	return 0;
}

static int read_maps(struct loader *loader)
{
	struct elf_section section;
	struct btf btf;
	int error;

	read_constants(loader);
	/* No maps is fine; maps without types are not. */
	if (elf_section_named(&loader->elf, ".maps", &loader->maps_section))
		return 0;
	if (elf_section_named(&loader->elf, ".BTF", &section))
		return bad_object(loader, ".BTF",
				  "missing: compile with clang -g");
	error = btf_open(&btf, section.bytes);
	if (error)
		bad_object(loader, ".BTF", "damaged");
	for (uint32_t i = 1; !error && i < btf.count; i++) {
		struct btf_type type;
		uint64_t extra;

		if (btf_type(&btf, i, &type, &extra) &&
		    BTF_INFO_KIND(type.info) == BTF_KIND_DATASEC)
			error = read_data_section(loader, &btf, &type, extra);
	}
	btf_close(&btf);
	return error;
}

/* True, type and flags, if programs in a section of this name are known. */
static bool program_type(const char *section, uint32_t *type, uint32_t *flags)
{
	size_t length = strcspn(section, "/");

	for (size_t i = 0; i < sizeof(loader_types) / sizeof(*loader_types);
	     i++) {
		if (strncmp(section, loader_types[i].section, length) ||
		    loader_types[i].section[length])
			continue;
		*type = loader_types[i].type;
		*flags = loader_types[i].flags;
		return true;
	}
	return false;
}

/* Each global function in a section whose name tells a type is a program. */
static int read_programs(struct loader *loader)
{
	struct elf_symbol symbol;

	for (uint64_t i = 0; elf_symbol(&loader->symbols, i, &symbol); i++) {
		struct loader_program program = {
			.name = symbol.name,
			.section = symbol.section,
			.offset = symbol.value,
			.size = symbol.size,
			.fd = -1,
		};
		struct elf_section section;
		struct bytes code;

		if (symbol.type != STT_FUNC || symbol.binding != STB_GLOBAL ||
		    elf_section(&loader->elf, symbol.section, &section) ||
		    section.type != SHT_PROGBITS ||
		    !(section.flags & SHF_EXECINSTR) ||
		    !program_type(section.name, &program.type, &program.flags))
			continue;
		if (!program.size ||
		    program.size % sizeof(struct bpf_insn) ||
		    program.offset % sizeof(struct bpf_insn) ||
		    !bytes_part(section.bytes, program.offset, program.size,
				&code))
			return bad_object(loader, symbol.name,
					  "this program is not all there");
		loader->programs = memory_grow(loader->programs,
					       &loader->program_capacity,
					       loader->program_count + 1,
					       sizeof(program));
		loader->programs[loader->program_count++] = program;
	}
	if (!loader->program_count)
		return bad_object(loader, "programs", "there is none");
	return 0;
}

static int read_symbols(struct loader *loader)
{
	for (uint32_t i = 1; i < loader->elf.sections; i++) {
		struct elf_section section;

		if (elf_section(&loader->elf, i, &section) ||
		    section.type != SHT_SYMTAB)
			continue;
		if (!elf_symbols_open(&loader->symbols, &loader->elf, &section))
			return 0;
	}
	return bad_object(loader, ".symtab", "missing or damaged");
}

static int read_license(struct loader *loader)
{
	struct elf_section section;

	if (elf_section_named(&loader->elf, "license", &section))
		return bad_object(loader, "license", "this section is missing");
	loader->license = bytes_text(section.bytes, 0);
	if (!loader->license)
		return bad_object(loader, "license", "is not a text");
	return 0;
}

struct loader *loader_open(struct bytes file, const char *name)
{
	struct loader *loader = memory_new(1, sizeof(*loader));
	const char *why;

	loader->name = name;
	if (elf_open(&loader->elf, file, &why)) {
		bad_object(loader, "ELF header", why);
		goto fail;
	}
	if (loader->elf.machine != MACHINE_BPF) {
		bad_object(loader, "ELF header", "not compiled for BPF");
		goto fail;
	}
	if (read_symbols(loader) || read_license(loader) ||
	    read_maps(loader) || read_programs(loader))
		goto fail;
	return loader;
fail:
	loader_close(loader);
	return NULL;
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

/* One relocation of a program: creates its map if it is the first to use it. */
static int relocate(struct loader *loader, struct loader_program *program,
		    const Elf64_Rel *relocation, struct bpf_insn *insns)
{
	uint64_t at = relocation->r_offset - program->offset;
	struct bpf_insn *insn = &insns[at / sizeof(*insn)];
	struct elf_symbol symbol;
	struct loader_map *map;
	uint64_t offset;
	int error;

	/* LD_IMM64 takes two instructions; both must be inside. */
	if (at % sizeof(*insn) || at + 2 * sizeof(*insn) > program->size ||
	    !elf_symbol(&loader->symbols, ELF64_R_SYM(relocation->r_info),
			&symbol))
		return bad_object(loader, program->name,
				  "a relocation points outside");
	if (ELF64_R_TYPE(relocation->r_info) != RELOCATION_64_64 ||
	    insn->code != (BPF_LD | BPF_DW | BPF_IMM))
		return bad_object(loader, program->name,
				  "calls a function that is not inlined");
	map = relocated_map(loader, &symbol, insn, &offset);
	if (!map)
		return bad_object(loader, *symbol.name ? symbol.name :
				  program->name, "is not a map or a constant: "
				  "variables are not supported");
	if (map->fd < 0) {
		error = create_map(loader, map);
		if (error)
			return error;
	}
	insn[0].src_reg = map->data.size ? BPF_PSEUDO_MAP_VALUE :
			  BPF_PSEUDO_MAP_FD;
	insn[0].imm = map->fd;
	insn[1].imm = map->data.size ? (int32_t)offset : 0;
	return 0;
}

/* All relocations that fall into this program. */
static int relocate_program(struct loader *loader,
			    struct loader_program *program,
			    struct bpf_insn *insns)
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
			int error;

			if (relocation.r_offset < program->offset ||
			    relocation.r_offset - program->offset >=
			    program->size)
				continue;
			error = relocate(loader, program, &relocation, insns);
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

	program->insns = memory_new(program->size, 1);
	if (elf_section(&loader->elf, program->section, &section) ||
	    !bytes_copy(section.bytes, program->offset, program->insns,
			program->size))
		return -ENOEXEC;
	return relocate_program(loader, program, program->insns);
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
	int error = bpf_prog_load(&attr);

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

static void close_all(struct loader *loader)
{
	for (size_t i = 0; i < loader->program_count; i++) {
		if (loader->programs[i].fd >= 0)
			close(loader->programs[i].fd);
		loader->programs[i].fd = -1;
		free(loader->programs[i].insns);
		loader->programs[i].insns = NULL;
	}
	for (size_t i = 0; i < loader->map_count; i++) {
		if (loader->maps[i].fd >= 0)
			close(loader->maps[i].fd);
		loader->maps[i].fd = -1;
	}
}

int loader_load(struct loader *loader)
{
	int error = 0;

	for (size_t i = 0; !error && i < loader->program_count; i++) {
		struct loader_program *program = &loader->programs[i];

		if (!program->chosen)
			continue;
		error = prepare_program(loader, program);
		if (!error)
			error = load_program(loader, program);
	}
	if (error)
		close_all(loader);
	return error;
}

void loader_silence(struct loader *loader)
{
	loader->silent = true;
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
	close_all(loader);
	free(loader->maps);
	free(loader->programs);
	free(loader);
}
