/* SPDX-License-Identifier: MIT */
/*
 * rows FILE...: the rows that unwind/cfi.c makes of ELF files, one a line as
 * `PC RULE CFA FP` (hexadecimal, from the file's lowest address).
 * rows -c FILE...: how many, and how long that took.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sys/system.h"
#include "unwind/cfi.h"

static bool print(void *context, const struct unwind_row *row)
{
	(void)context;
	printf("%" PRIx32 " %x %d %d\n", row->pc, row->rule, row->cfa, row->fp);
	return true;
}

/* Rows have to come in order, however broken the file is. */
static bool check(void *context, const struct unwind_row *row)
{
	uint64_t *last = context;

	if (*last != UINT64_MAX && row->pc <= *last)
		printf("FAIL rows-in-order: %" PRIx32 "\n", row->pc);
	*last = row->pc;
	return true;
}

int main(int argc, char **argv)
{
	bool count = argc > 1 && !strcmp(argv[1], "-c");

	for (int i = 1 + count; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		uint64_t last = UINT64_MAX, begin = system_cpu_time();
		struct elf_file file;
		struct input input;
		const char *why = "";
		size_t rows = 0;

		if (fd < 0 || input_file(&input, fd))
			continue;
		if (!elf_file_open(&file, &input, &why))
			rows = cfi_rows(&file, count ? check : print, &last);
		elf_file_close(&file);
		close(fd);
		if (count)
			printf("%zu rows, %.2f ms: %s\n", rows,
			       (double)(system_cpu_time() - begin) / 1e6,
			       argv[i]);
	}
	return 0;
}
