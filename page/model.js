/* SPDX-License-Identifier: MIT */
/*
 * model.js: the profile that stands in the page, and trees made of it.
 *
 *	data ── read ──> base: the tree as it was recorded, a part per process
 *	base ── make_view ──> view: what is shown: filtered, maybe from the leaf,
 *	                      in order, with places
 *
 * Nothing here knows of the page around it.  The format is told in out/html.c.
 */
"use strict";

const USER = 0, UNNAMED = 1, KERNEL = 2, MODULE = 3, JIT = 4, NOTE = 5,
	THREAD = 6, IDLE = 7;
const kind_names = ["user", "user, no name", "kernel", "kernel module", "JIT",
	"note", "thread", "idle"];

const data = JSON.parse(document.getElementById("data").textContent);
const meta = data.meta;
/* Each part has a second number then: its samples before. */
const is_diff = !!meta.before;

/* Reads the numbers of `text`, one a call. */
function reader(text) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
		"0123456789+/";
	const value = new Uint8Array(128);
	let at = 0;

	for (let i = 0; i < 64; i++)
		value[digits.charCodeAt(i)] = i;
	return () => {
		let number = 0, scale = 1, digit;

		do {
			digit = value[text.charCodeAt(at++)];
			number += (digit & 31) * scale;
			scale *= 32;
		} while (digit > 31);
		return number;
	};
}

/* ------------------------------------------------------------------- labels */

/* Sorted: who comes first by name has the lower number. */
const names = data.names;
const kind_of = new Uint8Array(names.length);
const image_of = new Uint32Array(names.length);
/* For colours that stay from one profile to the next. */
const shade_of = new Uint8Array(names.length);

function read_labels() {
	const next = reader(data.labels);

	for (let i = 0; i < names.length; i++) {
		let hash = 0;

		kind_of[i] = next();
		image_of[i] = next();
		for (let j = 0; j < names[i].length; j++)
			hash = Math.imul(hash ^ names[i].charCodeAt(j), 0x01000193);
		shade_of[i] = (hash ^ hash >>> 15) & 7;
	}
}

/* The last part of an image's path. */
function image_name(label) {
	const path = data.images[image_of[label]];

	return path.slice(path.lastIndexOf("/") + 1) || path;
}

/* --------------------------------------------------------------------- base */

/* Nodes in order, parents first; parts in the order of their nodes. */
let base;

function read_nodes() {
	const text = data.nodes, next = reader(text);
	/* No node takes less than three digits, no part less than two. */
	const most = Math.floor(text.length / 3) + 1;
	const parent = new Int32Array(most), label = new Int32Array(most);
	const part_node = new Int32Array(text.length / 2 + 1);
	const part_process = new Int32Array(text.length / 2 + 1);
	const part_now = new Float64Array(text.length / 2 + 1);
	const part_before = new Float64Array(is_diff ? text.length / 2 + 1 : 0);
	const path = [0];
	let count = 1, parts = 0;
	const total = data.node_count;

	parent[0] = label[0] = -1;
	while (count < total) {
		path.length -= next();
		parent[count] = path[path.length - 1];
		path.push(count);
		label[count] = next();
		for (let n = next(); n > 0; n--) {
			part_node[parts] = count;
			part_process[parts] = next();
			part_now[parts] = next();
			if (is_diff)
				part_before[parts] = next();
			parts++;
		}
		count++;
	}
	base = { count, parent, label, parts, part_node, part_process, part_now,
		part_before };
}

read_labels();
read_nodes();

/* ------------------------------------------------------------------ weights */

/* Samples that end in each node of the base, of what the filter lets pass. */
function make_weights(filter) {
	const now = new Float64Array(base.count);
	const before = is_diff ? new Float64Array(base.count) : null;
	const idle = new Float64Array(base.count);

	for (let i = 0; i < base.parts; i++) {
		const process = data.processes[base.part_process[i]];
		const node = base.part_node[i];

		if ((filter.hide_idle && process[2]) ||
		    (filter.process && !filter.process(process)))
			continue;
		now[node] += base.part_now[i];
		if (is_diff)
			before[node] += base.part_before[i];
		if (process[2])
			idle[node] += base.part_now[i] +
				(is_diff ? base.part_before[i] : 0);
	}
	return { now, before, idle };
}

