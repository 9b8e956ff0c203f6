/* SPDX-License-Identifier: MIT */
/*
 * ranges: sets of address ranges that share memory.
 *
 * A process that forks gives its child all its mappings; and each change of a
 * mapping makes a new state, while samples of the old one are still to come.
 * So a set is a tree whose nodes are counted and shared: a change copies the
 * nodes on its path, and only if somebody else holds them.
 *
 *	parent ──> [c] <── child, after its fork
 *	           /  \
 *	        [a]    [e]		put(child, d): a new root c' with the
 *	                                old [a] and a new [e'] above [d]
 *
 * The tree is a treap: ordered by address from left to right, by random
 * priority from top to bottom, so its depth is a small multiple of the
 * logarithm of its size, whatever addresses others choose; that is why its
 * functions may call themselves.
 *
 * Source: Seidel and Aragon, Randomized search trees, 1996.
 */
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/random.h"
#include "proc/ranges.h"

struct ranges_node {
	struct range range;
	uint32_t left, right;	/* 0: none; nodes[0] is never used */
	uint32_t holders;	/* 0: free, and left is the next free one */
	uint32_t priority;
};

static uint32_t new_priority(struct ranges *ranges)
{
	while (!ranges->random)
		random_fill(&ranges->random, sizeof(ranges->random));
	ranges->random ^= ranges->random << 13;
	ranges->random ^= ranges->random >> 7;
	ranges->random ^= ranges->random << 17;
	return (uint32_t)(ranges->random >> 32);
}

static uint32_t new_node(struct ranges *ranges, const struct range *range)
{
	uint32_t at = ranges->free;

	if (at) {
		ranges->free = ranges->nodes[at].left;
	} else {
		if (!ranges->count)
			ranges->count = 1;
		ranges->nodes = memory_grow(ranges->nodes, &ranges->capacity,
					    ranges->count + 1,
					    sizeof(*ranges->nodes));
		at = (uint32_t)ranges->count++;
	}
	ranges->used++;
	ranges->nodes[at] = (struct ranges_node){
		.range = *range, .holders = 1,
		.priority = new_priority(ranges),
	};
	return at;
}

uint32_t ranges_keep(struct ranges *ranges, uint32_t root)
{
	if (root)
		ranges->nodes[root].holders++;
	return root;
}

void ranges_drop(struct ranges *ranges, uint32_t root)
{
	while (root && !--ranges->nodes[root].holders) {
		struct ranges_node *node = &ranges->nodes[root];
		uint32_t right = node->right;

		ranges_drop(ranges, node->left);
		node->left = ranges->free;
		ranges->free = root;
		ranges->used--;
		root = right;
	}
}

/* The node, or a copy of it, that nobody else holds. */
static uint32_t own(struct ranges *ranges, uint32_t at)
{
	struct ranges_node node = ranges->nodes[at];
	uint32_t copy;

	if (node.holders == 1)
		return at;
	ranges->nodes[at].holders--;
	ranges_keep(ranges, node.left);
	ranges_keep(ranges, node.right);
	copy = new_node(ranges, &node.range);
	node.holders = 1;
	ranges->nodes[copy] = node;
	return copy;
}

/* Ranges that start below `key`, and the others. */
static void split(struct ranges *ranges, uint32_t root, uint64_t key,
		  uint32_t *below, uint32_t *above)
{
	uint32_t half;

	if (!root) {
		*below = *above = 0;
		return;
	}
	root = own(ranges, root);
	if (ranges->nodes[root].range.start < key) {
		split(ranges, ranges->nodes[root].right, key, &half, above);
		ranges->nodes[root].right = half;
		*below = root;
	} else {
		split(ranges, ranges->nodes[root].left, key, below, &half);
		ranges->nodes[root].left = half;
		*above = root;
	}
}

/* All of `below` is below all of `above`. */
static uint32_t join(struct ranges *ranges, uint32_t below, uint32_t above)
{
	uint32_t rest;

	if (!below || !above)
		return below ? below : above;
	if (ranges->nodes[below].priority > ranges->nodes[above].priority) {
		below = own(ranges, below);
		rest = join(ranges, ranges->nodes[below].right, above);
		ranges->nodes[below].right = rest;
		return below;
	}
	above = own(ranges, above);
	rest = join(ranges, below, ranges->nodes[above].left);
	ranges->nodes[above].left = rest;
	return above;
}

/*
 * Cuts the last range of the set at `end`, if it reaches further.  What is cut
 * off goes to *rest; false: nothing was.
 */
static bool cut_last(struct ranges *ranges, uint32_t *root, uint64_t end,
		     struct range *rest)
{
	uint32_t last = *root;

	while (last && ranges->nodes[last].right)
		last = ranges->nodes[last].right;
	if (!last || ranges->nodes[last].range.end <= end)
		return false;
	*rest = ranges->nodes[last].range;
	rest->offset += end - rest->start;
	rest->start = end;
	last = *root = own(ranges, *root);
	while (ranges->nodes[last].right) {
		uint32_t next = own(ranges, ranges->nodes[last].right);

		ranges->nodes[last].right = next;
		last = next;
	}
	ranges->nodes[last].range.end = end;
	return true;
}

uint32_t ranges_put(struct ranges *ranges, uint32_t root,
		    const struct range *range)
{
	uint32_t below, middle, above;
	struct range rest;

	split(ranges, root, range->start, &below, &middle);
	split(ranges, middle, range->end, &middle, &above);
	/* What reaches over both ends is cut in three. */
	if (cut_last(ranges, &below, range->start, &rest) &&
	    rest.end > range->end) {
		rest.offset += range->end - rest.start;
		rest.start = range->end;
		above = join(ranges, new_node(ranges, &rest), above);
	} else if (cut_last(ranges, &middle, range->end, &rest)) {
		above = join(ranges, new_node(ranges, &rest), above);
	}
	ranges_drop(ranges, middle);
	middle = new_node(ranges, range);
	return join(ranges, join(ranges, below, middle), above);
}

uint32_t ranges_fill(struct ranges *ranges, uint32_t root,
		     const struct range *range)
{
	uint64_t from = range->start;

	while (from < range->end) {
		struct range piece = *range, there;

		piece.offset += from - piece.start;
		piece.start = from;
		if (!ranges_next(ranges, root, from, &there) ||
		    there.start >= range->end)
			return ranges_put(ranges, root, &piece);
		if (there.start > from) {
			piece.end = there.start;
			root = ranges_put(ranges, root, &piece);
		}
		from = there.end;
	}
	return root;
}

bool ranges_next(const struct ranges *ranges, uint32_t root, uint64_t address,
		 struct range *range)
{
	uint32_t best = 0;

	while (root) {
		const struct ranges_node *node = &ranges->nodes[root];

		if (node->range.end <= address) {
			root = node->right;
			continue;
		}
		best = root;
		root = node->left;
	}
	if (best)
		*range = ranges->nodes[best].range;
	return best != 0;
}

bool ranges_find(const struct ranges *ranges, uint32_t root, uint64_t address,
		 struct range *range)
{
	return ranges_next(ranges, root, address, range) &&
	       range->start <= address;
}

void ranges_files(const struct ranges *ranges,
		  void (*each)(void *context, uint32_t file), void *context)
{
	for (size_t i = 1; i < ranges->count; i++)
		if (ranges->nodes[i].holders)
			each(context, ranges->nodes[i].range.file);
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->nodes);
	*ranges = (struct ranges){ 0 };
}
