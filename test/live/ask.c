/* SPDX-License-Identifier: MIT */
/*
 * ask OBJECT 1 ADDRESS: prints both names of the address.
 * ask OBJECT COUNT: names COUNT kernel addresses, spread over all text symbols
 * of /proc/kallsyms (32 bytes into each), by asking the kernel and by reading
 * the file, and compares.  Prints the times of both ways in ms.
 *
 * Where the names differ both must be the kernel's for one address: a function
 * can have several.  Exit status 1 if one way knew what the other did not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "lib/file.h"
#include "lib/memory.h"
#include "sym/asked.h"
#include "sys/system.h"

static int cmp_name(const void *a, const void *b)
{
	const struct kallsyms_name *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* The address of every step-th text symbol. */
static size_t pick(struct kallsyms_name *names, size_t count, size_t step)
{
	struct lines lines;
	size_t seen = 0, kept = 0, unique = 0;
	char *line;

	if (lines_open(&lines, "/proc/kallsyms"))
		return 0;
	while (kept < count && (line = lines_next(&lines))) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);

		if (!address || (end[1] != 't' && end[1] != 'T') ||
		    strstr(line, "__pfx_") || seen++ % step)
			continue;
		names[kept++].address = address;
	}
	lines_close(&lines);
	qsort(names, kept, sizeof(*names), cmp_name);
	for (size_t i = 1; i < kept; i++)
		if (names[i].address != names[unique].address)
			names[++unique] = names[i];
	return kept ? unique + 1 : 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
	struct kallsyms_name *asked = memory_new(count, sizeof(*asked));
	struct kallsyms_name *read = memory_new(count, sizeof(*read));
	struct kallsyms_facts facts;
	struct bytes object = { 0 };
	uint64_t begin, ask_ns, read_ns;
	size_t same = 0, alias = 0, bad = 0;
	uint8_t *data = memory_new(1 << 20, 1);
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;

	if (!file)
		return 2;
	object.size = fread(data, 1, 1 << 20, file);
	object.data = data;
	fclose(file);
	if (argc > 3) {
		asked->address = strtoull(argv[3], NULL, 16) + 8;
		read->address = asked->address;
		asked_names(object, asked, 1);
		kallsyms_find("/proc/kallsyms", read, 1, &facts);
		printf("%s %s\n", asked->name ? asked->name : "-",
		       read->name ? read->name : "-");
		return 0;
	}
	count = pick(asked, count, count < 100000 ? 110000 / count : 1);
	memcpy(read, asked, count * sizeof(*read));
	begin = system_cpu_time();
	if (asked_names(object, asked, count)) {
		printf("not asked\n");
		return 77;
	}
	ask_ns = system_cpu_time() - begin;
	begin = system_cpu_time();
	if (kallsyms_find("/proc/kallsyms", read, count, &facts))
		return 1;
	read_ns = system_cpu_time() - begin;
	for (size_t i = 0; i < count; i++) {
		if (!asked[i].name != !read[i].name ||
		    (asked[i].name && asked[i].start != read[i].start)) {
			if (bad++ < 5)
				fprintf(stderr, "%" PRIx64 ": asked %s, read "
					"%s\n", asked[i].address,
					asked[i].name ? asked[i].name : "-",
					read[i].name ? read[i].name : "-");
		} else if (asked[i].name &&
			   strcmp(asked[i].name, read[i].name)) {
			alias++;
		} else {
			same++;
		}
	}
	printf("%zu addresses: %zu same, %zu by an alias, %zu else; asked in "
	       "%.2f ms, read in %.2f ms\n", count, same, alias, bad,
	       (double)ask_ns / 1e6, (double)read_ns / 1e6);
	return bad * 100 > count;
}
