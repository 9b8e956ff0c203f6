/* SPDX-License-Identifier: MIT */
/*
 * page: pictures of profiles that are not from this machine.
 *
 *	page STACKS FILE...		each FILE in the format of its ending
 *	page STACKS X.80x24.utf8.colour.report
 *					a report as for such a terminal: so wide,
 *					so high (without: a file), with these
 *	page make NODES STACKS		prints stacks: as many distinct ones, of
 *					about so many nodes as a tree
 *
 * STACKS are folded lines with more in them than names:
 *
 *	comm[/PID];frame;frame count [count before]
 *
 * A frame is NAME or NAME@IMAGE; the name ends in _[k] for the kernel, _[m] for a
 * module, _[j] for code made at run time.  In brackets it is a note, unless it has a
 * `+` (file and offset).  \xNN stands for a byte, so that `\x3b` is a `;` in a
 * name.  The comm `swapper` is the idle task's.  `# KEY VALUE` sets what is told
 * of the run: host, command, kernel, seconds, hz, cpus, note, warning, advice.
 * With a second count anywhere, it is two profiles, compared.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/text.h"
#include "out/out.h"
#include "out/report.h"
#include "profile.h"
#include "sys/system.h"

static struct {
	struct profile profile;
	struct meta meta, *before;
	size_t task_room, image_room, frame_room, id_room, stack_room;
	struct index frame_index;
} page;

_Noreturn static void bad(const char *what, const char *line)
{
	fprintf(stderr, "page: %s: %s\n", what, line);
	exit(2);
}

/* \xNN in place. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		char digits[3] = { 0 };

		if (text[0] == '\\' && text[1] == 'x' && text[2] && text[3]) {
			memcpy(digits, text + 2, 2);
			*to++ = (char)strtol(digits, NULL, 16);
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static uint32_t add_name(const char *name, bool is_comm)
{
	struct text text = { 0 };
	uint32_t number;

	if (is_comm)
		text_comm(&text, name);
	else
		text_frame(&text, name);
	number = names_add(&page.profile.names, text.data);
	text_free(&text);
	return number;
}

static uint32_t add_image(const char *path)
{
	struct profile *profile = &page.profile;
	const char *slash = strrchr(path, '/');
	struct profile_image image = {
		*path ? add_name(slash ? slash + 1 : path, false) :
			names_add(&profile->names, ""),
		*path ? add_name(path, false) : names_add(&profile->names, ""),
		names_add(&profile->names, ""),
	};

	for (size_t i = 0; i < profile->image_count; i++)
		if (!memcmp(&profile->images[i], &image, sizeof(image)))
			return (uint32_t)i;
	profile->images = memory_grow(profile->images, &page.image_room,
				      profile->image_count + 1, sizeof(image));
	profile->images[profile->image_count] = image;
	return (uint32_t)profile->image_count++;
}

static bool ends(char *word, const char *suffix)
{
	size_t length = strlen(word), size = strlen(suffix);

	if (length <= size || strcmp(word + length - size, suffix))
		return false;
	word[length - size] = '\0';
	return true;
}

static bool frame_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return !memcmp((const struct profile_frame *)array + position, wanted,
		       sizeof(struct profile_frame));
}

static uint32_t add_frame(char *word)
{
	struct profile *profile = &page.profile;
	struct profile_frame frame = { 0 };
	const char *image = "";
	uint64_t hash;
	uint32_t position;
	char *at;

	at = strrchr(word, '@');
	if (at && at > word)
		*at = '\0';
	if (ends(word, "_[k]")) {
		frame.kind = FRAME_KERNEL;
		image = "[kernel]";
	} else if (ends(word, "_[m]")) {
		frame.kind = FRAME_KERNEL;
		image = "module";
	} else if (ends(word, "_[j]")) {
		frame.kind = FRAME_JIT;
	} else if (*word == '[' && !strchr(word, '+')) {
		frame.kind = FRAME_NOTE;
	}
	if (at && at > word)
		image = at + 1;
	unescape(word);
	frame.name = add_name(word, false);
	frame.image = add_image(image);
	hash = index_hash(&frame, sizeof(frame));
	position = index_find(&page.frame_index, hash, frame_equal,
			      profile->frames, &frame);
	if (position != INDEX_NONE)
		return position;
	profile->frames = memory_grow(profile->frames, &page.frame_room,
				      profile->frame_count + 1, sizeof(frame));
	profile->frames[profile->frame_count] = frame;
	index_add(&page.frame_index, hash, (uint32_t)profile->frame_count);
	return (uint32_t)profile->frame_count++;
}

static uint32_t add_task(char *word)
{
	struct profile *profile = &page.profile;
	char *slash = strrchr(word, '/');
	struct profile_task task = { 0 };

	task.idle = !strncmp(word, "swapper", 7);
	if (slash && !task.idle) {
		*slash = '\0';
		task.tgid = task.tid = (uint32_t)strtoul(slash + 1, NULL, 10);
	}
	unescape(word);
	task.comm = add_name(word, true);
	for (size_t i = profile->task_count; i-- > 0;)
		if (!memcmp(&profile->tasks[i], &task, sizeof(task)))
			return (uint32_t)i;
	profile->tasks = memory_grow(profile->tasks, &page.task_room,
				     profile->task_count + 1, sizeof(task));
	profile->tasks[profile->task_count] = task;
	return (uint32_t)profile->task_count++;
}

/* Cuts a number off the end of a line; false, and nothing, if there is none. */
static bool cut_number(char *line, uint64_t *number)
{
	char *space = strrchr(line, ' ');

	if (!space || !text_number(space + 1, 10, 0, UINT64_MAX, number))
		return false;
	*space = '\0';
	return true;
}

