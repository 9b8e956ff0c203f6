/* SPDX-License-Identifier: MIT */
/* .eh_frame and .debug_frame to rows. */
#include <string.h>

#include "test/unit/elves.h"
#include "test/unit/unit.h"
#include "unwind/cfi.h"

enum { BASE = 0x400000, CODE = BASE + 0x2000 };

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, \
	sizeof((const uint8_t[]){ __VA_ARGS__ })

/* CFA: rsp + 8, and the return address right below. */
#define USUAL 0x0c, 7, 8, 0x90, 1

struct made {
	struct elves elves;
	uint32_t table;
	bool debug;
	size_t cie;		/* where the last one is in the table */
};

static struct made make(const char *name)
{
	struct made made = { .debug = !strcmp(name, ".debug_frame") };

	made.table = elves_add(&made.elves, name, SHT_PROGBITS,
			       made.debug ? 0 : SHF_ALLOC,
			       made.debug ? 0 : BASE + ELVES_AT +
						ELVES_SECTION);
	elves_segment(&made.elves, PT_LOAD, PF_R | PF_X, 0, BASE, 0x4000);
	return made;
}

static size_t length(const struct made *made)
{
	return made->elves.sections[made->table].bytes.length;
}

static void put(struct made *made, uint64_t value, size_t size)
{
	elves_number(&made->elves, made->table, value, size);
}

/* Factors 1 and -8, return address in 16, addresses of 8 bytes. */
static void cie(struct made *made, const uint8_t *code, size_t size)
{
	made->cie = length(made);
	put(made, (made->debug ? 9 : 13) + size, 4);
	put(made, made->debug ? UINT32_MAX : 0, 4);
	put(made, 1, 1);
	elves_put(&made->elves, made->table, "zR", made->debug ? 0 : 2);
	put(made, 0, 1);
	put(made, 1, 1);
	put(made, 0x78, 1);
	put(made, 16, 1);
	if (!made->debug)
		put(made, 0x0001, 2);	/* one byte more: absolute */
	/* Its length is exact, whatever stands in front of the code. */
	elves_put(&made->elves, made->table, code, size);
}

static void fde(struct made *made, uint64_t start, uint64_t size,
		const uint8_t *code, size_t code_size)
{
	put(made, 4 + 16 + (made->debug ? 0 : 1) + code_size, 4);
	put(made, made->debug ? made->cie : length(made) - made->cie, 4);
	put(made, CODE + start, 8);
	put(made, size, 8);
	if (!made->debug)
		put(made, 0, 1);
	elves_put(&made->elves, made->table, code, code_size);
}

static struct made usual(void)
{
	struct made made = make(".eh_frame");

	cie(&made, BYTES(USUAL));
	return made;
}

/* ------------------------------------------------------------------- rows */

static struct text rows;

/* A cfi_add: "10 sp16 c-16": hexadecimal, from CODE; bytes. */
static bool add(void *context, const struct unwind_row *row)
{
	static const char *const cfa[] = {
		"none", "sp", "fp", "plt", "signal", "deref", "root", "bad",
	};
	static const char *const fp[] = { "", " c", " f", " lost" };
	uint8_t kind = row->rule & 15, saved = row->rule >> 4;
	size_t *left = context;

	text_format(&rows, "%s%x %s", rows.length ? ", " : "",
		    row->pc - (unsigned int)(CODE - BASE), cfa[kind]);
	if (kind >= CFA_SP && kind <= CFA_DEREF)
		text_format(&rows, "%d",
			    row->cfa * (kind == CFA_PLT ? 1 : 8));
	text_format(&rows, "%s", fp[saved]);
	if (saved == 1 || saved == 2)
		text_format(&rows, "%d", row->fp * 8);
	return !left || --*left;
}

static const char *rows_some(struct made *made, size_t *most)
{
	struct input input = input_memory(elves_bytes(&made->elves));
	struct elf_file file;
	const char *why;

	text_free(&rows);
	rows = (struct text){ 0 };
	text_add(&rows, "", 0);
	CHECK(!elf_file_open(&file, &input, &why));
	cfi_rows(&file, add, most);
	elf_file_close(&file);
	return rows.data ? rows.data : "";
}

static const char *rows_of(struct made *made)
{
	return rows_some(made, NULL);
}

