/* SPDX-License-Identifier: MIT */
/*
 * plt: stubs of the procedure linkage table, which have no symbols.
 *
 * Linkers lay them out in many ways (ld, lld, mold; lazy or not; with marks for
 * IBT and BTI; .plt, .plt.sec, .plt.got, .iplt).  So no layout is assumed: the
 * stub's own code says which slot of the global offset table it jumps through,
 * and the slot's relocation has the name.
 *
 *	x86_64	[endbr64] [bnd] jmp *slot(%rip)		ff 25 distance
 *	i386	[endbr32] jmp *slot			ff 25 address
 *		[endbr32] jmp *distance(%ebx)		ff a3 distance
 *	both	[endbr] push number ...			68 number
 *	arm64	[bti c] adrp x16, page; ldr x17, [x16, #low] ...
 *
 * Stubs with `push` only (x86's .plt where there is a .plt.sec) know the number
 * of their relocation: on x86_64 its index, on i386 its place in bytes.
 *
 * Sources: System V ABI supplements for AMD64, i386 and AArch64; the layouts by
 * reading what the linkers made.
 */
#include <string.h>

#include "elf/dynamic.h"
#include "sym/plt.h"

enum {
	STUB_X86 = 16,
	STUB_X86_SHORT = 8,	/* .plt.got without marks */
	STUB_ARM64 = 16,	/* without a mark before it */
};

void plt_open(struct plt *plt, const struct elf_file *file)
{
	*plt = (struct plt){ .file = file };
	for (uint32_t i = 1; i < file->section_count; i++) {
		const struct elf_file_section *section = &file->sections[i];
		const char *name = elf_file_section_name(file, section);

		if (plt->section_count < PLT_SECTIONS &&
		    (section->flags & SHF_EXECINSTR) &&
		    (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt")))
			plt->sections[plt->section_count++] = section;
	}
}

static const struct elf_file_section *section_of(const struct plt *plt,
						 uint64_t address)
{
	for (size_t i = 0; i < plt->section_count; i++)
		if (address >= plt->sections[i]->address &&
		    address - plt->sections[i]->address <
		    plt->sections[i]->size)
			return plt->sections[i];
	return NULL;
}

static void read_relocs(struct plt *plt)
{
	const struct elf_file_section *section;
	struct elf_dynamic dynamic;

	if (plt->opened)
		return;
	plt->opened = true;
	elf_relocs_open(&plt->relocs, plt->file);
	elf_dynamic_open(&dynamic, plt->file);
	plt->got = dynamic.got;
	section = elf_file_section_named(plt->file, ".got.plt");
	if (!plt->got && section)
		plt->got = section->address;
}

static bool copy_code(const struct plt *plt, uint64_t address, uint8_t *code,
		      size_t size)
{
	struct input place;

	memset(code, 0, size);
	return elf_file_at(plt->file, address, &place) &&
	       input_some(&place, 0, code, size) >= STUB_X86_SHORT;
}

static bool settle(const struct elf_reloc *reloc, struct plt_stub *stub)
{
	if (!reloc)
		return false;
	stub->symbol = reloc->symbol;
	stub->resolver = reloc->resolver;
	return reloc->symbol || reloc->resolver;
}

/* The stub that begins at stub->start, of stub->size bytes. */
static bool find_x86(struct plt *plt, struct plt_stub *stub, bool anywhere)
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e };
	bool wide = plt->file->wide;
	const struct elf_reloc *reloc;
	uint8_t code[STUB_X86 + 4];
	uint64_t slot;
	int32_t value;
	size_t at = 0;

	if (!copy_code(plt, stub->start, code, sizeof(code)))
		return false;
	if (!memcmp(code, mark, 3) && (code[3] == 0xfa || code[3] == 0xfb))
		at = 4;
	at += code[at] == 0xf2;
	/* mold's tell the number first, by mov. */
	if (code[at] == 0x41 && code[at + 1] == 0xbb)
		at += 6;
	value = (int32_t)elf_u32(plt->file, code + at +
				 (code[at] == 0x68 ? 1 : 2));
	if (code[at] == 0x68 && !anywhere) {
		uint64_t number = wide ? (uint32_t)value : (uint32_t)value / 8;

		return number < plt->relocs.plt_count &&
		       settle(&plt->relocs.plt[number], stub);
	}
	if (code[at] != 0xff || (code[at + 1] != 0x25 &&
				 (wide || code[at + 1] != 0xa3)))
		return false;
	if (wide)
		slot = stub->start + at + 6 + (uint64_t)(int64_t)value;
	else if (code[at + 1] == 0x25)
		slot = (uint32_t)value;
	else
		slot = (uint32_t)(plt->got + (uint32_t)value);
	reloc = elf_relocs_find(&plt->relocs, slot);
	/* `jmp *` through a slot can be a function's own last instruction. */
	if (anywhere && reloc &&
	    (at || code[6] != 0x68))
		return false;
	return settle(reloc, stub);
}

