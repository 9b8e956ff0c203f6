/* SPDX-License-Identifier: MIT */
/*
 * image: from an offset of a mapped file to a name.
 *
 *	offset ──PT_LOAD──> address in the file's own terms
 *	  1  .symtab
 *	  2  stubs of the PLT
 *	  3  the debug file's .symtab, or .gnu_debugdata and .dynsym;
 *	     and Go's .gopclntab
 *	  4  stubs, where no section says that there are any
 *	  5  .eh_frame: no name, but where the function begins and ends
 *
 * Each is read only when an address gets that far, and only from the mapped file
 * itself come segments: the debug file has other offsets, but the same
 * addresses.
 *
 * A symbol without a size reaches far, over whatever was stripped behind it.
 * .eh_frame knows better: where another function begins, it ends.  And where
 * nothing but .dynsym is left, it is believed no further than .eh_frame proves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/dynamic.h"
#include "elf/frames.h"
#include "elf/packed.h"
#include "elf/pclntab.h"
#include "lib/memory.h"
#include "lib/names.h"
#include "lib/unpack.h"
#include "sym/clones.h"
#include "sym/debug.h"
#include "sym/image.h"
#include "sym/plt.h"
#include "sym/symbols.h"

enum {
	NAME_MOST = 16 * 1024,		/* a longer one is none */
	MINI_MOST = 64 * 1024 * 1024,	/* .gnu_debugdata, unpacked */
	MINI_PACKED_MOST = 16 * 1024 * 1024,
};

/* The tables of texts that symbols name, by number. */
enum { TEXTS_SYMTAB, TEXTS_DEBUG, TEXTS_MINI, TEXTS_DYNSYM, TEXTS_GO, TEXTS };

struct image {
	struct input input;
	struct elf_file file, debug, mini;
	char *path;
	int root, debug_fd;
	uint8_t *mini_memory;
	bool opened, more, framed, is_go, whole, named;
	bool exact;	/* symbols of `second` without a size: see above */
	const char *why;
	struct table first, second;
	struct elf_symtab texts[TEXTS];
	struct elf_symtab imports;	/* what stubs lead to */
	struct elf_pclntab go;
	struct elf_frames frames;
	struct plt plt;
	struct names names;
	size_t names_size;
	uint64_t *offsets;	/* image_want()'s, until the file is opened */
	size_t offset_count;
	struct wanted *wanted;	/* the same as addresses; NULL: any */
};

static struct image *image_new(void)
{
	struct image *image = memory_new(1, sizeof(*image));

	image->debug_fd = image->root = -1;
	image->whole = true;
	return image;
}

struct image *image_open(const struct image_source *source)
{
	struct image *image = image_new();

	if (input_file(&image->input, source->fd)) {
		image->opened = true;
		image->why = "not a regular file";
	}
	if (source->path)
		image->path = memory_text(source->path, strlen(source->path));
	image->root = source->root;
	return image;
}

struct image *image_open_memory(struct bytes bytes)
{
	struct image *image = image_new();

	image->input = input_memory(bytes);
	return image;
}

/* ------------------------------------------------------------ the tables */

/* Adds a table of this type of section; how many functions it has. */
static size_t add_symbols(struct image *image, struct table *table,
			  const struct elf_file *file, uint32_t type, int texts)
{
	const struct elf_file_section *section = elf_file_section_of_type(file, type);
	struct elf_symtab *symtab = &image->texts[texts];
	size_t added;
	int error;

	error = section ? elf_symtab_open(symtab, file, section) : -1;
	if (error && type == SHT_DYNSYM)
		error = elf_symtab_open_dynamic(symtab, file);
	if (error)
		return 0;
	added = symbols_add(table, symtab, (uint8_t)texts, image->wanted,
			    &image->whole);
	elf_symtab_keep_texts(symtab);
	return added;
}

void image_forget_root(struct image *image)
{
	image->root = -1;
}

void image_want(struct image *image, const uint64_t *offsets, size_t count)
{
	if (image->opened || !count)
		return;
	free(image->offsets);
	image->offsets = memory_new(count, sizeof(*offsets));
	image->offset_count = count;
	memcpy(image->offsets, offsets, count * sizeof(*offsets));
}

bool image_is_whole(const struct image *image)
{
	return image->whole;
}

