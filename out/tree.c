/* SPDX-License-Identifier: MIT */
/*
 * tree: merges stacks that begin alike.
 *
 *	stacks ── grow ──> nodes in order of arrival, found by (parent, label)
 *	       ── link ──> children in order of their names
 *	       ── place ─> nodes in the order in which a picture is drawn
 *
 * Nothing here is recursive: how deep stacks are is for others to say.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "out/tree.h"

enum { WALK_MOST = 128 };

/* A node while the tree grows. */
struct growing {
	uint32_t parent, label;
	uint32_t child, next;	/* links; 0: none, as nobody's child is all */
};

struct growth {
	const struct profile *profile;
	struct tree *tree;
	struct growing *nodes;
	size_t count, capacity, label_capacity;
	struct index label_index;
	struct names files;	/* beginnings of names, see file_name() */
	uint32_t *file_names;	/* a name that begins so */
	size_t file_capacity;
	bool by_file;
	/* From parent and label to the node: open addressing, powers of 2. */
	struct slot {
		uint64_t key;
		uint32_t node;	/* 0 marks a free slot */
	} *slots;
	size_t slot_count;
	uint64_t odd;		/* what slots are chosen by */
};

/* ------------------------------------------------------------------- labels */

static bool label_equal(const void *array, uint32_t position,
			const void *wanted)
{
	return !memcmp((const struct tree_label *)array + position, wanted,
		       sizeof(struct tree_label));
}

static uint32_t add_label(struct growth *growth, uint32_t name, uint32_t image,
			  enum tree_kind kind)
{
	struct tree *tree = growth->tree;
	struct tree_label label = {
		.name = name, .image = image, .kind = kind,
	};
	uint64_t hash = index_hash(&label, sizeof(label));
	uint32_t position = index_find(&growth->label_index, hash, label_equal,
				       tree->labels, &label);

	if (position != INDEX_NONE)
		return position;
	tree->labels = memory_grow(tree->labels, &growth->label_capacity,
				   tree->label_count + 1, sizeof(label));
	tree->labels[tree->label_count] = label;
	index_add(&growth->label_index, hash, (uint32_t)tree->label_count);
	return (uint32_t)tree->label_count++;
}

enum tree_kind tree_kind_of(const struct profile *profile,
			    const struct profile_frame *frame)
{
	const char *name = profile->names.text[frame->name];
	const char *image =
		profile->names.text[profile->images[frame->image].name];

	switch (frame->kind) {
	case FRAME_KERNEL:
		return !*image || !strcmp(image, "[kernel]") ? TREE_KERNEL :
							       TREE_MODULE;
	case FRAME_JIT:
		return TREE_JIT;
	case FRAME_NOTE:
		return TREE_NOTE;
	default:
		return *name == '[' ? TREE_UNNAMED : TREE_USER;
	}
}

size_t tree_file_length(const char *name)
{
	const char *plus = strrchr(name, '+');

	if (*name == '[' && plus && plus[1] == '0' && plus[2] == 'x')
		return (size_t)(plus - name);
	return !strncmp(name, "[0x", 3) ? 3 : 0;
}

/* One name for all that begin like this one: the first of them. */
static uint32_t file_name(struct growth *growth, uint32_t name)
{
	const char *text = growth->profile->names.text[name];
	size_t length = tree_file_length(text), known = growth->files.count;
	uint32_t file;

	if (!length)
		return name;
	file = names_add_part(&growth->files, text, length);
	growth->file_names = memory_grow(growth->file_names,
					 &growth->file_capacity,
					 growth->files.count,
					 sizeof(*growth->file_names));
	if (growth->files.count > known)
		growth->file_names[file] = name;
	return growth->file_names[file];
}

static uint32_t label_of_frame(struct growth *growth,
			       const struct profile_frame *frame)
{
	enum tree_kind kind = tree_kind_of(growth->profile, frame);

	return add_label(growth, growth->by_file && kind == TREE_UNNAMED ?
			 file_name(growth, frame->name) : frame->name,
			 frame->image, kind);
}

/* ------------------------------------------------------------------ growing */

/* Nobody who names functions knows `odd`, or what number a name will have. */
static size_t slot_of(const struct growth *growth, uint64_t key)
{
	size_t i = (key * growth->odd >> 32) & (growth->slot_count - 1);

	while (growth->slots[i].node && growth->slots[i].key != key)
		i = (i + 1) & (growth->slot_count - 1);
	return i;
}