/*
 * How large each stub of a section is.  sh_entsize is not always told, and not
 * always true; but short ones are one `jmp` after another.
 */
static uint64_t stub_size(const struct plt *plt,
			  const struct elf_file_section *section)
{
	uint8_t code[STUB_X86];

	if (section->size < STUB_X86)
		return STUB_X86_SHORT;
	if (copy_code(plt, section->address, code, sizeof(code)) &&
	    code[0] == 0xff && code[8] == 0xff &&
	    (code[9] == 0x25 || code[9] == 0xa3))
		return STUB_X86_SHORT;
	return STUB_X86;
}

static bool find_x86_in(struct plt *plt, uint64_t address,
			const struct elf_file_section *section,
			struct plt_stub *stub)
{
	uint64_t from = section ? section->address : 0;

	stub->size = section ? stub_size(plt, section) : STUB_X86;
	stub->start = from + (address - from) / stub->size * stub->size;
	return find_x86(plt, stub, !section);
}

static bool find_arm64(struct plt *plt, uint64_t address,
		       struct plt_stub *stub)
{
	uint64_t at = address & ~3ull;

	/* Its adrp is at the address, at most 3 before, or just behind. */
	for (uint64_t p = at + 4; p + STUB_ARM64 > at; p -= 4) {
		uint8_t code[8], before[8];
		uint32_t adrp, ldr;
		int64_t page;

		if (!copy_code(plt, p, code, sizeof(code)))
			continue;
		adrp = elf_u32(plt->file, code);
		ldr = elf_u32(plt->file, code + 4);
		if ((adrp & 0x9f00001f) != 0x90000010 ||
		    (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		stub->start = p;
		stub->size = STUB_ARM64;
		if (copy_code(plt, p - 4, before, sizeof(before)) &&
		    elf_u32(plt->file, before) == 0xd503245f) {
			stub->start -= 4;
			stub->size += 4;
		}
		if (address < stub->start)
			continue;
		page = (int64_t)((uint64_t)(adrp & 0xffffe0) << 40) >> 43;
		page |= adrp >> 29 & 3;
		return settle(elf_relocs_find(&plt->relocs,
					      (p & ~0xfffull) +
					      ((uint64_t)page << 12) +
					      (ldr >> 10 & 0xfff) * 8ull), stub);
	}
	return false;
}

bool plt_find(struct plt *plt, uint64_t address, bool anywhere,
	      struct plt_stub *stub)
{
	const struct elf_file_section *section;

	*stub = (struct plt_stub){ 0 };
	section = section_of(plt, address);
	if (!section && !anywhere)
		return false;
	read_relocs(plt);
	if (plt->file->machine == EM_X86_64 || plt->file->machine == EM_386)
		return find_x86_in(plt, address, section, stub);
	if (plt->file->machine == EM_AARCH64)
		return find_arm64(plt, address, stub);
	return false;
}

void plt_close(struct plt *plt)
{
	elf_relocs_close(&plt->relocs);
}
