/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/maps, /proc/stat and lists of CPUs: each line as each of them, and
 * all lines as the maps of a process.
 */
#include <string.h>

#include "proc/maps.h"
#include "proc/spaces.h"
#include "proc/stat.h"
#include "sys/cpus.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/redirect.h"

static void parse_map(char *line, size_t length)
{
	struct map map;

	if (!maps_parse(line, &map))
		return;
	MUST(map.start < map.end);
	MUST(map.path >= line && map.path <= line + length);
	MUST(strlen(map.path) <= length);
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

/* The mappings of process 1, by the time of its sample. */
static void read_maps(const uint8_t *data, size_t size)
{
	struct files *files = files_new();
	struct spaces *spaces = spaces_new(files);
	struct space_view view;
	const struct space_moment moment = { .tgid = 1, .first = 1, .last = 2 };

	redirect("/proc/1/maps", fuzz_file(data, size));
	view = spaces_view(spaces, &moment);
	for (uint64_t address = 0; address < 1 << 18; address += 0x1800) {
		struct place place = spaces_find(spaces, &view, address);

		/* Lines may be in disorder, but never so wrong. */
		MUST(place.note != SPACE_FILE ||
		     (place.user.start <= address &&
		      address < place.user.end));
		MUST(place.note != SPACE_FILE ||
		     files_name(files, place.file));
	}
	spaces_free(spaces);
	files_free(files);
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