static void done(struct made *made)
{
	elves_free(&made->elves);
	text_free(&rows);
	rows = (struct text){ 0 };
}

/* Rows of one function of 256 bytes. */
static void one(const uint8_t *code, size_t size, const char *want)
{
	struct made made = usual();

	fde(&made, 0, 256, code, size);
	CHECK_TEXT(rows_of(&made), want);
	done(&made);
}

TEST(cfi_functions_that_push)
{
	one(NULL, 0, "0 sp8, 100 none");
	/* push rbp; mov rbp, rsp; ...; leave; ret */
	one(BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x80,
		  0x0c, 7, 8, 0xc6),
	    "0 sp8, 1 sp16 c-16, 4 fp16 c-16, 84 sp8, 100 none");
	/* Two returns: what holds is remembered. */
	one(BYTES(0x42, 0x0e, 16, 0x86, 2, 0x44, 0x0a, 0x0e, 8, 0xc6, 0x41,
		  0x0b, 0x48, 0x0e, 8),
	    "0 sp8, 2 sp16 c-16, 6 sp8, 7 sp16 c-16, f sp8 c-16, 100 none");
	/* Equal states are one row; other registers are none at all. */
	one(BYTES(0x42, 0x83, 3, 0x44, 0x8c, 4, 0x44, 0x0e, 24),
	    "0 sp8, a sp24, 100 none");
}

TEST(cfi_ways_to_write_numbers)
{
	one(BYTES(0x02, 0x10, 0x0e, 16, 0x03, 0x10, 0, 0x0e, 24,
		  0x04, 0x10, 0, 0, 0, 0x0e, 32),
	    "0 sp8, 10 sp16, 20 sp24, 30 sp32, 100 none");
	/* Addresses; signed numbers, times the factor. */
	one(BYTES(0x01, 0x40, 0x20, 0x40, 0, 0, 0, 0, 0, 0x12, 7, 0x7e,
		  0x41, 0x13, 0x7d, 0x41, 0x11, 6, 0x7f),
	    "0 sp8, 40 sp16, 41 sp24, 42 sp24 c8, 100 none");
	one(BYTES(0x41, 0x05, 6, 4, 0x41, 0x06, 6, 0x41, 0x2e, 16, 0x00),
	    "0 sp8, 1 sp8 c-32, 2 sp8, 100 none");
}

TEST(cfi_expressions)
{
	/* main() that aligned its stack: *(rbp - 8), rbp at rbp + 0 */
	one(BYTES(0x48, 0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 2, 0x76, 0),
	    "0 sp8, 8 deref-8 f0, 100 none");
	/* A signal: *(rsp + 160) */
	one(BYTES(0x0f, 4, 0x77, 0xa0, 1, 6), "0 signal160, 100 none");
	/* A PLT: rsp + 8 + ((rip & 15) >= 11) * 8 */
	one(BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
		  0x24, 0x22), "0 plt11, 100 none");
	/* Others, and what is cut off. */
	one(BYTES(0x0f, 3, 0x76, 0x78, 0x22), "0 bad, 100 none");
	one(BYTES(0x0f, 2, 0x76, 0x78), "0 bad, 100 none");
	one(BYTES(0x0f, 0), "0 bad, 100 none");
	one(BYTES(0x0f, 0x7f, 0x76), "0 bad, 100 none");
	one(BYTES(0x0f, 3, 0x73, 0x78, 6), "0 bad, 100 none");
	/* An offset is a register's; an expression has none. */
	one(BYTES(0x0f, 4, 0x77, 0xa0, 1, 6, 0x0e, 16), "0 signal160, 100 none");
}

TEST(cfi_saved_elsewhere)
{
	one(BYTES(0x10, 6, 3, 0x76, 0x70, 0x06), "0 sp8 lost, 100 none");
	one(BYTES(0x10, 6, 2, 0x77, 8), "0 sp8 lost, 100 none");
	one(BYTES(0x10, 3, 2, 0x76, 8), "0 sp8, 100 none");
	one(BYTES(0x16, 6, 2, 0x76, 8), "0 sp8 lost, 100 none");
	one(BYTES(0x09, 6, 3), "0 sp8 lost, 100 none");
	one(BYTES(0x14, 6, 3), "0 sp8 lost, 100 none");
	one(BYTES(0x15, 6, 3), "0 sp8 lost, 100 none");
	one(BYTES(0x07, 6, 0x44, 0x08, 6), "0 sp8 lost, 4 sp8, 100 none");
}

