/* SPDX-License-Identifier: MIT */
/* Kernel symbols: which name an address has, and when it has none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kallsyms.h"
#include "test/unit/unit.h"

/* The text of an address in a list, as "name" or "name [module]". */
static const char *name_in(const char *list, uint64_t address)
{
	static char text[4096];
	struct kallsyms_name name = { .address = address };
	struct kallsyms_facts facts;

	unit_write_text("k", list);
	CHECK(!kallsyms_find("k", &name, 1, &facts));
	if (!name.name) {
		CHECK(!name.module);
		return NULL;
	}
	CHECK(name.start <= address);
	snprintf(text, sizeof(text), name.module ? "%s [%s]" : "%s",
		 name.name, name.module);
	free(name.name);
	free(name.module);
	return text;
}

static const char plain[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T first\n"
	"ffffffff81000100 t second\n"
	"ffffffff81000200 W third\n"
	"ffffffff81000300 T last\n"
	"ffffffff81000400 T _etext\n"
	"ffffffff81001000 R __start_rodata\n"
	"ffffffff82000000 D jiffies\n"
	"ffffffff82000100 B last_data\n";

TEST(kallsyms_edges)
{
	CHECK_TEXT(name_in(plain, 0), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff80ffffff), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff81000000), "first");
	CHECK_TEXT(name_in(plain, 0xffffffff810000ff), "first");
	CHECK_TEXT(name_in(plain, 0xffffffff81000100), "second");
	CHECK_TEXT(name_in(plain, 0xffffffff810001ff), "second");
	CHECK_TEXT(name_in(plain, 0xffffffff81000200), "third");
	CHECK_TEXT(name_in(plain, 0xffffffff81000300), "last");
	CHECK_TEXT(name_in(plain, 0xffffffff810003ff), "last");
	/* From _etext on there is no text, and data is never a name. */
	CHECK_TEXT(name_in(plain, 0xffffffff81000400), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff81000800), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff81001000), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff82000000), NULL);
	CHECK_TEXT(name_in(plain, 0xffffffff82000200), NULL);
	CHECK_TEXT(name_in(plain, UINT64_MAX), NULL);
}

TEST(kallsyms_extreme_addresses)
{
	static const char list[] = "0000000000000001 t low\n"
				   "0000000000000010 t low2\n"
				   "fffffffffffffff0 T high\n"
				   "ffffffffffffffff T highest\n";

	CHECK_TEXT(name_in(list, 0), NULL);
	CHECK_TEXT(name_in(list, 1), "low");
	CHECK_TEXT(name_in(list, 15), "low");
	CHECK_TEXT(name_in(list, 16), "low2");
	CHECK_TEXT(name_in(list, 0xffffffffffffffef), "low2");
	CHECK_TEXT(name_in(list, 0xfffffffffffffff0), "high");
	CHECK_TEXT(name_in(list, 0xfffffffffffffffe), "high");
	CHECK_TEXT(name_in(list, UINT64_MAX), "highest");
}

/* Of these lines at one address, in any order, `best` is the name. */
static void check_alias(const char *best, const char *other)
{
	char list[4096];

	for (int turn = 0; turn < 2; turn++) {
		snprintf(list, sizeof(list), "ffffffff81000000 %s\n"
			 "ffffffff81000000 %s\nffffffff81000100 T behind\n",
			 turn ? best : other, turn ? other : best);
		CHECK_TEXT(name_in(list, 0xffffffff81000000), best + 2);
		CHECK_TEXT(name_in(list, 0xffffffff810000ff), best + 2);
	}
}

TEST(kallsyms_aliases)
{
	/* Global, weak, local, data; whatever else speaks for the other. */
	check_alias("T __global_name_long", "W weak");
	check_alias("T __global_name_long", "t local");
	check_alias("T __global_name_long", "D data");
	check_alias("W __weak_name_long", "t local");
	check_alias("w __weak_name_long", "t local");
	check_alias("W __weak_name_long", "d data");
	check_alias("t __local_name_long", "R data");
	check_alias("t __local_name_long", "b data");
	/* Fewer leading underscores. */
	check_alias("T strtok_a_very_long_name", "T __GI_strtok");
	check_alias("T x64_sys_read_longer", "T _x");
	check_alias("T _x_much_longer", "T __x");
	/* The shorter. */
	check_alias("T __x64_sys_sync", "T __ia32_sys_sync");
	check_alias("t ab", "t abc");
	/* The first by alphabet, so that it is always the same. */
	check_alias("T aa", "T ab");
	check_alias("T a_b", "T a_c");
}

