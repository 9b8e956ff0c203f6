/* SPDX-License-Identifier: MIT */
/* The loader, with the real object and a kernel that only notes what it gets. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_prog.h"
#include "loader.h"
#include "test/unit/fake_bpf.h"
#include "test/unit/unit.h"

enum { EXECUTABLE = SHF_EXECINSTR };

/* The object as <elf.h> reads it, writable. */
struct object {
	uint8_t *data;
	size_t size;
	Elf64_Ehdr *header;
	Elf64_Shdr *table;
};

static struct object object_copy(void)
{
	struct bytes bytes = unit_object();
	struct object object = { malloc(bytes.size), bytes.size, NULL, NULL };

	CHECK(object.data);
	memcpy(object.data, bytes.data, bytes.size);
	object.header = (void *)object.data;
	object.table = (void *)(object.data + object.header->e_shoff);
	return object;
}

static Elf64_Shdr *section_named(const struct object *object, const char *name)
{
	const char *names = (const char *)object->data +
		object->table[object->header->e_shstrndx].sh_offset;

	for (unsigned int i = 1; i < object->header->e_shnum; i++)
		if (!strcmp(names + object->table[i].sh_name, name))
			return &object->table[i];
	unit_fail(__FILE__, __LINE__, "no section %s", name);
}

static const char *symbol_name(const struct object *object, uint32_t number,
			       const Elf64_Sym **symbol)
{
	const Elf64_Shdr *section = section_named(object, ".symtab");
	const Elf64_Sym *table = (const void *)(object->data +
						section->sh_offset);

	*symbol = &table[number];
	return (const char *)object->data +
	       object->table[section->sh_link].sh_offset +
	       table[number].st_name;
}

/* The symbol of this name: where a program lies in its section. */
static const Elf64_Sym *symbol_named(const struct object *object,
				     const char *name)
{
	const Elf64_Shdr *section = section_named(object, ".symtab");
	size_t count = section->sh_size / sizeof(Elf64_Sym);

	for (uint32_t i = 1; i < count; i++) {
		const Elf64_Sym *symbol;

		if (!strcmp(symbol_name(object, i, &symbol), name))
			return symbol;
	}
	unit_fail(__FILE__, __LINE__, "no symbol %s", name);
}

static struct loader *open_object(const struct object *object)
{
	return loader_open((struct bytes){ object->data, object->size },
			   "bpf_prog.o");
}

static bool told(const char *what)
{
	return strstr(unit_messages(), what);
}

/* ------------------------------------------------------------ as it should */

TEST(loader_maps_of_the_object)
{
	static const struct {
		const char *name;
		uint32_t type, key, value;
	} maps[] = {
		{ "stacks0", BPF_MAP_TYPE_HASH, 8, 1040 },
		{ "stacks1", BPF_MAP_TYPE_HASH, 8, 1040 },
		{ "counts0", BPF_MAP_TYPE_HASH, 56, 24 },
		{ "counts1", BPF_MAP_TYPE_HASH, 56, 24 },
		{ "live", BPF_MAP_TYPE_ARRAY, 4, 4 },
		{ "seeds", BPF_MAP_TYPE_ARRAY, 4, 32 },
		{ "scope", BPF_MAP_TYPE_ARRAY, 4, 24 },
		{ "cgroups", BPF_MAP_TYPE_CGROUP_ARRAY, 4, 4 },
		{ "tallies", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 256 },
		{ "scratches", BPF_MAP_TYPE_PERCPU_ARRAY, 4,
		  2 * 1040 + 56 + 24 + 128 },
		{ "walkers", BPF_MAP_TYPE_PROG_ARRAY, 4, 4 },
	};
	enum { MAPS = sizeof(maps) / sizeof(*maps) };
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	for (size_t i = 0; i < MAPS; i++) {
		CHECK_U64(loader_key_size(loader, maps[i].name), maps[i].key);
		CHECK_U64(loader_value_size(loader, maps[i].name),
			  maps[i].value);
		CHECK(loader_map_fd(loader, maps[i].name) == -ENOENT);
	}
	CHECK_U64(loader_key_size(loader, "none"), 0);
	CHECK_U64(loader_value_size(loader, "none"), 0);
	CHECK(!loader_resize(loader, "stacks0", 12345, 0));
	CHECK(!loader_choose(loader, "profile_hash"));
	CHECK(!loader_load(loader));
	CHECK_U64(fake_bpf.map_count, MAPS);
	for (size_t i = 0; i < MAPS; i++) {
		struct fake_map *map = fake_map(maps[i].name);

		CHECK(map);
		CHECK_U64(map->attr.type, maps[i].type);
		CHECK_U64(map->attr.key_size, maps[i].key);
		CHECK_U64(map->attr.value_size, maps[i].value);
		CHECK_U64(map->attr.max_entries,
			  i == 0 ? 12345 : i < 4 ? 1024 :
			  i + 1 < MAPS ? 1 : 4);
		CHECK_U64(map->attr.flags, 0);
		CHECK_U64(loader_map_fd(loader, maps[i].name),
			  (uint64_t)map->fd);
	}
	/* Those of programs that are not chosen are not there. */
	CHECK(loader_map_fd(loader, "questions") == -ENOENT);
	CHECK(loader_key_size(loader, "questions") == 4);
	loader_close(loader);
	fake_bpf_reset();
}

