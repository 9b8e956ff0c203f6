/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame and .debug_frame to rows.  The first byte: bit 0, only the latter, or
 * both with bit 3; 1, no section says where .eh_frame is, but its header's segment;
 * 2, the program begins in the midst of it.
 */
#include "test/fuzz/frame.h"
#include "test/fuzz/fuzz.h"
#include "unwind/cfi.h"

struct seen {
	struct unwind_row last;
	size_t rows, most;
	bool ended;
};

/* A cfi_add: what has to hold of each row. */
static bool look(void *context, const struct unwind_row *row)
{
	struct seen *seen = context;
	uint8_t cfa = row->rule & 0x0f, fp = row->rule & 0xf0;

	MUST(!seen->ended);
	MUST(!seen->rows || row->pc > seen->last.pc);
	MUST(row->pc != PC_NONE);
	MUST(cfa <= CFA_BAD && fp <= FP_LOST);
	MUST((cfa != CFA_END && cfa != CFA_BAD && cfa != CFA_NONE) ||
	     (!fp && !row->cfa && !row->fp));
	MUST(cfa != CFA_PLT || (row->cfa >= 0 && row->cfa < 16));
	seen->last = *row;
	seen->ended = ++seen->rows == seen->most;
	return !seen->ended;
}

static struct bytes make_file(struct frame *frame, uint8_t how,
			      struct bytes table)
{
	/* Version 1; the table's address in 4 bytes, from here; no more. */
	uint8_t header[] = { 1, 0x1b, 0xff, 0xff, 0xfc, 0xff, 0xff, 0xff };
	unsigned int number;
	Elf64_Ehdr *head;
	struct bytes file;

	frame_begin(frame);
	if (how & 1)
		frame_add(frame, ".debug_frame", SHT_PROGBITS, 0, table.data,
			  table.size);
	/* Alone, or the same bytes in both. */
	if (!(how & 1) || how & 8) {
		number = frame_add(frame, how & 2 ? ".other" : ".eh_frame",
				   SHT_PROGBITS, SHF_ALLOC, table.data,
				   table.size);
		/* It begins at a multiple of 16, the header behind it. */
		header[4] = (uint8_t)-(((table.size + 15) & ~15ull) + 4);
		header[5] = (uint8_t)(-(((table.size + 15) & ~15ull) + 4) >> 8);
		number = frame_add(frame, ".eh_frame_hdr", SHT_PROGBITS,
				   SHF_ALLOC, header, sizeof(header));
		frame_segment(frame, PT_GNU_EH_FRAME, number);
	}
	file = frame_end(frame);
	head = (Elf64_Ehdr *)frame->file.data;
	if (how & 4)
		head->e_entry = frame->sections[1].sh_addr + 16;
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen all = { .most = SIZE_MAX }, some = { 0 };
	struct elf_file file;
	struct frame frame;
	struct input input;
	const char *why;
	size_t rows;

	if (size < 1)
		return 0;
	input = input_memory(make_file(&frame, *data, (struct bytes){
		data + 1, size - 1,
	}));
	MUST(!elf_file_open(&file, &input, &why));
	rows = cfi_rows(&file, look, &all);
	MUST(rows == all.rows);
	/* A byte of instructions makes no more than a row. */
	MUST(rows <= 2 * size + 2);
	/* Who has enough is asked for no more. */
	some.most = rows / 2 + 1;
	MUST(cfi_rows(&file, look, &some) == (rows < some.most ? rows :
					      some.most));
	elf_file_close(&file);
	frame_free(&frame);
	return 0;
}