TEST(kallsyms_no_padding)
{
	static const char list[] = "ffffffff81000000 t first\n"
				   "ffffffff810000f0 t __pfx_second\n"
				   "ffffffff81000100 t second\n"
				   "ffffffff81000100 T __pfx_other\n"
				   "ffffffff81000100 t __cfi_second\n"
				   "ffffffff810001f0 T __pfx_third\n"
				   "ffffffff81000200 T third\n"
				   "ffffffff81000204 t $x\n"
				   "ffffffff81000204 t $d.123\n"
				   "ffffffff81000208 t .Lloop\n"
				   "ffffffff81000300 T behind\n";

	for (uint64_t at = 0; at < 0x300; at++) {
		const char *name = name_in(list, 0xffffffff81000000 + at);

		CHECK(name);
		if (strstr(name, "__pfx_") || strstr(name, "__cfi_") ||
		    *name == '$' || *name == '.')
			unit_fail(__FILE__, __LINE__, "+0x%llx is %s",
				  (unsigned long long)at, name);
		if (at < 0xf0)
			CHECK_TEXT(name, "first");
		else if (at >= 0x100 && at < 0x1f0)
			CHECK_TEXT(name, "second");
		else if (at >= 0x200)
			CHECK_TEXT(name, "third");
	}
}

/* Marks of the linker are of type T, and places, not functions. */
TEST(kallsyms_no_marks)
{
	static const char *const marks[] = {
		"_text", "_stext", "_etext", "_sinittext", "_einittext",
		"__sched_text_start", "__sched_text_end", "__lock_text_start",
		"__kprobes_text_end", "__irqentry_text_start",
		"__softirqentry_text_end", "__cpuidle_text_start",
		"__noinstr_text_end", "__entry_text_start",
		"__entry_text_end", "__static_call_text_start",
		"__indirect_thunk_text_end",
	};
	char list[1024];

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		/* The function that begins there is the name ... */
		snprintf(list, sizeof(list), "ffffffff81000000 T before\n"
			 "ffffffff81000100 T %s\n"
			 "ffffffff81000100 t __a_function\n"
			 "ffffffff81000200 T behind\n", marks[i]);
		CHECK_TEXT(name_in(list, 0xffffffff81000100), "__a_function");
		CHECK_TEXT(name_in(list, 0xffffffff810001ff), "__a_function");
		CHECK_TEXT(name_in(list, 0xffffffff810000ff), "before");
		/* ... and where none does, there is none. */
		snprintf(list, sizeof(list), "ffffffff81000000 T before\n"
			 "ffffffff81000100 T %s\n"
			 "ffffffff81000200 T behind\n", marks[i]);
		CHECK_TEXT(name_in(list, 0xffffffff81000100), NULL);
		CHECK_TEXT(name_in(list, 0xffffffff810001ff), NULL);
		CHECK_TEXT(name_in(list, 0xffffffff81000200), "behind");
	}
	/* Functions whose names only look like it. */
	CHECK_TEXT(name_in("ffffffff81000000 T get_text_start\n"
			   "ffffffff81000100 T b\n", 0xffffffff81000001),
		   "get_text_start");
	CHECK_TEXT(name_in("ffffffff81000000 t __text_poke\n"
			   "ffffffff81000100 T b\n", 0xffffffff81000001),
		   "__text_poke");
}

/* Modules lie apart, in any order, and nobody writes down where they end. */
static const char modules[] =
	"ffffffff81000000 T core\n"
	"ffffffff81000100 T _etext\n"
	"ffffffffc0500000 t b_first\t[beta]\n"
	"ffffffffc0500300 t b_last\t[beta]\n"
	"ffffffffc0412000 t a_second\t[alpha]\n"
	"ffffffffc0412200 t a_last\t[alpha]\n"
	"ffffffffc0412000 d a_data_there\t[alpha]\n"
	"ffffffffc0411000 T a_first\t[alpha]\n"
	"ffffffffc0480000 t c_code\t[gamma]\n"
	"ffffffffc0480100 d c_data\t[gamma]\n"
	"ffffffffc0a31040 t bpf_prog_6deef7357e7b4530_profile_hash\t[bpf]\n"
	"ffffffffc0a32000 t bpf_prog_0123456789abcdef_other\t[bpf]\n";