static void open_wanted(struct image *image)
{
	size_t count = 0;

	for (size_t i = 0; i < image->offset_count; i++)
		if (elf_file_address(&image->file, image->offsets[i],
				     &image->offsets[count]))
			count++;
	image->wanted = memory_new(1, sizeof(*image->wanted));
	wanted_open(image->wanted, image->offsets, count);
	free(image->offsets);
	image->offsets = NULL;
}

static void open_first(struct image *image)
{
	image->opened = true;
	if (elf_file_open(&image->file, &image->input, &image->why))
		return;
	if (image->offsets)
		open_wanted(image);
	image->why = image->file.segment_count ? NULL : "without segments";
	image->is_go = elf_is_go(&image->file);
	plt_open(&image->plt, &image->file);
	image->named = add_symbols(image, &image->first, &image->file,
				   SHT_SYMTAB, TEXTS_SYMTAB);
	table_finish(&image->first);
}

static size_t add_debug(struct image *image)
{
	struct input input;
	const char *why;

	if (image->input.fd < 0)
		return 0;
	image->debug_fd = debug_open(&image->file, image->path, image->root);
	if (image->debug_fd < 0 || input_file(&input, image->debug_fd) ||
	    elf_file_open(&image->debug, &input, &why))
		return 0;
	return add_symbols(image, &image->second, &image->debug, SHT_SYMTAB,
			   TEXTS_DEBUG);
}

/* .gnu_debugdata: a small ELF file of symbols alone, packed by xz. */
static size_t add_mini(struct image *image)
{
	const struct elf_file_section *section;
	struct input part, input;
	uint8_t *packed = NULL;
	const char *why;
	size_t size;
	int error;

	section = elf_file_section_named(&image->file, ".gnu_debugdata");
	if (section && elf_file_section_input(&image->file, section, &part))
		packed = input_all(&part, MINI_PACKED_MOST);
	if (!packed)
		return 0;
	error = unpack_xz((struct bytes){ packed, part.size }, MINI_MOST,
			  &image->mini_memory, &size);
	free(packed);
	if (error)
		return 0;
	input = input_memory((struct bytes){ image->mini_memory, size });
	if (elf_file_open(&image->mini, &input, &why))
		return 0;
	return add_symbols(image, &image->second, &image->mini, SHT_SYMTAB,
			   TEXTS_MINI);
}

static void add_go(struct image *image)
{
	struct table_symbol symbol = {
		.texts = TEXTS_GO,
		.rank = TABLE_FUNCTION + TABLE_SIZED + TABLE_LOCAL,
	};
	bool some;
	uint64_t end;

	if (!image->is_go || elf_pclntab_open(&image->go, &image->file))
		return;
	some = image->wanted && image->go.count > SYMBOLS_FEW;
	if (some)
		image->whole = false;
	for (uint64_t i = 0; elf_pclntab_at(&image->go, i, &symbol.start, &end,
					    &symbol.name); i++) {
		uint64_t size = end - symbol.start;

		if (end <= symbol.start || size >= UINT32_MAX ||
		    (some && !wanted_covers(image->wanted, symbol.start, end)))
			continue;
		symbol.size = (uint32_t)size;
		table_add(&image->second, &symbol);
	}
}

static void open_second(struct image *image)
{
	image->more = true;
	if (!add_debug(image)) {
		add_mini(image);
		add_symbols(image, &image->second, &image->file, SHT_DYNSYM,
			    TEXTS_DYNSYM);
		image->exact = !image->named;
	}
	add_go(image);
	table_finish(&image->second);
}

static void open_frames(struct image *image)
{
	if (image->framed)
		return;
	image->framed = true;
	elf_frames_open(&image->frames, &image->file, image->wanted);
	if (image->frames.part)
		image->whole = false;
}

/* -------------------------------------------------------------- the names */

static const char *keep(struct image *image, const char *name)
{
	size_t before = image->names.count;
	uint32_t number = names_add(&image->names, name);

	if (image->names.count != before)
		image->names_size += strlen(name) + 64;
	return image->names.text[number];
}

/*
 * Go's .symtab says which calling convention an assembly function has, its
 * .pclntab does not.  Other endings are the function's own: main.cold.
 */
