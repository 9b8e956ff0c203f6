/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/maps, /proc/stat and lists of CPUs: each line as each of them, and
 * all lines as the maps of a process.
 */
#include <string.h>

#include "proc/maps.h"
#include "proc/stat.h"
#include "sys/cpus.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/redirect.h"

static void parse_map(char *line, size_t length)
{
	const char *file;
	struct map map;

	if (!maps_parse(line, &map, &file))
		return;
	MUST(map.start < map.end);
	MUST(file >= line && file <= line + length);
	/* The last part of a path; what is in brackets may have any. */
	MUST(!strchr(file, '/') || file[-1] == '[');
}

static void parse_cpus(const char *line)
{
	struct cpus cpus = { 0 };

	if (cpus_parse(&cpus, line)) {
		MUST(!cpus.count);
	} else {
		MUST(cpus.count && cpus.cpu[cpus.count - 1] < 8192);
		for (size_t i = 1; i < cpus.count; i++)
			MUST(cpus.cpu[i - 1] < cpus.cpu[i]);
	}
	cpus_free(&cpus);
}

static void read_maps(const uint8_t *data, size_t size)
{
	struct names names = { 0 };
	struct maps maps = { 0 };
	size_t lines;

	redirect("/proc/1/maps", fuzz_file(data, size));
	maps_read(&maps, 1, &names, 64, &lines);
	for (size_t i = 0; i < maps.count; i++) {
		const uint64_t at[] = {
			maps.map[i].start, maps.map[i].end - 1,
			maps.map[i].end, maps.map[i].start - 1,
		};

		MUST(maps.map[i].file < names.count);
		for (size_t j = 0; j < 4; j++) {
			const struct map *map = maps_find(&maps, at[j]);

			/* Lines may be in disorder, but never so wrong. */
			MUST(!map || (map->start <= at[j] && at[j] < map->end));
		}
	}
	maps_free(&maps);
	names_free(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat_times times;
	uint32_t cpu;

	read_maps(data, size);
	while (size) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t length = newline ? (size_t)(newline - data) : size;
		char *line = fuzz_text(data, length);

		if (stat_parse(line, &cpu, &times))
			MUST(!strncmp(line, "cpu", 3) && line[3] >= '0' &&
			     line[3] <= '9');
		parse_cpus(line);
		parse_map(line, length);
		free(line);
		length += newline != NULL;
		data += length;
		size -= length;
	}
	return 0;
}
