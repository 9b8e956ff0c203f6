/* SPDX-License-Identifier: MIT */
/*
 * html: the page of page/flame.html with the profile in it.
 *
 *	page_head   ...<script type="application/json" id="data">
 *	            {"format":1,
 *	             "meta":{...},               what the head of the page tells
 *	             "images":["libc.so.6",...], as labels number them
 *	             "names":["main",...],       of labels, sorted
 *	             "labels":"ABAB...",         numbers: per label kind, image
 *	             "processes":[[pid,"name",idle],...],
 *	             "node_count":5,
 *	             "nodes":"AAACEB..."}        numbers, as below
 *	page_tail   </script>...
 *
 * Nodes come as a picture is drawn, each before its children; of each, in
 * numbers: by how many levels it is higher than a child of the node before, its
 * label, the number of its parts, and of each part the process and how many
 * samples end there.  A number is base64's digits, five bits each, lowest
 * first; the sixth bit says that more follow: 1 is B, 31 f, 32 gB.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "lib/text.h"
#include "lib/unpack.h"
#include "out/html.h"
#include "out/json.h"
#include "out/tree.h"

/* page/embed.S: what the build made of page/, packed or not */
extern const char page_head[], page_tail[];
extern const uint64_t page_head_size, page_tail_size;

/* A process, or the idle task while it was idle. */
struct process {
	struct process_key {
		uint32_t tgid;
		uint32_t comm;		/* if the number is not known */
		uint32_t idle;
	} key;
	uint32_t comm;			/* of most of its samples */
	uint64_t samples, best;
	uint32_t number;		/* before sorting */
};

/* Samples of one process that end in one node. */
struct part {
	uint32_t node, process;
	uint64_t samples, before;
};

struct page {
	const struct profile *profile;
	const struct meta *meta;
	struct file_out *out;
	struct tree tree;
	struct process *processes;
	struct part *parts;
	size_t process_count, process_capacity, part_count;
	struct index process_index;
};

static void put(struct page *page, const char *text)
{
	file_out_write(page->out, text, strlen(text));
}

static void put_number(struct page *page, uint64_t number)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[16];
	size_t length = 0;

	for (; number >= 32; number >>= 5)
		text[length++] = digits[32 | (number & 31)];
	text[length++] = digits[number];
	file_out_write(page->out, text, length);
}

/* ---------------------------------------------------------------- processes */

static bool process_equal(const void *array, uint32_t position,
			  const void *wanted)
{
	return !memcmp(&((const struct process *)array)[position].key, wanted,
		       sizeof(struct process_key));
}

static uint32_t add_process(struct page *page, const struct process_key *key)
{
	uint64_t hash = index_hash(key, sizeof(*key));
	uint32_t position = index_find(&page->process_index, hash,
				       process_equal, page->processes, key);

	if (position != INDEX_NONE)
		return position;
	page->processes = memory_grow(page->processes, &page->process_capacity,
				      page->process_count + 1,
				      sizeof(*page->processes));
	position = (uint32_t)page->process_count++;
	page->processes[position] = (struct process){
		.key = *key, .number = position,
	};
	index_add(&page->process_index, hash, position);
	return position;
}

/* Which process each task is of, idle or not: [2 * task + idle]. */
static uint32_t *find_processes(struct page *page)
{
	const struct profile *profile = page->profile;
	uint64_t *samples = memory_new(2 * profile->task_count,
				       sizeof(*samples));
	uint32_t *process_of = memory_new(2 * profile->task_count,
					  sizeof(*process_of));

	for (size_t i = 0; i < profile->stack_count; i++)
		samples[2 * profile->stacks[i].task +
			(profile->stacks[i].mode == MODE_IDLE)] +=
			profile->stacks[i].samples +
			profile->stacks[i].before;
	for (size_t i = 0; i < 2 * profile->task_count; i++) {
		const struct profile_task *task = &profile->tasks[i / 2];
		struct process *process;

		if (!samples[i])
			continue;
		process_of[i] = add_process(page, &(struct process_key){
			task->tgid, task->tgid ? 0 : task->comm, i & 1,
		});
		process = &page->processes[process_of[i]];
		process->samples += samples[i];
		if (samples[i] > process->best) {
			process->best = samples[i];
			process->comm = task->comm;
		}
	}
	free(samples);
	return process_of;
}

static int cmp_process(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->key.tgid != y->key.tgid)
		return x->key.tgid > y->key.tgid ? 1 : -1;
	return x->number > y->number ? 1 : x->number < y->number ? -1 : 0;
}