static void cut_go(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot != name &&
	    (!strcmp(dot, ".abi0") || !strcmp(dot, ".abiinternal")))
		*dot = '\0';
}

static bool read_name(struct image *image, const struct table_symbol *symbol,
		      char name[NAME_MOST])
{
	bool read;

	if (symbol->texts == TEXTS_GO)
		return elf_pclntab_name(&image->go, symbol->name, name,
					NAME_MOST) && *name;
	read = input_text(&image->texts[symbol->texts].texts, symbol->name,
			  name, NAME_MOST);
	if (read && image->is_go && name[0] != '_')
		cut_go(name);
	else if (read)
		clones_cut(name);
	return read && *name;
}

/*
 * Of two names of one function: not what glibc calls its own functions inside,
 * fewer underscores, shorter, by the alphabet.
 */
static bool is_better(const char *a, const char *b)
{
	size_t ours = !strncmp(a, "__GI_", 5), theirs = !strncmp(b, "__GI_", 5);

	if (ours != theirs)
		return ours < theirs;
	ours = strspn(a, "_");
	theirs = strspn(b, "_");
	if (ours != theirs)
		return ours < theirs;
	ours = strlen(a);
	theirs = strlen(b);
	return ours != theirs ? ours < theirs : strcmp(a, b) < 0;
}

/* The best of the names that the place has; false if none can be read. */
static bool best_name(struct image *image, const struct table_symbol *symbol,
		      size_t alike, char best[NAME_MOST])
{
	char name[NAME_MOST];
	bool found = false;

	for (size_t i = 0; i < alike; i++) {
		if (!read_name(image, symbol - i, name) ||
		    (found && !is_better(name, best)))
			continue;
		strcpy(best, name);
		found = true;
	}
	return found;
}

/* Whether a symbol without a size is the address's, for all that is known. */
static bool reaches(struct image *image, const struct table_symbol *symbol,
		    uint64_t address, bool exact)
{
	uint64_t start, end;

	if (symbol->sized || symbol->start == address)
		return true;
	open_frames(image);
	if (!elf_frames_find(&image->frames, address, &start, &end))
		return !exact;
	if (address < end)
		return start <= symbol->start;
	/* Code that no record covers. */
	return !exact && end <= symbol->start;
}

static enum image_found find_in(struct image *image, const struct table *table,
				uint64_t address, bool exact,
				struct image_name *found)
{
	char name[NAME_MOST];
	size_t alike;
	const struct table_symbol *symbol = table_find(table, address, &alike);

	if (!symbol || !reaches(image, symbol, address, exact))
		return IMAGE_NOTHING;
	found->start = symbol->start;
	found->size = symbol->size;
	if (!best_name(image, symbol, alike, name))
		return IMAGE_FUNCTION;
	found->name = keep(image, name);
	return IMAGE_NAME;
}

/* ---------------------------------------------------------------- stubs */

/* A resolver that nobody wanted: its name is another matter. */
static const char *resolver_name(struct image *image, uint64_t address)
{
	struct image_name resolver = { 0 };
	struct table table = { 0 }, first = image->first;
	struct wanted *wanted = image->wanted;
	enum image_found found;

	if (wanted && !image->whole) {
		struct wanted one;

		open_frames(image);
		wanted_open(&one, &address, 1);
		image->wanted = &one;
		image->first = table;
		elf_symtab_close(&image->texts[TEXTS_SYMTAB]);
		add_symbols(image, &image->first, &image->file, SHT_SYMTAB,
			    TEXTS_SYMTAB);
		table_finish(&image->first);
		wanted_close(&one);
	}
	found = find_in(image, &image->first, address, false, &resolver);
	if (wanted && !image->whole)
		table_free(&image->first);
	image->first = first;
	image->wanted = wanted;
	return found == IMAGE_NAME ? resolver.name : NULL;
}

/* "" for one that cannot be read. */
static void import_name(struct image *image, uint32_t number,
			char name[NAME_MOST])
{
	struct elf_symtab_entry entry;
	const struct elf_file_section *section;

	if (!image->imports.file) {
		section = elf_file_section_of_type(&image->file, SHT_DYNSYM);
		if ((!section || elf_symtab_open(&image->imports, &image->file,
						 section)) &&
		    elf_symtab_open_dynamic(&image->imports, &image->file))
			image->imports.file = &image->file;
	}
	if (elf_symtab_at(&image->imports, number, &entry))
		input_text(&image->imports.texts, entry.name, name, NAME_MOST);
	clones_cut(name);
}

