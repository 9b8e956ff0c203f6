/* SPDX-License-Identifier: MIT */
/*
 * Names that are elsewhere than in a symbol table of the file: in debug files, in
 * compressed sections, in Go's table; and files that change while they are read.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/checksum.h"
#include "sym/image.h"
#include "test/unit/elves.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

enum { TEXT = 0x401000, RUNS = SHF_ALLOC | SHF_EXECINSTR };

static void write_bytes(const char *path, struct bytes bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK(write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
	close(fd);
}

static struct elves with_text(void)
{
	struct elves elves = { 0 };
	uint32_t text = elves_add(&elves, ".text", SHT_PROGBITS, RUNS, TEXT);

	elves_put(&elves, text, "0123456789abcdef", 16);
	elves_segment(&elves, PT_LOAD, PF_R | PF_X, elves_offset(text), TEXT,
		      16);
	return elves;
}

/* One function at TEXT; the number of its .symtab. */
static uint32_t with_function(struct elves *elves, const char *name)
{
	uint32_t table = elves_add(elves, ".symtab", SHT_SYMTAB, 0, 0);
	uint32_t texts = elves_add(elves, ".strtab", SHT_STRTAB, 0, 0);

	elves->sections[table].header.sh_link = texts;
	elves_put(elves, texts, "", 1);
	elves_symbol(elves, table, 0, 0, 0, 0, 0, 0);
	elves_symbol(elves, table, elves_text(elves, texts, name), STB_GLOBAL,
		     STT_FUNC, 1, TEXT, 16);
	return table;
}

static void with_id(struct elves *elves, const char id[4])
{
	uint32_t note = elves_add(elves, ".note.gnu.build-id", SHT_NOTE,
				  SHF_ALLOC, 0x400000);

	elves_number(elves, note, 4, 4);
	elves_number(elves, note, 4, 4);
	elves_number(elves, note, NT_GNU_BUILD_ID, 4);
	elves_put(elves, note, "GNU", 4);
	elves_put(elves, note, id, 4);
}

static void with_link(struct elves *elves, const char *name, uint32_t crc)
{
	uint32_t link = elves_add(elves, ".gnu_debuglink", SHT_PROGBITS, 0, 0);

	elves_put(elves, link, name, strlen(name) + 1);
	elves_align(elves, link, 4);
	elves_number(elves, link, crc, 4);
}

/* The name at TEXT of a file that its task sees as /bin/prog below `.`. */
static void check_name(struct elves *elves, const char *want)
{
	struct image_source source = { .path = "/bin/prog" };
	struct image_name name;
	struct image *image;
	enum image_found how;

	write_bytes("prog", elves_bytes(elves));
	source.fd = open("prog", O_RDONLY | O_CLOEXEC);
	source.root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	redirect_real_files = true;
	image = image_open(&source);
	how = image_find(image, elves_offset(1) + 5, &name);
	redirect_real_files = false;
	CHECK(how == (want ? IMAGE_NAME : IMAGE_NOTHING));
	if (want)
		CHECK_TEXT(name.name, want);
	image_close(image);
	close(source.fd);
	close(source.root);
	elves_free(elves);
}

static void make_directories(void)
{
	static const char *const paths[] = {
		"bin", "bin/.debug", "usr", "usr/lib", "usr/lib/debug",
		"usr/lib/debug/bin", "usr/lib/debug/.build-id",
		"usr/lib/debug/.build-id/61",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		CHECK(!mkdir(paths[i], 0755));
}

#define BY_ID "usr/lib/debug/.build-id/61/626364.debug"

/* The debug file has other offsets and no code; and its id counts. */
static struct bytes debug_file(struct elves *elves, const char *name,
			       const char *id)
{
	*elves = with_text();
	elves->segments[0].p_offset = 0;
	elves->sections[1].header.sh_type = SHT_NOBITS;
	with_function(elves, name);
	if (id)
		with_id(elves, id);
	return elves_bytes(elves);
}

TEST(debug_by_build_id)
{
	struct elves elves, debug;

	make_directories();
	write_bytes(BY_ID, debug_file(&debug, "by_id", "abcd"));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, "by_id");
	/* Another's file under our name. */
	elves_free(&debug);
	write_bytes(BY_ID, debug_file(&debug, "by_id", "abce"));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, NULL);
	elves_free(&debug);
	write_bytes(BY_ID, debug_file(&debug, "by_id", NULL));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, NULL);
	/* A FIFO must not stop us, nor a link lead out of the task's root. */
	CHECK(!unlink(BY_ID) && !mkfifo(BY_ID, 0666));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, NULL);
	elves_free(&debug);
	write_bytes("bin/there", debug_file(&debug, "linked", "abcd"));
	CHECK(!unlink(BY_ID) && !symlink("/bin/there", BY_ID));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, "linked");
	CHECK(!unlink(BY_ID) && !symlink("/proc/self/exe", BY_ID));
	elves = with_text();
	with_id(&elves, "abcd");
	check_name(&elves, NULL);
	elves_free(&debug);
}