/* The busiest first, so that their numbers are short. */
static void sort_processes(struct page *page, uint32_t *process_of)
{
	uint32_t *now = memory_new(page->process_count, sizeof(*now));

	if (page->process_count)
		qsort(page->processes, page->process_count,
		      sizeof(*page->processes), cmp_process);
	for (size_t i = 0; i < page->process_count; i++)
		now[page->processes[i].number] = (uint32_t)i;
	for (size_t i = 0; i < 2 * page->profile->task_count; i++)
		if (page->process_count)
			process_of[i] = now[process_of[i]];
	free(now);
}

/* -------------------------------------------------------------------- parts */

/* Sorts by node or by process: by counting, which keeps the order of equals. */
static void sort_parts(struct page *page, bool by_node)
{
	size_t keys = by_node ? page->tree.node_count : page->process_count;
	size_t *from = memory_new(keys + 1, sizeof(*from));
	struct part *sorted = memory_new(page->part_count, sizeof(*sorted));

	for (size_t i = 0; i < page->part_count; i++)
		from[(by_node ? page->parts[i].node :
				page->parts[i].process) + 1]++;
	for (size_t i = 0; i < keys; i++)
		from[i + 1] += from[i];
	for (size_t i = 0; i < page->part_count; i++)
		sorted[from[by_node ? page->parts[i].node :
				      page->parts[i].process]++] =
			page->parts[i];
	free(page->parts);
	free(from);
	page->parts = sorted;
}

/* Who was seen where, by node, each process once. */
static void make_parts(struct page *page)
{
	const struct profile *profile = page->profile;
	uint32_t *process_of = find_processes(page);
	size_t count = 0;

	sort_processes(page, process_of);
	page->parts = memory_new(profile->stack_count, sizeof(*page->parts));
	page->part_count = profile->stack_count;
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		page->parts[i] = (struct part){
			page->tree.leaf_of[i],
			process_of[2 * stack->task +
				   (stack->mode == MODE_IDLE)],
			stack->samples, stack->before,
		};
	}
	free(process_of);
	sort_parts(page, false);
	sort_parts(page, true);
	for (size_t i = 0; i < page->part_count; i++) {
		struct part *part = &page->parts[i];
		struct part *last = count ? &page->parts[count - 1] : NULL;

		if (last && last->node == part->node &&
		    last->process == part->process) {
			last->samples += part->samples;
			last->before += part->before;
		} else {
			page->parts[count++] = *part;
		}
	}
	page->part_count = count;
}

/* ------------------------------------------------------------------ writing */

/* Images that labels have, each once, and the number of each. */
static uint32_t *put_images(struct page *page)
{
	const struct profile *profile = page->profile;
	uint32_t *number = memory_new(profile->image_count, sizeof(*number));
	uint32_t count = 0;

	put(page, "\"images\":[\"\"");
	for (size_t i = 0; i < page->tree.label_count; i++) {
		uint32_t image = page->tree.labels[i].image;

		if (image == IMAGE_NONE || number[image])
			continue;
		number[image] = ++count;
		put(page, ",");
		json_string(page->out, profile->names.text[
			profile->images[image].path]);
	}
	put(page, "],\n");
	return number;
}

static void put_labels(struct page *page)
{
	const struct tree *tree = &page->tree;
	uint32_t *image = put_images(page);

	put(page, "\"names\":[");
	for (size_t i = 0; i < tree->label_count; i++) {
		put(page, i ? "," : "");
		json_string(page->out, page->profile->names.text[
			tree->labels[i].name]);
	}
	put(page, "],\n\"labels\":\"");
	for (size_t i = 0; i < tree->label_count; i++) {
		put_number(page, tree->labels[i].kind);
		put_number(page, image[tree->labels[i].image]);
	}
	put(page, "\",\n");
	free(image);
}

static void put_processes(struct page *page)
{
	put(page, "\"processes\":[");
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *process = &page->processes[i];
		char text[32];

		snprintf(text, sizeof(text), "%s[%" PRIu32 ",", i ? "," : "",
			 process->key.tgid);
		put(page, text);
		json_string(page->out,
			    page->profile->names.text[process->comm]);
		put(page, process->key.idle ? ",1]" : ",0]");
	}
	put(page, "],\n");
}

static void put_nodes(struct page *page)
{
	const struct part *part = page->parts;
	const struct part *end = page->parts + page->part_count;
	uint32_t depth = 0;

	put(page, "\"nodes\":\"");
	for (size_t i = 1; i < page->tree.node_count; i++) {
		const struct tree_node *node = &page->tree.nodes[i];
		size_t parts = 0;

		put_number(page, depth + 1 - node->depth);
		put_number(page, node->label);
		while (part + parts < end && part[parts].node == i)
			parts++;
		put_number(page, parts);
		for (; parts; parts--, part++) {
			put_number(page, part->process);
			put_number(page, part->samples);
			if (page->meta->before)
				put_number(page, part->before);
		}
		depth = node->depth;
	}
	put(page, "\"");
}