static void grow_slots(struct growth *growth)
{
	struct slot *old = growth->slots;
	size_t old_count = growth->slot_count;

	growth->slot_count = old_count ? old_count * 4 : 16384;
	growth->slots = memory_new(growth->slot_count, sizeof(*growth->slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i].node)
			growth->slots[slot_of(growth, old[i].key)] = old[i];
	free(old);
}

static uint32_t add_node(struct growth *growth, uint32_t parent, uint32_t label)
{
	growth->nodes = memory_grow(growth->nodes, &growth->capacity,
				    growth->count + 1, sizeof(*growth->nodes));
	growth->nodes[growth->count] = (struct growing){
		.parent = parent, .label = label,
	};
	return (uint32_t)growth->count++;
}

static uint32_t child_of(struct growth *growth, uint32_t parent, uint32_t label)
{
	uint64_t key = (uint64_t)parent << 32 | label;
	size_t slot;

	if (2 * (growth->count + 1) > growth->slot_count)
		grow_slots(growth);
	slot = slot_of(growth, key);
	if (!growth->slots[slot].node) {
		growth->slots[slot].key = key;
		growth->slots[slot].node = add_node(growth, parent, label);
	}
	return growth->slots[slot].node;
}

/* The walk of the stack before: most stacks begin as another one does. */
struct walk {
	uint32_t labels[WALK_MOST], nodes[WALK_MOST];
	size_t depth;
};

static uint32_t step(struct growth *growth, struct walk *walk, size_t depth,
		     uint32_t parent, uint32_t label)
{
	if (depth < walk->depth && walk->labels[depth] == label)
		return walk->nodes[depth];
	if (depth < WALK_MOST) {
		walk->labels[depth] = label;
		walk->nodes[depth] = child_of(growth, parent, label);
		walk->depth = depth + 1;
		return walk->nodes[depth];
	}
	return child_of(growth, parent, label);
}

static void grow(struct growth *growth)
{
	const struct profile *profile = growth->profile;
	struct walk walk = { .depth = 0 };
	uint32_t *frame_label = memory_new(profile->frame_count,
					   sizeof(*frame_label));
	uint32_t *task_label = memory_new(profile->task_count,
					  sizeof(*task_label));

	for (size_t i = 0; i < profile->task_count; i++)
		task_label[i] = add_label(growth, profile->tasks[i].comm,
					  IMAGE_NONE, TREE_THREAD);
	for (size_t i = 0; i < profile->frame_count; i++)
		frame_label[i] = label_of_frame(growth, &profile->frames[i]);
	add_node(growth, 0, 0);
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		const uint32_t *ids = profile->frame_ids + stack->frames;
		uint32_t node = step(growth, &walk, 0, 0,
				     task_label[stack->task]);

		for (size_t j = 0; j < stack->depth; j++)
			node = step(growth, &walk, j + 1, node,
				    frame_label[ids[j]]);
		growth->tree->leaf_of[i] = node;
	}
	free(task_label);
	free(frame_label);
}

/* ------------------------------------------------------------------ sorting */

struct named {
	struct tree_label label;
	uint64_t head;		/* the first bytes of its name */
	const char *name, *image;
	uint32_t before;	/* its number before it was sorted */
};

static int cmp_named(const struct named *x, const struct named *y)
{
	int order;

	if (x->head != y->head)
		return x->head > y->head ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (!order && x->label.kind != y->label.kind)
		order = x->label.kind > y->label.kind ? 1 : -1;
	if (!order)
		order = strcmp(x->image, y->image);
	/* Images of one name, but of different paths: any order will do. */
	if (!order)
		order = x->label.image > y->label.image ? 1 :
			x->label.image < y->label.image ? -1 : 0;
	return order;
}

/*
 * Merges runs of 1, 2, 4...: half of the comparisons that qsort(3) of some libcs
 * makes, and these are what takes the time.
 */
static void sort_named(struct named **all, size_t count)
{
	struct named *from = *all, *to = memory_new(count, sizeof(*to)), *swap;

	for (size_t run = 1; run < count; run *= 2) {
		for (size_t begin = 0; begin < count; begin += 2 * run) {
			size_t middle = begin + run < count ? begin + run :
							      count;
			size_t end = middle + run < count ? middle + run :
							    count;
			size_t a = begin, b = middle;

			for (size_t i = begin; i < end; i++)
				to[i] = b == end || (a < middle &&
						     cmp_named(&from[a],
							       &from[b]) <= 0) ?
					from[a++] : from[b++];
		}
		swap = from;
		from = to;
		to = swap;
	}
	*all = from;
	free(to);
}

/* Eight bytes as a number that compares as they do. */
static uint64_t head_of(const char *name)
{
	uint64_t head = 0;

	for (int i = 0; i < 8; i++)
		head = head << 8 | (*name ? (unsigned char)*name++ : 0);
	return head;
}