/* Each instruction as in the file, but for the maps' descriptors. */
TEST(loader_relocates)
{
	struct object object = object_copy();
	struct loader *loader = open_object(&object);
	const Elf64_Shdr *code = section_named(&object, "perf_event");
	const Elf64_Shdr *rel = section_named(&object, ".relperf_event");
	struct bpf_insn *insns = (void *)(object.data + code->sh_offset);
	const Elf64_Rel *rels = (const void *)(object.data + rel->sh_offset);
	size_t rel_count = rel->sh_size / sizeof(*rels), used = 0;
	const Elf64_Sym *where = symbol_named(&object, "profile_hash");
	const struct fake_program *program = &fake_bpf.programs[0];

	CHECK(loader);
	CHECK(!loader_choose(loader, "profile_hash"));
	CHECK(!loader_load(loader));
	CHECK_U64(fake_bpf.program_count, 1);
	CHECK_U64(fake_bpf.loads, 1);
	CHECK_TEXT(program->name, "profile_hash");
	CHECK_TEXT(program->license, "Dual MIT/GPL");
	CHECK_U64(program->type, BPF_PROG_TYPE_PERF_EVENT);
	CHECK_U64(program->flags, 0);
	CHECK_U64(program->insn_count, where->st_size / 8);
	for (size_t i = 0; i < rel_count; i++) {
		const Elf64_Sym *symbol;
		const char *name = symbol_name(&object,
				ELF64_R_SYM(rels[i].r_info), &symbol);
		struct bpf_insn *insn = &insns[rels[i].r_offset / 8];

		if (rels[i].r_offset < where->st_value ||
		    rels[i].r_offset >= where->st_value + where->st_size)
			continue;
		used++;
		CHECK(fake_map(name));
		insn->src_reg = 1;	/* BPF_PSEUDO_MAP_FD */
		insn->imm = fake_map(name)->fd;
	}
	CHECK(used > 4);
	CHECK(!memcmp(insns + where->st_value / 8, program->insns,
		      where->st_size));
	CHECK_U64(loader_prog_fd(loader, "profile_hash"),
		  (uint64_t)program->fd);
	CHECK(loader_prog_fd(loader, "other") == -ENOENT);
	loader_close(loader);
	fake_bpf_reset();
	free(object.data);
}