/* --------------------------------------------------------------------- meta */

static void put_text(struct page *page, const char *name, const char *text)
{
	if (!text)
		return;
	put(page, "\"");
	put(page, name);
	put(page, "\":");
	json_string(page->out, text);
	put(page, ",");
}

static void put_value(struct page *page, const char *name, int64_t value)
{
	char text[64];

	snprintf(text, sizeof(text), "\"%s\":%" PRId64 ",", name, value);
	put(page, text);
}

/* Of the run, or of the one that it is compared with. */
static void put_run(struct page *page, const struct meta *meta, uint64_t total)
{
	put_text(page, "program", meta->program);
	put_text(page, "command", meta->command);
	put_text(page, "host", meta->host);
	put_text(page, "kernel", meta->kernel);
	put_text(page, "source", meta->source);
	put_text(page, "event", meta->event);
	put_text(page, "type", meta->type);
	put_text(page, "unit", meta->unit);
	put_value(page, "cpus", (int64_t)meta->cpus);
	put_value(page, "clock", meta->clock);
	put_value(page, "hz", (int64_t)meta->hz);
	put_value(page, "period", (int64_t)meta->period);
	put_value(page, "time_ms", (int64_t)(meta->time / 1000000));
	put_value(page, "duration_ms", (int64_t)(meta->duration / 1000000));
	put_value(page, "total", (int64_t)total);
}

static void put_modes(struct page *page)
{
	static const char *const modes[MODE_COUNT] = {
		"user", "kernel", "idle", "softirq", "unknown",
	};
	char text[48];

	put(page, "\"modes\":[");
	for (size_t i = 0; i < MODE_COUNT; i++) {
		snprintf(text, sizeof(text), "%s[\"%s\",%" PRIu64 "]",
			 i ? "," : "", modes[i], page->profile->by_mode[i]);
		put(page, text);
	}
	put(page, "],");
}

static void put_lines(struct page *page)
{
	const struct meta *meta = page->meta;

	put(page, "\"lines\":[");
	for (size_t i = 0; i < meta->line_count; i++) {
		put(page, i ? "," : "");
		put(page, meta->lines[i].kind == META_NOTE ? "[\"note\"," :
		    meta->lines[i].kind == META_WARNING ? "[\"warning\"," :
							  "[\"advice\",");
		json_string(page->out, meta->lines[i].text);
		put(page, "]");
	}
	put(page, "]");
}

static void put_meta(struct page *page)
{
	const struct profile *profile = page->profile;
	const struct meta *meta = page->meta;

	put(page, "\"meta\":{");
	put_run(page, meta, profile->total);
	put_modes(page);
	if (meta->balanced) {
		put_value(page, "sampled", (int64_t)meta->sampled);
		put_value(page, "filtered", (int64_t)profile->filtered);
		put_value(page, "lost", (int64_t)meta->lost);
	}
	if (meta->balanced && meta->foreseen) {
		put_value(page, "expected", (int64_t)meta->expected);
		put_value(page, "unaccounted", meta->unaccounted);
	}
	if (meta->before) {
		put(page, "\"before\":{");
		put_run(page, meta->before, profile->total_before);
		put(page, "\"lines\":[]},");
	}
	put_lines(page);
	put(page, "},\n");
}

/* A part of the page.  A gzip file begins with bytes that no text begins with. */
static void put_part(struct page *page, const char *data, uint64_t size)
{
	struct bytes packed = { (const uint8_t *)data, (size_t)size };
	uint8_t *text;
	size_t length;
	int error;

	if (data[0] != 0x1f) {
		file_out_write(page->out, data, (size_t)size);
		return;
	}
	error = unpack_gzip(packed, 1 << 20, &text, &length);
	if (!error)
		file_out_write(page->out, (const char *)text, length);
	else if (!page->out->error)
		page->out->error = error;
	free(text);
}

void out_html(const struct profile *profile, const struct meta *meta,
	      struct file_out *out)
{
	struct page page = { .profile = profile, .meta = meta, .out = out };
	char text[48];

	tree_build(&page.tree, profile, false);
	make_parts(&page);
	put_part(&page, page_head, page_head_size);
	put(&page, "{\"format\":1,\n");
	put_meta(&page);
	put_labels(&page);
	put_processes(&page);
	snprintf(text, sizeof(text), "\"node_count\":%zu,\n",
		 page.tree.node_count);
	put(&page, text);
	put_nodes(&page);
	put(&page, "}\n");
	put_part(&page, page_tail, page_tail_size);
	free(page.processes);
	free(page.parts);
	index_free(&page.process_index);
	tree_free(&page.tree);
}