/* Adds up from the leaves: parents come first, so from the end. */
function add_up(parent, self, count) {
	const total = self.slice(0, count);

	for (let i = count - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

/* The tree that begins with the leaves: who calls them, and who calls those. */
function invert(weights) {
	let room = 1024, count = 1, mask = 4095;
	let parent = new Int32Array(room), label = new Int32Array(room);
	let slots = new Int32Array(mask + 1);
	const self = { now: [0], before: is_diff ? [0] : null, idle: [0] };

	const slot_of = (above, name) => {
		let i = (Math.imul(above, 0x9e3779b1) ^
			Math.imul(name, 0x85ebca6b)) >>> 7 & mask;

		while (slots[i] && (parent[slots[i]] !== above ||
				    label[slots[i]] !== name))
			i = i + 1 & mask;
		return i;
	};
	const grow = () => {
		const longer = (old) => {
			const more = new Int32Array(room);

			more.set(old);
			return more;
		};

		room *= 2;
		mask = 4 * room - 1;
		parent = longer(parent);
		label = longer(label);
		slots = new Int32Array(mask + 1);
		for (let i = 1; i < count; i++)
			slots[slot_of(parent[i], label[i])] = i;
	};
	const child_of = (above, name) => {
		const slot = slot_of(above, name);

		if (slots[slot])
			return slots[slot];
		parent[count] = above;
		label[count] = name;
		self.now.push(0);
		self.idle.push(0);
		if (is_diff)
			self.before.push(0);
		slots[slot] = count++;
		if (count === room)
			grow();
		return count - 1;
	};

	label[0] = parent[0] = -1;
	for (let i = 1; i < base.count; i++) {
		let node = 0;

		if (!weights.now[i] && !(is_diff && weights.before[i]))
			continue;
		for (let at = i; at > 0; at = base.parent[at])
			node = child_of(node, base.label[at]);
		/* Here "self" is where the walk ends: at the root. */
		self.now[node] += weights.now[i];
		self.idle[node] += weights.idle[i];
		if (is_diff)
			self.before[node] += weights.before[i];
	}
	return { count, parent, label, self: {
		now: Float64Array.from(self.now),
		before: is_diff ? Float64Array.from(self.before) : null,
		idle: Float64Array.from(self.idle) } };
}

/* --------------------------------------------------------------------- view */

/*
 * How wide each node is.  Of two profiles each counts as a whole, whatever the
 * number of its samples; "both" is the mean, in which all frames are seen.
 */
function make_widths(total, widths) {
	const { now, before } = total;

	if (!is_diff || widths === "now")
		return now;
	if (widths === "before")
		return before;
	return now.map((n, i) => (now[0] ? n / now[0] / 2 : 0) +
		(before[0] ? before[i] / before[0] / 2 : 0));
}

/* Lists of children, first to last, by name or the widest first. */
function link_children(tree, width, by_size) {
	const { count, parent, label } = tree;
	const child = new Int32Array(count), next = new Int32Array(count);
	const sorted = new Int32Array(count - 1);

	if (by_size) {
		for (let i = 1; i < count; i++)
			sorted[i - 1] = i;
		sorted.sort((a, b) => width[b] - width[a] ||
			label[a] - label[b]);
	} else {
		const from = new Int32Array(names.length + 1);

		for (let i = 1; i < count; i++)
			from[label[i] + 1]++;
		for (let i = 0; i < names.length; i++)
			from[i + 1] += from[i];
		for (let i = 1; i < count; i++)
			sorted[from[label[i]]++] = i;
	}
	/* From the last: each goes before those that are there. */
	for (let i = count - 2; i >= 0; i--) {
		const node = sorted[i];

		if (width[node] > 0) {
			next[node] = child[parent[node]];
			child[parent[node]] = node;
		}
	}
	return { child, next };
}

/*
 * Places all nodes: in the view they have new numbers, in the order in which
 * they are drawn.  level[d] are the nodes of depth d from left to right; end is
 * the number behind the last descendant.
 */
function make_view(weights, options) {
	const tree = options.inverted ? invert(weights) :
		{ count: base.count, parent: base.parent, label: base.label,
			self: weights };
	const total = {
		now: add_up(tree.parent, tree.self.now, tree.count),
		before: is_diff ? add_up(tree.parent, tree.self.before, tree.count) :
			null,
		idle: add_up(tree.parent, tree.self.idle, tree.count),
	};
	const width = make_widths(total, options.widths);
	const { child, next } = link_children(tree, width, options.by_size);
	const make = () => new Float64Array(tree.count);
	const view = { count: 0, label: new Int32Array(tree.count),
		parent: new Int32Array(tree.count),
		depth: new Int32Array(tree.count), end: new Int32Array(tree.count),
		deepest: new Int32Array(tree.count), x: make(), width: make(),
		now: make(), self: make(), before: is_diff ? make() : null,
		idle: new Uint8Array(tree.count), level: [], options };
	const place = new Int32Array(tree.count), left = [0];
	let at = 0, depth = 0;

	const put = () => {
		const i = view.count++;
		const all = total.now[at] + (is_diff ? total.before[at] : 0);

		place[at] = i;
		view.label[i] = at ? tree.label[at] : -1;
		view.parent[i] = at ? place[tree.parent[at]] : -1;
		view.depth[i] = view.deepest[i] = depth;
		view.x[i] = left[depth];
		view.width[i] = width[at];
		left[depth] += width[at];
		left[depth + 1] = view.x[i];
		view.now[i] = total.now[at];
		view.self[i] = tree.self.now[at];
		if (is_diff)
			view.before[i] = total.before[at];
		view.idle[i] = all > 0 && total.idle[at] === all ? 1 : 0;
		(view.level[depth] ??= []).push(i);
	};

	for (;;) {
		put();
		if (child[at]) {
			at = child[at];
			depth++;
			continue;
		}
		view.end[place[at]] = view.count;
		while (at && !next[at]) {
			at = tree.parent[at];
			depth--;
			view.end[place[at]] = view.count;
		}
		if (!at)
			break;
		at = next[at];
	}
	for (let i = view.count - 1; i > 0; i--) {
		const above = view.parent[i];

		view.deepest[above] = Math.max(view.deepest[above],
			view.deepest[i]);
	}
	return view;
}

/* What decides a node's colour. */
function kind_in(view, node) {
	return view.label[node] < 0 ? THREAD :
		view.idle[node] ? IDLE : kind_of[view.label[node]];
}

/* The nodes of a path of labels, as far as it is there: the last of them. */
function find_path(view, labels) {
	let node = 0;

	for (const label of labels) {
		let i = node + 1;

		while (i < view.end[node] && view.label[i] !== label)
			i = view.end[i];
		if (i >= view.end[node])
			break;
		node = i;
	}
	return node;
}

function path_of(view, node) {
	const labels = [];

	for (; node > 0; node = view.parent[node])
		labels.unshift(view.label[node]);
	return labels;
}

/* ---------------------------------------------------------------- functions */

/*
 * Self and total of each label.  A function that calls itself counts once: only
 * the outermost of its nodes on a path does.
 */
function make_functions(weights) {
	const sums = (self) => {
		const total = add_up(base.parent, self, base.count);
		const of_self = new Float64Array(names.length);
		const of_all = new Float64Array(names.length);
		const open = new Int32Array(names.length);
		const path = [];

		for (let i = 1; i < base.count; i++) {
			const label = base.label[i];

			while (path.length &&
			       path[path.length - 1] !== base.parent[i])
				open[base.label[path.pop()]]--;
			if (!open[label]++)
				of_all[label] += total[i];
			of_self[label] += self[i];
			path.push(i);
		}
		return { self: of_self, total: of_all, all: total[0] };
	};

	return { now: sums(weights.now),
		before: is_diff ? sums(weights.before) : null };
}

/* How much of the view is in nodes that are marked, nested ones once. */
function matched_in(view, marked, values) {
	let sum = 0;

	for (let i = 1; i < view.count;) {
		if (marked[view.label[i]]) {
			sum += values[i];
			i = view.end[i];
		} else {
			i++;
		}
	}
	return sum;
}

/* ------------------------------------------------------------------ exports */

function folded_name(label) {
	const kind = kind_of[label];

	return names[label] + (kind === KERNEL || kind === MODULE ? "_[k]" : "");
}

/* Folded lines of what the filter lets pass; of two profiles, both counts. */
function make_folded(weights) {
	const lines = [], path = [];

	for (let i = 1; i < base.count; i++) {
		while (path.length && path[path.length - 1][0] !== base.parent[i])
			path.pop();
		path.push([i, (path.length ? path[path.length - 1][1] + ";" : "") +
			folded_name(base.label[i])]);
		if (is_diff && (weights.before[i] || weights.now[i]))
			lines.push(path[path.length - 1][1] + " " +
				weights.before[i] + " " + weights.now[i] + "\n");
		else if (weights.now[i])
			lines.push(path[path.length - 1][1] + " " +
				weights.now[i] + "\n");
	}
	return lines.join("");
}
