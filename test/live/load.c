/* SPDX-License-Identifier: MIT */
/*
 * load OBJECT PROGRAM: loads a BPF object by loader.c and nothing more, for
 * tests of what it refuses and what it leaves open.
 *
 * Prints the descriptors that are open before, while loaded, and after.
 */
#include <dirent.h>
#include <stdio.h>

#include "lib/memory.h"
#include "loader.h"

static int descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

int main(int argc, char **argv)
{
	int before = descriptors(), loaded, failed;
	struct bytes bytes = { 0 };
	struct loader *loader;
	uint8_t *data;
	FILE *file;

	if (argc < 3 || !(file = fopen(argv[1], "rb")))
		return 2;
	data = memory_new(1 << 20, 1);
	bytes.size = fread(data, 1, 1 << 20, file);
	bytes.data = data;
	fclose(file);
	loader = loader_open(bytes, argv[1]);
	failed = !loader || loader_choose(loader, argv[2]) ||
		 loader_load(loader);
	loaded = descriptors();
	loader_close(loader);
	printf("descriptors %d %d %d\n", before, loaded, descriptors());
	return failed ? 1 : 0;
}