static void add_stack(char *line)
{
	struct profile *profile = &page.profile;
	struct profile_stack stack = { .frames = profile->frame_id_count };
	uint64_t number;
	char *word;

	if (!cut_number(line, &stack.samples))
		bad("no count", line);
	if (cut_number(line, &number)) {
		stack.before = stack.samples;
		stack.samples = number;
		page.meta.before = page.before;
	}
	word = strtok(line, ";");
	if (!word)
		bad("no comm", line);
	stack.task = add_task(word);
	stack.mode = MODE_USER;
	while ((word = strtok(NULL, ";"))) {
		uint32_t id = add_frame(word);

		profile->frame_ids = memory_grow(profile->frame_ids,
						 &page.id_room,
						 profile->frame_id_count + 1,
						 sizeof(uint32_t));
		profile->frame_ids[profile->frame_id_count++] = id;
		stack.depth++;
		if (profile->frames[id].kind == FRAME_KERNEL)
			stack.mode = MODE_KERNEL;
	}
	if (profile->tasks[stack.task].idle)
		stack.mode = MODE_IDLE;
	profile->stacks = memory_grow(profile->stacks, &page.stack_room,
				      profile->stack_count + 1, sizeof(stack));
	profile->stacks[profile->stack_count++] = stack;
	profile->total += stack.samples;
	profile->total_before += stack.before;
	profile->by_mode[stack.mode] += stack.samples;
}

static void set(char *line)
{
	char *key = strtok(line + 1, " "), *value = strtok(NULL, "");
	struct meta *meta = &page.meta;

	if (!key || !value)
		return;
	unescape(value);
	if (!strcmp(key, "host"))
		meta_set(&meta->host, value);
	else if (!strcmp(key, "command"))
		meta_set(&meta->command, value);
	else if (!strcmp(key, "kernel"))
		meta_set(&meta->kernel, value);
	else if (!strcmp(key, "source"))
		meta_set(&meta->source, value);
	else if (!strcmp(key, "before"))
		meta_set(&page.before->source, value);
	else if (!strcmp(key, "seconds"))
		meta->duration = strtoull(value, NULL, 10) * 1000000000;
	else if (!strcmp(key, "hz"))
		meta->hz = strtoull(value, NULL, 10);
	else if (!strcmp(key, "cpus"))
		meta->cpus = strtoull(value, NULL, 10);
	else if (!strcmp(key, "note"))
		meta_note(meta, "%s", value);
	else if (!strcmp(key, "warning"))
		meta_warning(meta, "%s", value);
	else if (!strcmp(key, "advice"))
		meta_advice(meta, "%s", value);
}

