/* SPDX-License-Identifier: MIT */
/*
 * loader_object: what clang -target bpf wrote, as far as it matters here.
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
 *	.rodata       constants, which become a map as well
 *	license       a text; it decides which helpers may be called
 *
 * Nothing of this is done yet in the kernel: that is loader.c.
 *
 * Sources: Documentation/bpf/btf.rst and
 * Documentation/bpf/libbpf/program_types.rst of the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "elf/btf.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "loader_object.h"
#include "sys/explain.h"

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

int loader_object_bad(const struct loader *loader, const char *where,
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
			return loader_object_bad(loader, ".maps",
					  "a map's type cannot be read");
		if (!find_map_symbol(loader, &map))
			return loader_object_bad(loader, map.name,
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
		return loader_object_bad(loader, ".BTF",
				  "missing: compile with clang -g");
	error = btf_open(&btf, section.bytes);
	if (error)
		loader_object_bad(loader, ".BTF", "damaged");
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
			return loader_object_bad(loader, symbol.name,
					  "this program is not all there");
		loader->programs = memory_grow(loader->programs,
					       &loader->program_capacity,
					       loader->program_count + 1,
					       sizeof(program));
		loader->programs[loader->program_count++] = program;
	}
	if (!loader->program_count)
		return loader_object_bad(loader, "programs", "there is none");
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
	return loader_object_bad(loader, ".symtab", "missing or damaged");
}

static int read_license(struct loader *loader)
{
	struct elf_section section;

	if (elf_section_named(&loader->elf, "license", &section))
		return loader_object_bad(loader, "license", "this section is missing");
	loader->license = bytes_text(section.bytes, 0);
	if (!loader->license)
		return loader_object_bad(loader, "license", "is not a text");
	return 0;
}

static int read_header(struct loader *loader, struct bytes file)
{
	const char *why;

	if (elf_open(&loader->elf, file, &why))
		return loader_object_bad(loader, "ELF header", why);
	if (loader->elf.machine != MACHINE_BPF)
		return loader_object_bad(loader, "ELF header",
					 "not compiled for BPF");
	return 0;
}

/* What a section is good for, as far as it is for anything here. */
static const char *section_use(const struct elf *elf,
			       const struct elf_section *section)
{
	struct elf_section code;
	uint32_t type, flags;

	if (section->type == SHT_SYMTAB)
		return "symbols: where programs and maps are";
	if (section->type == SHT_STRTAB)
		return "names of symbols and sections";
	if (section->type == SHT_REL &&
	    !elf_section(elf, section->info, &code) &&
	    program_type(code.name, &type, &flags))
		return "relocations: which instructions mean a map";
	if (program_type(section->name, &type, &flags))
		return "instructions of programs, 8 bytes each";
	if (!strcmp(section->name, ".maps"))
		return "one variable per map, of no content";
	if (!strcmp(section->name, ".BTF"))
		return "types: what the maps' variables stand for";
	if (!strcmp(section->name, ".rodata"))
		return "constants: become a map";
	if (!strcmp(section->name, "license"))
		return "decides which helpers may be called";
	return "not used";
}

void loader_object_explain(const struct loader *loader)
{
	explain("%s: an ELF object for machine %u (BPF), %zu bytes, %u "
		"sections:", loader->name, loader->elf.machine,
		loader->elf.file.size, loader->elf.sections);
	explain("    %-15s %6u  section 0 is empty in every ELF file", "(none)",
		0);
	for (uint32_t i = 1; i < loader->elf.sections; i++) {
		struct elf_section section;

		if (elf_section(&loader->elf, i, &section))
			continue;
		explain("    %-15s %6zu  %s", section.name, section.bytes.size,
			section_use(&loader->elf, &section));
	}
	for (size_t i = 0; i < loader->program_count; i++)
		explain("program `%s`: %" PRIu64 " instructions",
			loader->programs[i].name,
			loader->programs[i].size / sizeof(struct bpf_insn));
	explain("%zu maps; those are made that a loaded program uses",
		loader->map_count);
}

int loader_object_read(struct loader *loader, struct bytes file)
{
	int error = read_header(loader, file);

	if (!error)
		error = read_symbols(loader);
	if (!error)
		error = read_license(loader);
	if (!error)
		error = read_maps(loader);
	if (!error)
		error = read_programs(loader);
	return error;
}