TEST(debug_by_link)
{
	static const char *const places[] = {
		"bin/prog.debug", "bin/.debug/prog.debug",
		"usr/lib/debug/bin/prog.debug",
	};

	make_directories();
	for (int i = 0; i < 3; i++) {
		struct elves elves, debug;
		struct bytes file = debug_file(&debug, "by_link", NULL);
		uint32_t crc = checksum_crc32(0, file);

		write_bytes(places[i], file);
		elves = with_text();
		with_link(&elves, "prog.debug", crc);
		check_name(&elves, "by_link");
		elves = with_text();
		with_link(&elves, "prog.debug", crc + 1);
		check_name(&elves, NULL);
		/* A path is none, nor is what nobody ended. */
		elves = with_text();
		with_link(&elves, "./prog.debug", crc);
		check_name(&elves, NULL);
		elves = with_text();
		with_link(&elves, "", crc);
		check_name(&elves, NULL);
		/* The right sum, but another build than the file's own. */
		elves_free(&debug);
		file = debug_file(&debug, "by_link", "wxyz");
		write_bytes(places[i], file);
		elves = with_text();
		with_id(&elves, "abcd");
		with_link(&elves, "prog.debug", checksum_crc32(0, file));
		check_name(&elves, NULL);
		CHECK(!unlink(places[i]));
		elves_free(&debug);
	}
}

/* Device, directory: neither is opened, however the link names it. */
TEST(debug_of_no_regular_file)
{
	struct elves elves;

	make_directories();
	CHECK(!mkdir("bin/prog.debug", 0755));
	elves = with_text();
	with_link(&elves, "prog.debug", 0);
	check_name(&elves, NULL);
	CHECK(!rmdir("bin/prog.debug") &&
	      !symlink("/dev/zero", "bin/prog.debug"));
	elves = with_text();
	with_link(&elves, "prog.debug", 0);
	check_name(&elves, NULL);
}

/* ------------------------------------------------------------ compressed */

/* Packs a section by a stored block, with the header that says so. */
static void compress(struct elves *elves, uint32_t number, uint32_t type,
		     uint64_t claimed)
{
	struct text plain = elves->sections[number].bytes;
	uint32_t sum;

	elves->sections[number].bytes = (struct text){ 0 };
	elves->sections[number].header.sh_flags |= SHF_COMPRESSED;
	elves_number(elves, number, type, 4);
	elves_number(elves, number, 0, 4);
	elves_number(elves, number, claimed ? claimed : plain.length, 8);
	elves_number(elves, number, 1, 8);
	elves_put(elves, number, "\x78\x01\x01", 3);
	elves_number(elves, number, plain.length, 2);
	elves_number(elves, number, ~plain.length & 0xffff, 2);
	elves_put(elves, number, plain.data, plain.length);
	sum = checksum_adler32(1, (struct bytes){ (uint8_t *)plain.data,
						  plain.length });
	for (int i = 24; i >= 0; i -= 8)
		elves_number(elves, number, sum >> i & 0xff, 1);
	text_free(&plain);
}