static void read_stacks(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		bad("cannot be read", path);
	page.before = memory_new(1, sizeof(*page.before));
	add_image("");
	while (getline(&line, &size, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#')
			set(line);
		else if (*line)
			add_stack(line);
	}
	fclose(file);
	free(line);
	page.meta.clock = page.meta.hz > 0;
	page.meta.period = page.meta.hz ? 1000000000 / page.meta.hz : 0;
	meta_set(&page.meta.event, "cpu-clock");
	meta_set(&page.meta.type, "samples");
	meta_set(&page.meta.unit, "count");
}

static uint64_t roll(void)
{
	static uint64_t seed = 42;

	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}

/*
 * Random, but always the same: each stack leaves the one before it somewhere,
 * mostly near its end, and goes its own way for a while.
 */
static void make(uint64_t nodes, uint64_t stacks)
{
	enum { DEPTH = 60 };
	uint64_t path[DEPTH] = { 0 }, made = 0;
	uint32_t depth = 1;

	for (uint64_t i = 0; i < stacks; i++) {
		uint64_t left = (nodes - made) / (stacks - i);
		uint32_t turn = depth - (uint32_t)(roll() % depth * (roll() % 100) / 100);

		if (left < 1)
			left = 1;
		if (left > DEPTH - 2)
			left = DEPTH - 2;
		if (turn + left > DEPTH)
			turn = DEPTH - (uint32_t)left;
		depth = turn + (uint32_t)left;
		for (uint32_t j = turn; j < depth; j++)
			path[j] = roll() % 20000;
		made += left;
		printf("thread%llu/%llu", (unsigned long long)path[1] % 12,
		       100 + (unsigned long long)path[1] % 12);
		for (uint32_t j = 1; j < depth; j++)
			printf(";%s_%llu_%s%s", path[j] % 3 ? "compute" : "handle",
			       (unsigned long long)path[j],
			       path[j] % 5 ? "of_module" : "at_end",
			       j > 20 ? "_[k]" : "");
		printf(" %llu\n", 1 + (unsigned long long)roll() % 50);
	}
}

static void free_all(void)
{
	struct profile *profile = &page.profile;

	names_free(&profile->names);
	free(profile->tasks);
	free(profile->images);
	free(profile->frames);
	free(profile->frame_ids);
	free(profile->stacks);
	index_free(&page.frame_index);
	page.meta.before = page.before;
	meta_free(&page.meta);
}

/* A report for the terminal that the file's name tells of. */
static bool write_report(const char *path)
{
	const char *size = path + strcspn(path, "0123456789");
	struct terminal terminal = {
		.columns = (unsigned int)strtoul(size, NULL, 10),
		.utf8 = strstr(path, ".utf8."),
		.colour = strstr(path, ".colour."),
	};
	struct file_out out;

	size += strspn(size, "0123456789");
	if (*size == 'x')
		terminal.rows = (unsigned int)strtoul(size + 1, NULL, 10);
	if (file_out_open(&out, path))
		bad("cannot be written", path);
	report_write(&page.profile, &page.meta, &out, &terminal);
	return file_out_close(&out);
}

int main(int argc, char **argv)
{
	bool failed = false;

	if (argc == 4 && !strcmp(argv[1], "make")) {
		make(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: page STACKS FILE...\n");
		return 2;
	}
	read_stacks(argv[1]);
	for (int i = 2; !failed && i < argc; i++) {
		const struct out_format *format = out_for_file(argv[i]);
		uint64_t begin = system_cpu_time();

		if (format && !strcmp(format->name, "report"))
			failed = write_report(argv[i]);
		else
			failed = !format || out_write(&page.profile,
						      &page.meta, format,
						      argv[i]);
		fprintf(stderr, "%s %.1f ms\n", argv[i],
			(double)(system_cpu_time() - begin) / 1e6);
	}
	free_all();
	return failed;
}