/* Constants are a map that nobody can write any more, and an address in it. */
TEST(loader_constants)
{
	struct loader *loader = loader_open(unit_object(), "o");
	const struct fake_program *program = &fake_bpf.programs[0];
	struct fake_map *map;
	uint32_t zero = 0;
	size_t uses = 0;

	CHECK(loader);
	CHECK(!loader_choose(loader, "name_addresses"));
	CHECK(!loader_load(loader));
	CHECK_U64(fake_bpf.map_count, 2);
	map = fake_map(".rodata");
	CHECK(map && fake_map("questions"));
	CHECK_U64(map->attr.type, BPF_MAP_TYPE_ARRAY);
	CHECK_U64(map->attr.flags, 1 << 7);	/* BPF_F_RDONLY_PROG */
	CHECK(map->frozen && !fake_map("questions")->frozen);
	CHECK_TEXT((char *)fake_get(map, &zero), "%pS");
	CHECK_U64(program->type, BPF_PROG_TYPE_SYSCALL);
	CHECK_U64(program->flags, 1 << 4);	/* BPF_F_SLEEPABLE */
	for (uint32_t i = 0; i < program->insn_count; i++) {
		const struct bpf_insn *insn = &program->insns[i];

		if (insn->code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		/* BPF_PSEUDO_MAP_VALUE; the constant is the first one. */
		if (insn->src_reg == 2 && insn->imm == map->fd) {
			CHECK_U64(insn[1].imm, 0);
			uses++;
		}
		i++;
	}
	CHECK(uses);
	loader_close(loader);
	fake_bpf_reset();
}

/* A refusal that was only a try is not told. */
TEST(loader_silent)
{
	struct loader *loader = loader_open(unit_object(), "o");

	loader_silence(loader, true);
	CHECK(!loader_choose(loader, "name_addresses"));
	fake_bpf.load_errors = 100;
	fake_bpf.load_error = -EINVAL;
	fake_bpf.log = "the verifier's words\n";
	CHECK(loader_load(loader) == -EINVAL);
	fake_bpf_reset();
	fake_bpf.fail_map = 1;
	fake_bpf.map_error = -EPERM;
	CHECK(loader_load(loader) == -EPERM);
	CHECK_TEXT(unit_messages(), "");
	loader_close(loader);
	fake_bpf_reset();
}

/* The relocations of a program, which stand together in those of its section. */
static Elf64_Rel *relocations_of(struct object *object, const char *program)
{
	const Elf64_Shdr *section = section_named(object, ".relperf_event");
	const Elf64_Sym *where = symbol_named(object, program);
	Elf64_Rel *rel = (void *)(object->data + section->sh_offset);

	while (rel->r_offset < where->st_value ||
	       rel->r_offset >= where->st_value + where->st_size)
		rel++;
	return rel;
}

/* Symbols of maps may be the section's, and the offset in the instruction. */
TEST(loader_relocates_by_section)
{
	struct object object = object_copy();
	const Elf64_Shdr *code = section_named(&object, "perf_event");
	Elf64_Shdr *symtab = section_named(&object, ".symtab");
	struct bpf_insn *insns = (void *)(object.data + code->sh_offset);
	Elf64_Rel *rels = relocations_of(&object, "profile_hash");
	Elf64_Sym *symbols = (void *)(object.data + symtab->sh_offset);
	uint32_t section = 0, maps_number = (uint32_t)
		(section_named(&object, ".maps") - object.table);
	const Elf64_Sym *where = symbol_named(&object, "profile_hash");
	struct bpf_insn *insn = &insns[rels[2].r_offset / 8];
	struct loader *loader;
	const Elf64_Sym *symbol;
	char name[64];

	/* Some symbol that is no map's nor the program's is made into one. */
	for (uint32_t i = 1; i < symtab->sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_shndx != maps_number &&
		    ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC)
			section = i;
	CHECK(section);
	strcpy(name, symbol_name(&object, ELF64_R_SYM(rels[2].r_info),
				 &symbol));
	symbols[section].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
	symbols[section].st_shndx = (uint16_t)maps_number;
	insn->imm = (int32_t)symbol->st_value;
	rels[2].r_info = ELF64_R_INFO(section, 1);
	loader = open_object(&object);
	CHECK(loader);
	CHECK(!loader_choose(loader, "profile_hash"));
	CHECK(!loader_load(loader));
	insn = &fake_bpf.programs[0].insns[(rels[2].r_offset -
					    where->st_value) / 8];
	CHECK_U64(insn->imm, (uint64_t)fake_map(name)->fd);
	CHECK_U64(insn->src_reg, 1);
	CHECK_U64(insn[1].imm, 0);
	loader_close(loader);
	fake_bpf_reset();
	free(object.data);
}

TEST(loader_resizes)
{
	struct loader *loader = loader_open(unit_object(), "o");
	struct fake_map *map;

	CHECK(loader);
	CHECK(!loader_resize(loader, "stackid_stacks", 0, 8 * 200));
	CHECK(!loader_resize(loader, "stackid_counts", 77, 0));
	CHECK(!loader_choose(loader, "profile_stackid"));
	CHECK(!loader_load(loader));
	map = fake_map("stackid_stacks");
	CHECK_U64(map->attr.type, BPF_MAP_TYPE_STACK_TRACE);
	CHECK_U64(map->attr.key_size, 4);
	CHECK_U64(map->attr.value_size, 8 * 200);
	CHECK_U64(map->attr.max_entries, 16384);
	map = fake_map("stackid_counts");
	CHECK_U64(map->attr.key_size, 48);
	CHECK_U64(map->attr.value_size, 8);
	CHECK_U64(map->attr.max_entries, 77);
	loader_close(loader);
	fake_bpf_reset();
}

TEST(loader_chosen_only)
{
	size_t before = unit_descriptors();
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!loader_load(loader));
	CHECK_U64(fake_bpf.map_count, 0);
	CHECK_U64(fake_bpf.loads, 0);
	CHECK(loader_prog_fd(loader, "profile_hash") == -ENOENT);
	CHECK(loader_choose(loader, "none") == -ENOENT);
	CHECK(told("none"));
	CHECK(loader_resize(loader, "none", 1, 0) == -ENOENT);
	CHECK(told("none"));
	loader_close(loader);
	loader_close(NULL);
	CHECK_U64(unit_descriptors(), before);
}