TEST(debug_compressed_tables)
{
	static const struct {
		uint32_t type;
		uint64_t claimed;
		bool named;
	} kinds[] = {
		{ ELFCOMPRESS_ZLIB, 0, true },
		{ 2, 0, false },	/* zstd */
		{ 77, 0, false },
		{ ELFCOMPRESS_ZLIB, UINT64_MAX, false },
		{ ELFCOMPRESS_ZLIB, 1ull << 40, false },
		{ ELFCOMPRESS_ZLIB, 1, false },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (uint32_t which = 0; which < 2; which++) {
			struct elves elves = with_text();
			uint32_t table = with_function(&elves, "packed");

			compress(&elves, table + which, kinds[i].type,
				 kinds[i].claimed);
			check_name(&elves, kinds[i].named ? "packed" : NULL);
		}
}

/* -------------------------------------------------------------------- Go */

/*
 * Two functions at TEXT and TEXT + 6, the end at TEXT + 12, as Go 1.`version`
 * writes it.
 */
static uint32_t add_go(struct elves *elves, const char *name, int version,
		       uint64_t text)
{
	static const uint32_t magics[] = {
		[2] = 0xfffffffb, [16] = 0xfffffffa, [18] = 0xfffffff0,
		[20] = 0xfffffff1,
	};
	size_t word = elves->narrow ? 4 : 8, pair = version >= 18 ? 4 : word;
	size_t fields = version == 2 ? 1 : version == 16 ? 7 : 8;
	uint64_t header = 8 + fields * word, names, table = header, base;
	uint64_t functions[2], name_at[2];
	uint32_t go = elves_add(elves, name, SHT_PROGBITS, SHF_ALLOC, 0x500000);

	names = table + 5 * pair + 2 * (pair + 4);
	base = version == 2 ? 0 : table;
	for (uint64_t i = 0; i < 2; i++) {
		functions[i] = table + 5 * pair + i * (pair + 4) - base;
		name_at[i] = i * 10 + (version == 2 ? names : 0);
	}
	elves_number(elves, go, magics[version], 4);
	elves_put(elves, go, "\0\0\1", 3);
	elves_number(elves, go, word, 1);
	elves_word(elves, go, 2);
	if (version >= 16)
		elves_word(elves, go, 0);
	if (version >= 18)
		elves_word(elves, go, text);
	if (version >= 16) {
		elves_word(elves, go, names);
		for (int i = 0; i < 3; i++)
			elves_word(elves, go, 0);
		elves_word(elves, go, table);
	}
	for (uint64_t i = 0; i < 3; i++) {
		elves_number(elves, go, (version >= 18 ? 0 : TEXT) + i * 6,
			     pair);
		if (i < 2)
			elves_number(elves, go, functions[i], pair);
	}
	for (uint64_t i = 0; i < 2; i++) {
		elves_number(elves, go, (version >= 18 ? 0 : TEXT) + i * 6,
			     pair);
		elves_number(elves, go, name_at[i], 4);
	}
	elves_put(elves, go, "main.cold\0main.b(1)", 20);
	return go;
}

static void check_go(struct elves *elves, bool named)
{
	struct image *image = image_open_memory(elves_bytes(elves));
	struct image_name name;

	for (uint64_t i = 0; i < 16; i++) {
		enum image_found how;

		how = image_find(image, elves_offset(1) + i, &name);
		CHECK(how == (named && i < 12 ? IMAGE_NAME : IMAGE_NOTHING));
		if (how == IMAGE_NAME)
			CHECK_TEXT(name.name, i < 6 ? "main.cold" :
						      "main.b(1)");
	}
	image_close(image);
	elves_free(elves);
}

TEST(debug_go_of_each_version)
{
	static const int versions[] = { 2, 16, 18, 20 };

	for (int i = 0; i < 4; i++)
		for (int kind = 0; kind < 4; kind++) {
			struct elves elves = with_text();

			elves.narrow = kind & 1;
			elves.swapped = kind & 2;
			add_go(&elves, ".gopclntab", versions[i], TEXT);
			check_go(&elves, true);
		}
}

/* In the midst of another section, which only Go's note tells to look into. */
TEST(debug_go_without_its_section)
{
	for (int note = 0; note < 2; note++) {
		struct elves elves = with_text();
		uint32_t go = add_go(&elves, ".data.rel.ro", 20, TEXT), id;
		struct text plain = elves.sections[go].bytes;

		elves.sections[go].bytes = (struct text){ 0 };
		/* What only looks like one comes first. */
		elves_number(&elves, go, 0xfffffff1, 4);
		elves_put(&elves, go, "\0\0\1\x8", 4);
		elves_number(&elves, go, UINT64_MAX, 8);
		elves_align(&elves, go, 64);
		elves_put(&elves, go, plain.data, plain.length);
		text_free(&plain);
		if (note) {
			id = elves_add(&elves, ".note.go.buildid", SHT_NOTE,
				       SHF_ALLOC, 0);
			elves_number(&elves, id, 4, 4);
			elves_number(&elves, id, 4, 4);
			elves_number(&elves, id, 4, 4);
			elves_put(&elves, id, "Go\0\0abcd", 8);
		}
		check_go(&elves, note);
	}
}

/* In a PIE the file has 0 for runtime.text, and a relocation says it. */
TEST(debug_go_of_a_pie)
{
	for (int kind = 0; kind < 3; kind++) {
		struct elves elves = with_text();
		uint32_t relocs;

		add_go(&elves, ".gopclntab", 18, 0);
		relocs = elves_add(&elves, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0);
		elves_word(&elves, relocs, 0x500000 + 24 + (kind == 1 ? 8 : 0));
		elves_word(&elves, relocs, kind == 2 ? R_X86_64_64 :
						       R_X86_64_RELATIVE);
		elves_word(&elves, relocs, TEXT);
		check_go(&elves, !kind);
	}
}

/* ----------------------------------------------------- files that change */

TEST(debug_file_that_shrinks)
{
	struct elves elves = with_text();
	struct image_source source = { .root = -1 };
	struct image_name name;
	struct image *image;
	struct bytes bytes;

	with_function(&elves, "here");
	bytes = elves_bytes(&elves);
	for (size_t left = 0; left < bytes.size; left += 64) {
		enum image_found how;

		/* Before anything was read, and when only names were not. */
		for (int known = 0; known < 2; known++) {
			write_bytes("file", bytes);
			source.fd = open("file", O_RDONLY | O_CLOEXEC);
			image = image_open(&source);
			if (known)
				image_find(image, 0x2000, &name);
			CHECK(!truncate("file", (off_t)left));
			how = image_find(image, elves_offset(1) + 5, &name);
			if (how == IMAGE_NAME)
				CHECK_TEXT(name.name, "here");
			else
				CHECK(how == IMAGE_FUNCTION ||
				      how == IMAGE_NOTHING);
			image_close(image);
			close(source.fd);
		}
	}
	elves_free(&elves);
}

/* Another process cuts and rewrites the file all the time. */
TEST(debug_file_that_changes)
{
	struct elves elves = with_text();
	struct image_source source = { .root = -1 };
	struct bytes bytes;
	pid_t child;

	with_function(&elves, "here");
	bytes = elves_bytes(&elves);
	write_bytes("file", bytes);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		for (unsigned int i = 1;; i++) {
			int fd = open("file", O_WRONLY | O_CLOEXEC);

			if (ftruncate(fd, i % 23 * 300))
				_exit(1);
			if (pwrite(fd, bytes.data, bytes.size, 0) < 0)
				_exit(1);
			close(fd);
		}
	}
	for (int i = 0; i < 3000; i++) {
		struct image_name name;
		struct image *image;

		source.fd = open("file", O_RDONLY | O_CLOEXEC);
		image = image_open(&source);
		if (image_find(image, elves_offset(1) + 5, &name) ==
		    IMAGE_NAME)
			CHECK_TEXT(name.name, "here");
		image_find(image, elves_offset(1) + 6, &name);
		image_close(image);
		close(source.fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	elves_free(&elves);
}

/* The kernel's own image in this very process. */
TEST(debug_of_the_vdso)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0, end = 0;
	size_t clocks = 0;
	struct image *image;
	char line[512];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			CHECK(sscanf(line, "%lx-%lx", &start, &end) == 2);
	fclose(maps);
	if (!start)
		return;		/* a kernel without one */
	image = image_open_memory((struct bytes){ (void *)start, end - start });
	for (uint64_t at = 0; at < end - start; at++) {
		struct image_name name;

		if (image_find(image, at, &name) == IMAGE_NAME)
			clocks += strstr(name.name, "clock_gettime") != NULL;
	}
	CHECK(clocks >= 4);
	image_close(image);
}

TEST(debug_of_what_is_no_file)
{
	struct image_source source = { .root = -1, .path = "/" };
	struct image_name name;
	struct image *image;
	int pipes[2];

	CHECK(!pipe(pipes));
	source.fd = pipes[0];
	image = image_open(&source);
	CHECK(image_find(image, 0, &name) == IMAGE_NOTHING);
	CHECK_TEXT(image_why(image), "not a regular file");
	image_close(image);
	source.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	image = image_open(&source);
	CHECK(image_find(image, 0, &name) == IMAGE_NOTHING);
	CHECK(image_why(image));
	image_close(image);
	image = image_open_memory((struct bytes){ NULL, 0 });
	CHECK(image_find(image, 0, &name) == IMAGE_NOTHING);
	CHECK_TEXT(image_why(image), "not an ELF file");
	image_close(image);
	image_close(NULL);
}

/* ------------------------------------------- tables made to take our time */

/* Sections as many as there can be, with names that do not end. */
TEST(debug_of_many_sections)
{
	enum { MANY = 16000, NAMES = 1 << 20 };
	static Elf64_Shdr table[MANY];
	struct elves elves = with_text();
	struct bytes bytes = elves_bytes(&elves);
	struct text file = { 0 };
	Elf64_Ehdr header;
	struct image *image;
	char *names = malloc(NAMES);
	clock_t begin = clock();

	CHECK(names);
	memset(names, 'a', NAMES);
	memcpy(&header, bytes.data, sizeof(header));
	for (uint32_t i = 0; i < MANY; i++)
		table[i] = (Elf64_Shdr){
			.sh_type = SHT_NOTE, .sh_flags = RUNS,
			.sh_offset = bytes.size, .sh_size = NAMES,
		};
	table[MANY - 1].sh_type = SHT_STRTAB;
	header.e_shoff = bytes.size + NAMES;
	header.e_shnum = MANY;
	header.e_shstrndx = MANY - 1;
	text_add(&file, (const char *)bytes.data, bytes.size);
	memcpy(file.data, &header, sizeof(header));
	text_add(&file, names, NAMES);
	text_add(&file, (const char *)table, sizeof(table));
	image = image_open_memory((struct bytes){ (uint8_t *)file.data,
						  file.length });
	for (uint64_t i = 0; i < 16; i++) {
		struct image_name name;

		CHECK(image_find(image, elves_offset(1) + i, &name) ==
		      IMAGE_NOTHING);
	}
	CHECK(clock() - begin < 2 * CLOCKS_PER_SEC);
	image_close(image);
	text_free(&file);
	free(names);
	elves_free(&elves);
}

/* What begins like Go's table, again and again, and says no runtime.text. */
TEST(debug_of_many_go_tables)
{
	struct elves elves = with_text();
	uint32_t go = elves_add(&elves, ".data.rel.ro", SHT_PROGBITS,
				SHF_ALLOC, 0x500000), note;
	clock_t begin = clock();

	for (int i = 0; i < 48; i++) {
		elves_number(&elves, go, 0xfffffff1, 4);
		elves_put(&elves, go, "\0\0\1\x8", 4);
		elves_number(&elves, go, 3, 8);
		elves_number(&elves, go, 0, 8);
		elves_number(&elves, go, 0, 8);
		for (int field = 0; field < 5; field++)
			elves_number(&elves, go, 8, 8);
		elves_align(&elves, go, 16);
	}
	note = elves_add(&elves, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0);
	elves_number(&elves, note, 0, 4);
	check_go(&elves, false);
	CHECK(clock() - begin < CLOCKS_PER_SEC);
}