TEST(cfi_roots)
{
	one(BYTES(0x07, 16), "0 root, 100 none");
	one(BYTES(0x44, 0x86, 2, 0x07, 16), "0 sp8, 4 root, 100 none");
}

TEST(cfi_what_no_row_can_say)
{
	/* Other registers, parts of words, large offsets. */
	one(BYTES(0x0d, 3), "0 bad, 100 none");
	one(BYTES(0x0e, 12), "0 bad, 100 none");
	one(BYTES(0x0e, 0xf8, 0xff, 0x0f), "0 sp262136, 100 none");
	one(BYTES(0x0e, 0x80, 0x80, 0x10), "0 bad, 100 none");
	one(BYTES(0x86, 0x80, 1), "0 sp8 c-1024, 100 none");
	one(BYTES(0x86, 0x81, 1), "0 sp8 lost, 100 none");
}

/* What is broken costs the rest of that function. */
TEST(cfi_broken_functions)
{
	struct made made = usual();

	fde(&made, 0, 16, BYTES(0x42, 0x0e, 16, 0x42, 0x3f));
	fde(&made, 16, 16, BYTES(0x42, 0x0b));
	fde(&made, 32, 16, BYTES(0x41, 0x0e));
	fde(&made, 48, 16, BYTES(0x44, 0x01, 0, 0, 0, 0, 0, 0, 0, 0));
	fde(&made, 64, 16, BYTES(0x42, 0x0e, 16));
	CHECK_TEXT(rows_of(&made), "0 sp8, 2 sp16, 4 bad, 10 sp8, 12 bad, "
		   "20 sp8, 21 bad, 30 sp8, 34 bad, 40 sp8, 42 sp16, 50 none");
	done(&made);
}

TEST(cfi_functions_in_any_order)
{
	struct made made = usual();

	fde(&made, 64, 16, BYTES(0x41, 0x0e, 64));
	fde(&made, 0, 16, BYTES(0x41, 0x0e, 16));
	fde(&made, 32, 16, BYTES(0x41, 0x0e, 32));
	/* Side by side: nothing in between. */
	fde(&made, 16, 16, BYTES(0x41, 0x0e, 24));
	CHECK_TEXT(rows_of(&made), "0 sp8, 1 sp16, 10 sp8, 11 sp24, 20 sp8, "
		   "21 sp32, 30 none, 40 sp8, 41 sp64, 50 none");
	done(&made);
}

TEST(cfi_functions_that_overlap)
{
	struct made made = usual();

	/* The next one's begin ends the first, also what it would say. */
	fde(&made, 0, 64, BYTES(0x44, 0x0e, 16, 0x54, 0x0e, 24, 0x54, 0x0e, 32));
	fde(&made, 32, 8, NULL, 0);
	/* Of two that begin together the first counts. */
	fde(&made, 128, 64, BYTES(0x0e, 40));
	fde(&made, 128, 16, BYTES(0x0e, 48));
	CHECK_TEXT(rows_of(&made), "0 sp8, 4 sp16, 18 sp24, 20 sp8, 28 none, "
		   "80 sp40, c0 none");
	done(&made);
}

/* Linkers put tables together that each had an end. */
TEST(cfi_ends_in_the_midst)
{
	struct made made = usual();

	fde(&made, 0, 16, NULL, 0);
	put(&made, 0, 4);
	fde(&made, 16, 16, BYTES(0x0e, 16));
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 sp16, 20 none");
	done(&made);
	/* A length beyond the end is one, as nothing can be behind it. */
	made = usual();
	fde(&made, 0, 16, NULL, 0);
	put(&made, 0xffffff, 4);
	fde(&made, 16, 16, BYTES(0x0e, 16));
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 none");
	done(&made);
}