/* ----------------------------------------------------------- what can fail */

/* Fails to load; what was created is closed, and the reason was told. */
static void check_load_fails(int error, const char *message)
{
	size_t before = unit_descriptors();
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!loader_choose(loader, "profile_hash"));
	unit_messages();
	CHECK(loader_load(loader) == error);
	CHECK(told(message));
	CHECK_U64(unit_descriptors(), before);
	CHECK(loader_map_fd(loader, "stacks0") == -ENOENT);
	CHECK(loader_prog_fd(loader, "profile_hash") == -ENOENT);
	loader_close(loader);
}

TEST(loader_map_fails)
{
	for (int i = 1; i <= 10; i++) {
		fake_bpf_reset();
		fake_bpf.fail_map = i;
		fake_bpf.map_error = -EPERM;
		check_load_fails(-EPERM, "BPF_MAP_CREATE");
		CHECK_U64(fake_bpf.loads, 0);
	}
	fake_bpf_reset();
}

TEST(loader_program_fails)
{
	fake_bpf.load_errors = 100;
	fake_bpf.load_error = -EINVAL;
	fake_bpf.log = "0: (b7) r0 = 0\nR0 !read_ok\nprocessed 1 insns\n";
	check_load_fails(-EINVAL, "R0 !read_ok");
	/* Without rights there is no log to be had, and none is asked for. */
	fake_bpf_reset();
	fake_bpf.load_errors = 100;
	fake_bpf.load_error = -EPERM;
	check_load_fails(-EPERM, "BPF_PROG_LOAD");
	CHECK_U64(fake_bpf.loads, 1);
	fake_bpf_reset();
}

/* A log that wants more room than the first try has. */
TEST(loader_long_log)
{
	size_t size = 200000;
	char *log = malloc(size + 1);

	CHECK(log);
	for (size_t i = 0; i < size; i++)
		log[i] = i % 50 ? 'x' : '\n';
	memcpy(log + size - 9, "\nthe end\n", 9);
	log[size] = '\0';
	fake_bpf.load_errors = 100;
	fake_bpf.load_error = -EINVAL;
	fake_bpf.log = log;
	check_load_fails(-EINVAL, "the end");
	fake_bpf_reset();
	free(log);
}

TEST(loader_tries_again)
{
	struct loader *loader = loader_open(unit_object(), "o");

	CHECK(loader);
	CHECK(!loader_choose(loader, "profile_hash"));
	fake_bpf.load_errors = 2;
	fake_bpf.load_error = -EAGAIN;
	CHECK(!loader_load(loader));
	CHECK_U64(fake_bpf.loads, 3);
	loader_close(loader);
	fake_bpf_reset();
	/* But not for ever. */
	fake_bpf.load_errors = 1000000;
	fake_bpf.load_error = -EAGAIN;
	check_load_fails(-EAGAIN, "BPF_PROG_LOAD");
	fake_bpf_reset();
}

/* ------------------------------------------------------- damaged objects */

