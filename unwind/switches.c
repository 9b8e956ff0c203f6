/* SPDX-License-Identifier: MIT */
/*
 * switches: functions of Go that go on upon another stack.
 *
 * runtime.systemstack and its kin, and what calls the vDSO, load the stack pointer
 * anew, and Go's tables (.debug_frame) do not say so: a walk by them goes astray.
 * Frame pointers do lead back to the stack that was left, past the function that
 * called the switch; so these functions are to have no rules, and the others one
 * for the frame pointer.
 *
 * Source: src/runtime/asm_amd64.s and sys_linux_amd64.s of Go.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/notes.h"
#include "elf/symtab.h"
#include "lib/memory.h"
#include "unwind/switches.h"

/* With and without the name of the calling convention behind it. */
static bool is_switch(const char *name)
{
	static const char *const names[] = {
		"runtime.systemstack", "runtime.mcall", "runtime.asmcgocall",
		"runtime.morestack", "runtime.nanotime1", "time.now",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(name, names[i], length) &&
		    (!name[length] || !strcmp(name + length, ".abi0")))
			return true;
	}
	return false;
}

void switches_find(struct switches *switches, const struct elf_file *file)
{
	const struct elf_file_section *section =
		elf_file_section_of_type(file, SHT_SYMTAB);
	struct elf_symtab_entry entry;
	struct input_window *names;
	struct elf_symtab symtab;

	*switches = (struct switches){ .end = UINT64_MAX };
	if (!section || !elf_is_go(file) ||
	    elf_symtab_open(&symtab, file, section))
		return;
	names = memory_new(1, sizeof(*names));
	names->input = &symtab.texts;
	while (switches->count < SWITCHES_MOST &&
	       elf_symtab_next(&symtab, &entry)) {
		char name[32] = "";
		const uint8_t *begin;

		if (entry.type != STT_FUNC)
			continue;
		/* Most are sorted out without a system call each. */
		begin = input_look(names, entry.name, 5);
		if (!begin || (memcmp(begin, "runti", 5) &&
			       memcmp(begin, "time.", 5)))
			continue;
		input_some(&symtab.texts, entry.name, name, sizeof(name) - 1);
		if (is_switch(name))
			switches->at[switches->count++] = entry.value;
		else if (!strcmp(name, "runtime.text"))
			switches->start = entry.value;
		else if (!strcmp(name, "runtime.etext"))
			switches->end = entry.value;
	}
	free(names);
	elf_symtab_close(&symtab);
}

bool switches_has(const struct switches *switches, uint64_t address)
{
	for (size_t i = 0; i < switches->count; i++)
		if (switches->at[i] == address)
			return true;
	return false;
}

bool switches_covers(const struct switches *switches, uint64_t address)
{
	return switches->count && address >= switches->start &&
	       address < switches->end;
}