/* By PT_GNU_EH_FRAME; a record of length 0 is the end then. */
TEST(cfi_without_sections)
{
	struct made made = usual();
	uint32_t header;

	fde(&made, 0, 16, BYTES(0x44, 0x0e, 16));
	put(&made, 0, 4);
	fde(&made, 16, 16, BYTES(0x0e, 24));
	header = elves_add(&made.elves, ".eh_frame_hdr", SHT_PROGBITS,
			   SHF_ALLOC, BASE + ELVES_AT + 2 * ELVES_SECTION);
	elves_put(&made.elves, header, "\1\x1b\xff\xff\xfc\xef\xff\xff", 8);
	elves_segment(&made.elves, PT_GNU_EH_FRAME, PF_R,
		      elves_offset(header), BASE + ELVES_AT + 2 * ELVES_SECTION,
		      8);
	elves_put(&made.elves, header, "\0\0\0\0\0\0\0\0", 8);
	made.elves.no_sections = true;
	CHECK_TEXT(rows_of(&made), "0 sp8, 4 sp16, 10 none");
	made.elves.no_sections = false;
	CHECK_TEXT(rows_of(&made), "0 sp8, 4 sp16, 10 sp24, 20 none");
	done(&made);
}

TEST(cfi_debug_frame_alone)
{
	struct made made = make(".debug_frame");

	cie(&made, BYTES(USUAL));
	fde(&made, 0, 16, BYTES(0x41, 0x0e, 16, 0x86, 2));
	cie(&made, BYTES(0x0c, 7, 16));
	fde(&made, 16, 16, NULL, 0);
	CHECK_TEXT(rows_of(&made), "0 sp8, 1 sp16 c-16, 10 sp16, 20 none");
	done(&made);
}

/* C without unwind tables, with libraries that have them: both tell of some. */
TEST(cfi_both_tables)
{
	struct made made = usual();

	fde(&made, 0, 16, NULL, 0);
	fde(&made, 32, 16, NULL, 0);
	made.debug = true;
	made.table = elves_add(&made.elves, ".debug_frame", SHT_PROGBITS, 0, 0);
	cie(&made, BYTES(0x0c, 7, 16));
	fde(&made, 48, 16, NULL, 0);
	fde(&made, 16, 16, NULL, 0);
	/* .eh_frame has this one, too, and that is in one of its. */
	fde(&made, 32, 16, BYTES(0x0e, 24));
	fde(&made, 40, 4, BYTES(0x0e, 32));
	/* The linker left these out, or they are of no code. */
	fde(&made, 0 - (uint64_t)CODE, 16, BYTES(0x0e, 32));
	fde(&made, 0x3000, 16, BYTES(0x0e, 32));
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 sp16, 20 sp8, 30 sp16, 40 none");
	done(&made);
}

TEST(cfi_entries_without_rules)
{
	struct made made = usual();

	/* Right behind a function, and with nothing behind. */
	fde(&made, 0, 16, NULL, 0);
	made.elves.entry = CODE + 16;
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 root, 50 none");
	/* In front of one: up to there. */
	fde(&made, 48, 16, NULL, 0);
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 root, 30 sp8, 40 none");
	made.elves.entry = CODE + 20;
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 none, 14 root, 30 sp8, 40 none");
	/* In a function: that one's rules. */
	made.elves.entry = CODE + 4;
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 none, 30 sp8, 40 none");
	/* A library's. */
	made.elves.entry = 0;
	CHECK_TEXT(rows_of(&made), "0 sp8, 10 none, 30 sp8, 40 none");
	done(&made);
}

TEST(cfi_of_other_machines)
{
	struct made made = usual();

	fde(&made, 0, 16, NULL, 0);
	made.elves.machine = EM_386;
	CHECK_TEXT(rows_of(&made), "");
	made.elves.machine = 0;
	made.elves.narrow = true;
	made.elves.segment_count = 0;
	CHECK_TEXT(rows_of(&made), "");
	done(&made);
}

TEST(cfi_stops_when_asked_to)
{
	struct made made = usual();

	fde(&made, 0, 16, BYTES(0x41, 0x0e, 16, 0x41, 0x0e, 24));
	made.elves.entry = CODE + 64;
	for (size_t most = 1; most < 6; most++) {
		size_t left = most, commas = 1;

		for (const char *c = rows_some(&made, &left); *c; c++)
			commas += *c == ',';
		CHECK_U64(commas, most);
	}
	done(&made);
}