static void sort_labels(struct growth *growth)
{
	const struct profile *profile = growth->profile;
	struct tree *tree = growth->tree;
	struct named *all = memory_new(tree->label_count, sizeof(*all));
	uint32_t *now = memory_new(tree->label_count, sizeof(*now));

	for (size_t i = 0; i < tree->label_count; i++) {
		const struct tree_label *label = &tree->labels[i];

		all[i].label = *label;
		all[i].name = profile->names.text[label->name];
		all[i].image = profile->names.text[
			profile->images[label->image].path];
		all[i].head = head_of(all[i].name);
		all[i].before = (uint32_t)i;
	}
	sort_named(&all, tree->label_count);
	for (size_t i = 0; i < tree->label_count; i++) {
		tree->labels[i] = all[i].label;
		now[all[i].before] = (uint32_t)i;
	}
	for (size_t i = 1; i < growth->count; i++)
		growth->nodes[i].label = now[growth->nodes[i].label];
	free(now);
	free(all);
}

/*
 * Puts each node before its siblings, last label first: then all lists of
 * children are in order.  The nodes of a label are found by counting.
 */
static void link_children(struct growth *growth)
{
	size_t labels = growth->tree->label_count;
	size_t *from = memory_new(labels + 1, sizeof(*from));
	uint32_t *sorted = memory_new(growth->count, sizeof(*sorted));

	for (size_t i = 1; i < growth->count; i++)
		from[growth->nodes[i].label + 1]++;
	for (size_t i = 0; i < labels; i++)
		from[i + 1] += from[i];
	for (size_t i = 1; i < growth->count; i++)
		sorted[from[growth->nodes[i].label]++] = (uint32_t)i;
	for (size_t i = growth->count - 1; i-- > 0;) {
		struct growing *node = &growth->nodes[sorted[i]];
		struct growing *parent = &growth->nodes[node->parent];

		node->next = parent->child;
		parent->child = sorted[i];
	}
	free(sorted);
	free(from);
}

/* ------------------------------------------------------------------ placing */

/* Walks from the root, down, along and up; *place is what a node became. */
static void place(const struct growth *growth, uint32_t *place)
{
	struct tree *tree = growth->tree;
	const struct growing *nodes = growth->nodes;
	uint32_t at = 0, depth = 0;

	for (;;) {
		tree->nodes[tree->node_count] = (struct tree_node){
			.label = nodes[at].label, .depth = depth,
			.parent = place[nodes[at].parent],
		};
		place[at] = (uint32_t)tree->node_count++;
		if (nodes[at].child) {
			at = nodes[at].child;
			depth++;
			continue;
		}
		while (at && !nodes[at].next) {
			at = nodes[at].parent;
			depth--;
		}
		if (!at)
			return;
		at = nodes[at].next;
	}
}

static void count(struct tree *tree, const struct profile *profile)
{
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		tree->nodes[tree->leaf_of[i]].self += stack->samples;
		if (stack->mode == MODE_IDLE)
			tree->nodes[tree->leaf_of[i]].idle += stack->samples;
	}
	for (size_t i = tree->node_count; i-- > 0;) {
		struct tree_node *node = &tree->nodes[i];

		node->samples += node->self;
		if (!i)
			break;
		tree->nodes[node->parent].samples += node->samples;
		tree->nodes[node->parent].idle += node->idle;
	}
}

void tree_build(struct tree *tree, const struct profile *profile, bool by_file)
{
	struct growth growth = {
		.profile = profile, .tree = tree, .by_file = by_file,
	};
	uint64_t seed = 0;
	uint32_t *placed;

	*tree = (struct tree){ 0 };
	growth.odd = index_hash(&seed, sizeof(seed)) | 1;
	tree->leaf_of = memory_new(profile->stack_count,
				   sizeof(*tree->leaf_of));
	grow(&growth);
	sort_labels(&growth);
	link_children(&growth);
	placed = memory_new(growth.count, sizeof(*placed));
	tree->nodes = memory_new(growth.count, sizeof(*tree->nodes));
	place(&growth, placed);
	for (size_t i = 0; i < profile->stack_count; i++)
		tree->leaf_of[i] = placed[tree->leaf_of[i]];
	count(tree, profile);
	free(placed);
	free(growth.slots);
	free(growth.nodes);
	index_free(&growth.label_index);
	names_free(&growth.files);
	free(growth.file_names);
}

void tree_free(struct tree *tree)
{
	free(tree->labels);
	free(tree->nodes);
	free(tree->leaf_of);
	*tree = (struct tree){ 0 };
}
