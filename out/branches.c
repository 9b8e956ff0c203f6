/* SPDX-License-Identifier: MIT */
/*
 * branches: prunes a call tree, and merges chains.
 *
 * Walked with a stack of its own, as trees are as deep as somebody made them.
 * What is seen adds up: a line's total is its self, what is below it, and what
 * was too small to be shown, which is less than the limit for each line.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "out/branches.h"

/* A child that may be shown. */
struct child {
	uint64_t total;
	const char *name;
	uint32_t node;
};

struct walk {
	struct branches *branches;
	const struct summary *summary;
	uint32_t *first, *next;		/* children by node; 0: none */
	uint64_t limit;			/* samples that are enough */
	size_t most;
	struct child *children;		/* of the node at hand */
	size_t child_count, child_capacity;
	struct branch *waiting;		/* lines to come, the next one last */
	size_t waiting_count, waiting_capacity;
};

static void link_children(struct walk *walk)
{
	const struct tree *tree = &walk->summary->tree;

	walk->first = memory_new(tree->node_count, sizeof(*walk->first));
	walk->next = memory_new(tree->node_count, sizeof(*walk->next));
	for (size_t i = tree->node_count; i-- > 1;) {
		uint32_t parent = tree->nodes[i].parent;

		walk->next[i] = walk->first[parent];
		walk->first[parent] = (uint32_t)i;
	}
}

static int cmp_child(const void *a, const void *b)
{
	const struct child *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* What is left out of the node's children, as one line. */
static struct branch look_at(struct walk *walk, uint32_t node)
{
	const struct summary *summary = walk->summary;
	const struct tree *tree = &summary->tree;
	struct branch rest = { 0 };

	walk->child_count = 0;
	for (uint32_t i = walk->first[node]; i; i = walk->next[i]) {
		uint64_t total = summary->total[i].now;

		if (total < walk->limit) {
			rest.total += total;
			rest.others += total > 0;
			continue;
		}
		walk->children = memory_grow(walk->children,
					     &walk->child_capacity,
					     walk->child_count + 1,
					     sizeof(*walk->children));
		walk->children[walk->child_count++] = (struct child){
			total, summary->profile->names.text[
				tree->labels[tree->nodes[i].label].name], i,
		};
	}
	if (walk->child_count)
		qsort(walk->children, walk->child_count,
		      sizeof(*walk->children), cmp_child);
	return rest;
}

static void wait(struct walk *walk, const struct branch *branch)
{
	walk->waiting = memory_grow(walk->waiting, &walk->waiting_capacity,
				    walk->waiting_count + 1, sizeof(*branch));
	walk->waiting[walk->waiting_count++] = *branch;
}

/* Lines for the children at hand wait, the last one below the others. */
static void wait_for_children(struct walk *walk, struct branch rest,
			      uint32_t level)
{
	bool last = true;

	/* Where nothing is shown, the total tells that there is more. */
	if (walk->child_count && rest.total >= walk->limit) {
		rest.level = level;
		rest.last = true;
		wait(walk, &rest);
		last = false;
	}
	for (size_t i = walk->child_count; i-- > 0;) {
		const struct child *child = &walk->children[i];

		wait(walk, &(struct branch){
			     .top = child->node, .level = level, .last = last,
			     .total = child->total,
		     });
		last = false;
	}
}

/* Goes down as long as there is one way, and leaves the next lines waiting. */
static void follow(struct walk *walk, struct branch *branch)
{
	const struct summary *summary = walk->summary;
	struct branch rest;

	branch->bottom = branch->top;
	branch->self = summary->self[branch->top].now;
	for (;;) {
		rest = look_at(walk, branch->bottom);
		if (walk->child_count != 1 || rest.total >= walk->limit ||
		    summary->self[branch->bottom].now >= walk->limit)
			break;
		branch->bottom = walk->children[0].node;
		branch->self += summary->self[branch->bottom].now;
	}
	wait_for_children(walk, rest, branch->level + 1);
}

/* False if it is more than fits. */
static bool list(struct walk *walk)
{
	struct branches *branches = walk->branches;

	branches->count = walk->waiting_count = 0;
	wait_for_children(walk, look_at(walk, 0), 0);
	while (walk->waiting_count) {
		struct branch branch = walk->waiting[--walk->waiting_count];

		if (branches->count == walk->most)
			return false;
		if (!branch.others)
			follow(walk, &branch);
		branches->branch = memory_grow(branches->branch,
					       &branches->capacity,
					       branches->count + 1,
					       sizeof(branch));
		branches->branch[branches->count++] = branch;
	}
	return true;
}

void branches_make(struct branches *branches, const struct summary *summary,
		   size_t most)
{
	static const double shares[] = {
		0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2,
		0.3, 0.5,
	};
	struct walk walk = {
		.branches = branches, .summary = summary, .most = most,
	};

	*branches = (struct branches){ 0 };
	link_children(&walk);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double limit = shares[i] * (double)summary->busy.now;

		branches->from = shares[i];
		walk.limit = (uint64_t)limit;
		if ((double)walk.limit < limit)
			walk.limit++;
		if (!walk.limit)
			walk.limit = 1;
		if (list(&walk))
			break;
	}
	free(walk.first);
	free(walk.next);
	free(walk.children);
	free(walk.waiting);
}

void branches_free(struct branches *branches)
{
	free(branches->branch);
	*branches = (struct branches){ 0 };
}