TEST(kallsyms_modules)
{
	CHECK_TEXT(name_in(modules, 0xffffffffc0411000), "a_first [alpha]");
	/* 4 KB long and more: the next of its module is its end. */
	CHECK_TEXT(name_in(modules, 0xffffffffc0411fff), "a_first [alpha]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0412000), "a_second [alpha]");
	CHECK_TEXT(name_in(modules, 0xffffffffc04121ff), "a_second [alpha]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0412200), "a_last [alpha]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0500000), "b_first [beta]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0500300), "b_last [beta]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0480000), "c_code [gamma]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0a31041),
		   "bpf_prog_6deef7357e7b4530_profile_hash [bpf]");
	CHECK_TEXT(name_in(modules, 0xffffffff810000ff), "core");
}

/* Behind a module's last function there may be anything, far away at least. */
TEST(kallsyms_gaps)
{
	CHECK_TEXT(name_in(modules, 0xffffffffc04121ff + 0x100),
		   "a_last [alpha]");
	CHECK_TEXT(name_in(modules, 0xffffffffc0413200), NULL);
	CHECK_TEXT(name_in(modules, 0xffffffffc047ffff), NULL);
	CHECK_TEXT(name_in(modules, 0xffffffffc0501300), NULL);
	CHECK_TEXT(name_in(modules, 0xffffffffc0a00000), NULL);
	CHECK_TEXT(name_in(modules, 0xffffffffc0b00000), NULL);
	/* Its data ends a module's text. */
	CHECK_TEXT(name_in(modules, 0xffffffffc0480100), NULL);
	CHECK_TEXT(name_in(modules, 0xffffffffc0480150), NULL);
	/* Between the kernel and the first module. */
	CHECK_TEXT(name_in(modules, 0xffffffff90000000), NULL);
}

TEST(kallsyms_long_names)
{
	char *list = malloc(2000000), want[8192];
	size_t length = 0;

	CHECK(list);
	for (int i = 0; i < 300; i++) {
		length += (size_t)sprintf(list + length,
					  "ffffffff81%06x t ", i * 256);
		memset(list + length, 'a' + i % 26, 500 + (size_t)i);
		length += 500 + (size_t)i;
		length += (size_t)sprintf(list + length, "\t[m%d]\n", i / 100);
	}
	/* KSYM_NAME_LEN is 512 today; ours has no limit of its own. */
	memset(want, 0, sizeof(want));
	for (int i = 0; i < 300; i += 7) {
		memset(want, 'a' + i % 26, 500 + (size_t)i);
		sprintf(want + 500 + i, " [m%d]", i / 100);
		CHECK_TEXT(name_in(list, 0xffffffff81000000 + i * 256ull +
				   (uint64_t)i % 256), want);
	}
	free(list);
}

TEST(kallsyms_name_of_100_kb)
{
	char *list = malloc(300000);
	struct kallsyms_name name = { .address = 0xffffffff81000001 };
	struct kallsyms_facts facts;

	CHECK(list);
	strcpy(list, "ffffffff81000000 T ");
	memset(list + 19, 'n', 100000);
	strcpy(list + 100019, "\nffffffff81000100 T b");
	unit_write_text("k", list);
	CHECK(!kallsyms_find("k", &name, 1, &facts));
	CHECK(name.name);
	CHECK_U64(strlen(name.name), 100000);
	free(name.name);
	/* A line beyond all reason is an error, not a name. */
	name.name = NULL;
	free(list);
	list = malloc(3000000);
	CHECK(list);
	memset(list, 'n', 3000000);
	memcpy(list, "ffffffff81000000 T ", 19);
	unit_write("k", list, 3000000);
	CHECK(kallsyms_find("k", &name, 1, &facts) == -EMSGSIZE);
	CHECK(!name.name);
	free(list);
}

/* kptr_restrict does not hide the file but the numbers in it. */
TEST(kallsyms_hidden)
{
	struct kallsyms_name name = { .address = 0xffffffff81000001 };
	struct kallsyms_facts facts;

	unit_write_text("k", "0000000000000000 T _stext\n"
			     "0000000000000000 T _text\n"
			     "0000000000000000 T do_one_initcall\n"
			     "0000000000000000 t f\t[mod]\n"
			     "0000000000000000 T _etext\n");
	CHECK(!kallsyms_find("k", &name, 1, &facts));
	CHECK(facts.hidden);
	CHECK(!name.name);
	CHECK_U64(facts.text_start, 0);
	/* Zero is the address of per-CPU symbols, too: that hides nothing. */
	unit_write_text("k", "0000000000000000 A fixed_percpu_data\n"
			     "0000000000000000 D __per_cpu_start\n"
			     "ffffffff81000000 T f\n");
	CHECK(!kallsyms_find("k", &name, 1, &facts));
	CHECK(!facts.hidden);
	CHECK_TEXT(name.name, "f");
	free(name.name);
}