static void load_all(const uint8_t *data, size_t size)
{
	struct bytes file = unit_fenced(data, size);
	struct loader *loader = loader_open(file, "o");

	if (loader) {
		loader_resize(loader, "stacks0", 16, 0);
		loader_choose(loader, "profile_hash");
		loader_choose(loader, "name_addresses");
		loader_load(loader);
		loader_close(loader);
	}
	fake_bpf_reset();
}

/* No cut object is whole: the section table is its end. */
TEST(loader_cut_at_every_byte)
{
	struct bytes object = unit_object();
	size_t before = unit_descriptors();

	for (size_t size = 0; size < object.size; size++) {
		struct loader *loader =
			loader_open(unit_fenced(object.data, size), "o");

		CHECK(!loader);
	}
	CHECK(told("prof: o: "));
	CHECK_U64(unit_descriptors(), before);
}

/* An error or a load, but no crash, for each byte that is another. */
TEST(loader_every_byte_changed)
{
	struct object object = object_copy();
	size_t before = unit_descriptors();
	static const uint8_t masks[] = { 0xff, 0x80, 0x01, 0x10 };

	for (size_t at = 0; at < object.size; at++)
		for (size_t i = 0; i < sizeof(masks); i++) {
			object.data[at] ^= masks[i];
			load_all(object.data, object.size);
			object.data[at] ^= masks[i];
		}
	CHECK_U64(unit_descriptors(), before);
	free(object.data);
}

/* Objects in which one thing is wrong, and what is said about it. */
static void check_refused(struct object *object, const char *message)
{
	struct loader *loader = open_object(object);

	if (loader && !loader_choose(loader, "profile_hash"))
		CHECK(loader_load(loader) == -ENOEXEC);
	if (!told(message))
		unit_fail(__FILE__, __LINE__, "not told: %s", message);
	loader_close(loader);
	fake_bpf_reset();
	free(object->data);
	*object = object_copy();
}

TEST(loader_refusals)
{
	struct object object = object_copy();
	Elf64_Rel *rel;
	Elf64_Shdr *section;
	Elf64_Sym *symbols;

	/* A relocation of a call (R_BPF_64_32). */
	rel = relocations_of(&object, "profile_hash");
	rel[1].r_info = ELF64_R_INFO(ELF64_R_SYM(rel[1].r_info), 10);
	check_refused(&object, "not inlined");

	/* One of something that is not LD_IMM64. */
	rel = relocations_of(&object, "profile_hash");
	rel[1].r_offset += 16;
	check_refused(&object, "profile_hash");

	/* Not at an instruction. */
	rel = relocations_of(&object, "profile_hash");
	rel[1].r_offset += 4;
	check_refused(&object, "points outside");

	/* At the last instruction: its second half would be outside. */
	rel = relocations_of(&object, "profile_hash");
	rel[1].r_offset = symbol_named(&object, "profile_hash")->st_value +
			  symbol_named(&object, "profile_hash")->st_size - 8;
	check_refused(&object, "points outside");

	/* To a symbol that is not there. */
	rel = relocations_of(&object, "profile_hash");
	rel[1].r_info = ELF64_R_INFO(0xffffff, 1);
	check_refused(&object, "points outside");

	/* A variable that is not in .maps. */
	section = section_named(&object, ".symtab");
	symbols = (void *)(object.data + section->sh_offset);
	rel = relocations_of(&object, "profile_hash");
	symbols[ELF64_R_SYM(rel[0].r_info)].st_shndx =
		(uint16_t)(section_named(&object, "license") - object.table);
	check_refused(&object, "map");

	/* Without a license, types, symbols, programs. */
	section_named(&object, "license")->sh_name = 0;
	check_refused(&object, "license");
	section_named(&object, ".BTF")->sh_name = 0;
	check_refused(&object, ".BTF");
	section_named(&object, ".symtab")->sh_type = SHT_PROGBITS;
	check_refused(&object, ".symtab");
	section_named(&object, "perf_event")->sh_flags &=
		~(uint64_t)EXECUTABLE;
	section_named(&object, "syscall")->sh_flags &= ~(uint64_t)EXECUTABLE;
	check_refused(&object, "programs");

	/* For another machine. */
	object.header->e_machine = EM_X86_64;
	check_refused(&object, "not compiled for BPF");
	free(object.data);
}
