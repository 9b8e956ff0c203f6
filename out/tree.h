/* SPDX-License-Identifier: MIT */
#ifndef OUT_TREE_H
#define OUT_TREE_H

#include "profile.h"

/*
 * The profile as a tree, for pictures: stacks that begin alike share what they
 * begin with.
 *
 *	all                    nodes[0]
 *	├─ gcc                 the name of the thread
 *	│  ├─ main             samples: of the node and of all below it
 *	│  │  └─ read          self: of stacks that end here
 *	└─ ...                 children by name
 */

/* What a node is, and with that its colour. */
enum tree_kind {
	TREE_USER,
	TREE_UNNAMED,	/* user code of which only file and offset are known */
	TREE_KERNEL,
	TREE_MODULE,	/* of the kernel */
	TREE_JIT,
	TREE_NOTE,
	TREE_THREAD,	/* not code: the name that the stack begins with */
	TREE_KINDS,
};

/* What nodes show; each once.  Frames at other addresses are no others here. */
struct tree_label {
	uint32_t name;		/* in profile->names */
	uint32_t image;		/* in profile->images */
	enum tree_kind kind;
	uint32_t unused;	/* zero: labels are compared as bytes */
};

struct tree_node {
	uint32_t label, depth;	/* in tree->labels; 0 is the root's depth */
	uint32_t parent;	/* in tree->nodes, before its children */
	uint32_t unused;
	uint64_t samples, self;
	uint64_t idle;		/* of the samples: of the idle task, idle */
};

struct tree {
	struct tree_label *labels;	/* sorted by name */
	struct tree_node *nodes;	/* each before its children; [0]: all,
					   whose label means nothing */
	uint32_t *leaf_of;	/* per stack of the profile: its node */
	size_t label_count, node_count;
};

/*
 * tree_free() is owed.  `by_file`: user code without names is one label for each
 * file, whose name is that of any of them: see tree_file_length().
 */
void tree_build(struct tree *tree, const struct profile *profile, bool by_file);
void tree_free(struct tree *tree);

/* What a frame is as a node. */
enum tree_kind tree_kind_of(const struct profile *profile,
			    const struct profile_frame *frame);

/*
 * Of "[libc.so.6+0x1234]" the length of what names the file, "[libc.so.6", and of
 * an address without a file that of "[0x"; else 0.
 */
size_t tree_file_length(const char *name);

#endif