TEST(kallsyms_facts)
{
	struct kallsyms_facts facts;

	unit_write_text("k", plain);
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.symbols, 10);
	CHECK_U64(facts.text_start, 0xffffffff81000000);
	CHECK_U64(facts.text_end, 0xffffffff81000400);
	CHECK(!facts.hidden && !facts.modules);
	unit_write_text("k", modules);
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK(facts.modules && !facts.hidden);
	CHECK_U64(facts.text_start, 0);
	/* _stext is the one that counts; they differ on some machines. */
	unit_write_text("k", "ffffffc008000000 T _text\n"
			     "ffffffc008010000 T _stext\n"
			     "ffffffc009000000 T _etext\n");
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.text_start, 0xffffffc008010000);
	unit_write_text("k", "ffffffc008010000 T _stext\n"
			     "ffffffc008000000 T _text\n");
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.text_start, 0xffffffc008010000);
	CHECK_U64(facts.text_end, 0);
	unit_write_text("k", "ffffffc008000000 T _text\n");
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.text_start, 0xffffffc008000000);
	unit_write_text("k", "ffffffff81012340 T vfs_read\n"
			     "ffffffffc0000000 t vfs_read\t[evil]\n"
			     "ffffffff81012350 T vfs_readv\n");
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.probe, 0xffffffff81012340);
	/* A module's own marks are not the kernel's. */
	unit_write_text("k", "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 T f\n"
			     "ffffffffc0000000 t _stext\t[evil]\n"
			     "ffffffffc0000000 t _etext\t[evil]\n");
	CHECK(!kallsyms_find("k", NULL, 0, &facts));
	CHECK_U64(facts.text_start, 0xffffffff81000000);
	CHECK_U64(facts.text_end, 0);
}

/* A System.map: the same without modules, with absolute symbols. */
TEST(kallsyms_system_map)
{
	static const char list[] =
		"0000000000000000 D __per_cpu_start\n"
		"0000000001000000 A phys_startup_64\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000000 T startup_64\n"
		"ffffffff81000080 A some_number\n"
		"ffffffff81000100 t next_one\n"
		"ffffffff81000200 T _etext";	/* no newline */

	CHECK_TEXT(name_in(list, 0xffffffff81000000), "startup_64");
	/* Absolute symbols are numbers: neither names nor ends. */
	CHECK_TEXT(name_in(list, 0xffffffff81000080), "startup_64");
	CHECK_TEXT(name_in(list, 0xffffffff810000ff), "startup_64");
	CHECK_TEXT(name_in(list, 0xffffffff81000100), "next_one");
	CHECK_TEXT(name_in(list, 0xffffffff810001ff), "next_one");
	CHECK_TEXT(name_in(list, 0xffffffff81000200), NULL);
	CHECK_TEXT(name_in(list, 0x1000001), NULL);
}

TEST(kallsyms_odd_lines)
{
	static const char list[] =
		"\n"
		" \n"
		"ffffffff81000000\n"
		"ffffffff81000000 \n"
		"ffffffff81000000 T\n"
		"ffffffff81000000 T \n"
		"ffffffff81000000Tname\n"
		"ffffffff81000000 TT name\n"
		"fffffffff81000000 T seventeen_digits\n"
		"0xffffffff81000000 T prefix\n"
		"nonsense\n"
		"-fffffff81000000 T minus\n"
		"ffffffff81000000  T two_spaces\n"
		"ffffffff81000000 T good [mod\n"
		"ffffffff81000100 T end [mod]\n";

	CHECK_TEXT(name_in(list, 0xffffffff81000010), "good [mod]");
}

TEST(kallsyms_errors)
{
	struct kallsyms_name name = { .address = 5 };
	struct kallsyms_facts facts;

	CHECK(kallsyms_find("none", &name, 1, &facts) == -ENOENT);
	unit_write_text("k", "");
	CHECK(kallsyms_find("k", &name, 1, &facts) == -ENODATA);
	CHECK(!facts.hidden);
	unit_write_text("k", "no symbol\nat all\n");
	CHECK(kallsyms_find("k", &name, 1, &facts) == -ENODATA);
	CHECK(kallsyms_find(".", &name, 1, &facts) == -EISDIR);
	CHECK(!mkfifo("fifo", 0600));
	CHECK(kallsyms_find("fifo", &name, 1, &facts) == -ENODATA);
	CHECK(!name.name && !name.module);
}