static enum image_found find_stub(struct image *image, uint64_t address,
				  bool anywhere, struct image_name *found)
{
	const char *resolver = NULL;
	char name[NAME_MOST + 8];
	struct plt_stub stub;

	*name = '\0';
	plt_find(&image->plt, address, anywhere, &stub);
	if (stub.symbol)
		import_name(image, stub.symbol, name);
	else if (stub.resolver)
		resolver = resolver_name(image, stub.resolver);
	if (resolver)
		snprintf(name, NAME_MOST, "%s", resolver);
	if (!stub.size || (!*name && anywhere))
		return IMAGE_NOTHING;
	found->start = stub.start;
	found->size = stub.size;
	/* The first one leads into the dynamic linker. */
	if (!*name)
		return IMAGE_FUNCTION;
	strcat(name, "@plt");
	found->name = keep(image, name);
	found->plt = true;
	return IMAGE_NAME;
}

/* ----------------------------------------------------------- the question */

static enum image_found find_frame(struct image *image, uint64_t address,
				   struct image_name *found)
{
	uint64_t start, end;

	open_frames(image);
	if (!elf_frames_find(&image->frames, address, &start, &end) ||
	    address >= end)
		return IMAGE_NOTHING;
	found->start = start;
	found->size = end - start;
	return IMAGE_FUNCTION;
}

static enum image_found find(struct image *image, uint64_t address,
			     struct image_name *found)
{
	enum image_found how;
	struct image_name part = { 0 };

	how = find_in(image, &image->first, address, false, found);
	if (how == IMAGE_NOTHING)
		how = find_stub(image, address, false, found);
	if (how != IMAGE_NOTHING)
		return how;
	if (!image->more)
		open_second(image);
	how = find_in(image, &image->second, address, image->exact, found);
	if (how == IMAGE_NOTHING && !image->file.section_count)
		how = find_stub(image, address, true, found);
	if (how != IMAGE_NOTHING)
		return how;
	how = find_frame(image, address, &part);
	*found = part;
	return how;
}

enum image_found image_find(struct image *image, uint64_t offset,
			    struct image_name *name)
{
	enum image_found how;
	uint64_t address;

	*name = (struct image_name){ 0 };
	if (!image->opened)
		open_first(image);
	if (image->why || !elf_file_address(&image->file, offset, &address))
		return IMAGE_NOTHING;
	how = find(image, address, name);
	/* The file's terms; what was asked for is in the same segment. */
	if (how != IMAGE_NOTHING)
		name->start = offset - (address - name->start);
	name->address = address;
	return how;
}

bool image_build_id(struct image *image, struct elf_build_id *id)
{
	*id = (struct elf_build_id){ 0 };
	if (!image->opened)
		open_first(image);
	return elf_build_id(&image->file, id);
}

size_t image_memory(const struct image *image)
{
	size_t symbols = image->first.capacity + image->second.capacity;

	return sizeof(*image) + image->names_size +
	       symbols * sizeof(struct table_symbol) +
	       image->frames.capacity * sizeof(*image->frames.frames) +
	       image->mini.input.size +
	       (image->plt.relocs.capacity + image->plt.relocs.plt_capacity) *
	       sizeof(*image->plt.relocs.relocs);
}

const char *image_why(const struct image *image)
{
	return image->why;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	for (int i = 0; i < TEXTS; i++)
		elf_symtab_close(&image->texts[i]);
	elf_symtab_close(&image->imports);
	table_free(&image->first);
	table_free(&image->second);
	elf_pclntab_close(&image->go);
	elf_frames_close(&image->frames);
	plt_close(&image->plt);
	elf_file_close(&image->file);
	elf_file_close(&image->debug);
	elf_file_close(&image->mini);
	free(image->mini_memory);
	if (image->debug_fd >= 0)
		close(image->debug_fd);
	names_free(&image->names);
	if (image->wanted)
		wanted_close(image->wanted);
	free(image->wanted);
	free(image->offsets);
	free(image->path);
	free(image);
}
