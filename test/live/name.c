/* SPDX-License-Identifier: MIT */
/*
 * name FILE OFFSET...: the name of each offset (hexadecimal) of the file; of
 * stdin's lines if there is none.
 * name FILE --all: every function, by asking for every byte that no function
 * found before holds (every 16th of longer gaps).
 * name FILE --random COUNT SEED: so many offsets of what can be executed, as
 * `OFFSET ADDRESS NAME START SIZE`; --time COUNT SEED: how much CPU they took;
 * --wanted COUNT SEED: as --random, but the image is told of all in advance.
 * PATH_IN_ROOT and ROOT in the environment are what image_source wants.
 *
 * A name stands as it is, bounds alone are `[0xSTART+SIZE]`, nothing is `-`.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/file.h"
#include "sym/image.h"

static struct image *image;
static struct elf_file file;

static void print(uint64_t offset)
{
	struct image_name name;
	uint64_t address = 0;

	elf_file_address(&file, offset, &address);
	printf("%" PRIx64 " %" PRIx64 " ", offset, address);
	switch (image_find(image, offset, &name)) {
	case IMAGE_NAME:
		printf("%s %" PRIx64 " %" PRIu64 "\n", name.name, name.start,
		       name.size);
		break;
	case IMAGE_FUNCTION:
		printf("[0x%" PRIx64 "+%" PRIu64 "] %" PRIx64 " %" PRIu64 "\n",
		       name.start, name.size, name.start, name.size);
		break;
	default:
		puts("- 0 0");
	}
}

/* An offset in a segment that can be executed, each as likely as it is large. */
static uint64_t pick(uint64_t random)
{
	uint64_t all = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < file.segment_count; i++) {
			struct elf_file_segment *part = &file.segments[i];

			if (part->type != PT_LOAD || !(part->flags & PF_X))
				continue;
			if (pass && random < part->file_size)
				return part->offset + random;
			if (pass)
				random -= part->file_size;
			else
				all += part->file_size;
		}
		if (!all)
			return 0;
		random = pass ? random : random % all;
	}
	return 0;
}

/* Of this process alone, ns: others may keep the machine busy. */
static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void time_them(size_t count)
{
	uint64_t begin = cpu_time(), first = 0, end;
	size_t named = 0, bounded = 0;

	for (size_t i = 0; i < count; i++) {
		struct image_name name;
		uint64_t random = (uint64_t)rand() << 31;
		enum image_found how;

		random |= (uint64_t)rand();
		how = image_find(image, pick(random), &name);
		named += how == IMAGE_NAME;
		bounded += how == IMAGE_FUNCTION;
		if (!i)
			first = cpu_time() - begin;
	}
	end = cpu_time() - begin;
	printf("first %.2f ms, all %.2f ms, named %zu bounded %zu of %zu, "
	       "memory %zu KB\n", (double)first / 1e6, (double)end / 1e6, named,
	       bounded, count, image_memory(image) / 1024);
}

static void print_random(size_t count, bool wanted)
{
	uint64_t *offsets = calloc(count, sizeof(*offsets));

	for (size_t i = 0; offsets && i < count; i++) {
		uint64_t random = (uint64_t)rand() << 31;

		offsets[i] = pick(random | (uint64_t)rand());
	}
	if (wanted)
		image_want(image, offsets, count);
	for (size_t i = 0; offsets && i < count; i++)
		print(offsets[i]);
	if (wanted)
		fprintf(stderr, "memory %zu KB\n", image_memory(image) / 1024);
	free(offsets);
}

static void print_all(void)
{
	for (uint32_t i = 0; i < file.segment_count; i++) {
		struct elf_file_segment *part = &file.segments[i];
		uint64_t end = part->offset + part->file_size, nothing = 0;
		uint64_t before = UINT64_MAX;

		if (part->type != PT_LOAD || !(part->flags & PF_X))
			continue;
		for (uint64_t at = part->offset; at < end; at++) {
			struct image_name name;
			uint64_t last;

			if (image_find(image, at, &name) == IMAGE_NOTHING) {
				at |= nothing++ > 64 ? 15 : 0;
				continue;
			}
			nothing = 0;
			/* Stubs stand in one frame of .eh_frame together. */
			if (!name.name && name.start == before)
				continue;
			before = name.start;
			print(at);
			last = name.start + name.size;
			at = last > at + 1 && name.name ? last - 1 : at;
		}
	}
}

int main(int argc, char **argv)
{
	const char *root = getenv("ROOT"), *path = getenv("PATH_IN_ROOT"), *why;
	struct image_source source = { .path = path ? path : argv[1] };
	struct input input;
	char line[64];

	if (argc < 2)
		return 2;
	source.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	source.root = root ? open(root, O_PATH | O_CLOEXEC) : -1;
	if (source.fd < 0 || input_file(&input, source.fd))
		return 1;
	image = image_open(&source);
	if (elf_file_open(&file, &input, &why))
		fprintf(stderr, "%s: %s\n", argv[1], why);
	if (argc == 3 && !strcmp(argv[2], "--all")) {
		print_all();
	} else if (argc == 5) {
		size_t count = strtoul(argv[3], NULL, 10);

		srand((unsigned int)strtoul(argv[4], NULL, 10));
		if (!strcmp(argv[2], "--time"))
			time_them(count);
		else
			print_random(count, !strcmp(argv[2], "--wanted"));
	} else {
		for (int i = 2; i < argc; i++)
			print(strtoull(argv[i], NULL, 16));
		while (argc == 2 && fgets(line, sizeof(line), stdin))
			print(strtoull(line, NULL, 16));
	}
	if (image_why(image))
		fprintf(stderr, "%s: %s\n", argv[1], image_why(image));
	elf_file_close(&file);
	image_close(image);
	return 0;
}