/* What has a name keeps it, and others are found beside it. */
TEST(kallsyms_keeps_names)
{
	struct kallsyms_name names[3] = {
		{ .address = 0xffffffff81000001 },
		{ .address = 0xffffffff81000101, .start = 7 },
		{ .address = 0xffffffff81000201 },
	};
	struct kallsyms_facts facts;
	char *old = strdup("old");

	names[1].name = old;
	unit_write_text("k", plain);
	CHECK(!kallsyms_find("k", names, 3, &facts));
	CHECK_TEXT(names[0].name, "first");
	CHECK(names[1].name == old && names[1].start == 7 && !names[1].module);
	CHECK_TEXT(names[2].name, "third");
	CHECK_U64(names[0].start, 0xffffffff81000000);
	CHECK_U64(names[2].start, 0xffffffff81000200);
	for (int i = 0; i < 3; i++)
		free(names[i].name);
}

/* ---------------------------------------------- against a slow, plain one */

struct row {
	uint64_t start;
	char type, name[16], module[8];
};

/* 4 for global text, 3 weak, 2 local, 1 for the rest; marks are the rest. */
static int rank(const struct row *row)
{
	if (!*row->module && !strcmp(row->name, "_etext"))
		return 1;
	return row->type == 'T' ? 4 :
	       row->type == 'W' || row->type == 'w' ? 3 :
	       row->type == 't' ? 2 : 1;
}

static bool wins(const struct row *a, const struct row *b)
{
	size_t x = strspn(a->name, "_"), y = strspn(b->name, "_");

	if (rank(a) != rank(b))
		return rank(a) > rank(b);
	if (x != y)
		return x < y;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name);
	return strcmp(a->name, b->name) < 0;
}

static const struct row *reference(const struct row *rows, size_t count,
				   uint64_t address)
{
	const struct row *best = NULL, *next = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];

		if (!strncmp(row->name, "__pfx_", 6) || row->type == 'A')
			continue;
		if (row->start <= address &&
		    (!best || row->start > best->start ||
		     (row->start == best->start && wins(row, best))))
			best = row;
		if (row->start > address && (!next || row->start < next->start))
			next = row;
	}
	if (!best || rank(best) == 1)
		return NULL;
	if (next && !strcmp(next->module, best->module))
		return best;
	return address - best->start < 4096 ? best : NULL;
}

TEST(kallsyms_as_a_plain_search)
{
	enum { ROWS = 60, WANTED = 150, ROUNDS = 300 };
	static const char types[] = "TtTtWwDdbRA";
	static const char *const stems[] = {
		"f", "_f", "__f", "__pfx_f", "longer",
	};
	uint64_t random = 5;

	for (int round = 0; round < ROUNDS; round++) {
		struct row rows[ROWS];
		struct kallsyms_name names[WANTED];
		struct kallsyms_facts facts;
		FILE *file = fopen("k", "w");
		uint64_t at = 0xffffffff81000000;
		size_t count = 0;

		CHECK(file);
		for (size_t i = 0; i < ROWS; i++) {
			struct row *row = &rows[i];
			uint64_t bits = unit_random(&random);
			/* Modules of one address each, in ranges apart. */
			unsigned int module = (unsigned int)(bits % 4);

			*row = (struct row){
				.start = 0xffffffff81000000 + module * 0x20000
					 + (bits >> 8) % 40 * 0x333,
				.type = types[(bits >> 16) %
					      (sizeof(types) - 1)],
			};
			if (module)
				sprintf(row->module, "m%u", module);
			if (!module && bits >> 60 == 0) {
				strcpy(row->name, "_etext");
				row->type = 'T';
			} else {
				sprintf(row->name, "%s%u",
					stems[(bits >> 24) % 5],
					(unsigned int)(bits >> 32) % 30);
			}
			fprintf(file, "%llx %c %s%s%s%s\n",
				(unsigned long long)row->start, row->type,
				row->name, module ? "\t[" : "", row->module,
				module ? "]" : "");
		}
		fclose(file);
		while (count < WANTED) {
			names[count++] = (struct kallsyms_name){ .address = at };
			at += unit_random(&random) % 0x1000 + 1;
			if (unit_random(&random) % 8 == 0) {
				const struct row *row =
					&rows[unit_random(&random) % ROWS];

				if (row->start > at)
					at = row->start - (at & 1);
			}
		}
		CHECK(!kallsyms_find("k", names, count, &facts));
		for (size_t i = 0; i < count; i++) {
			const struct row *want =
				reference(rows, ROWS, names[i].address);

			CHECK_TEXT(names[i].name, want ? want->name : NULL);
			CHECK_TEXT(names[i].module, want && *want->module ?
				   want->module : NULL);
			if (want)
				CHECK_U64(names[i].start, want->start);
			free(names[i].name);
			free(names[i].module);
		}
	}
}
