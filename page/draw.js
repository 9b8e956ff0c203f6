/* SPDX-License-Identifier: MIT */
/*
 * draw.js: a view as a picture: on a canvas, or as SVG.
 *
 *	              zoom
 *	┌──────────────┴──────────────┐  above the zoomed node: its ancestors, as
 *	│ all                         │  wide as the picture, pale
 *	│ main                        │
 *	├───────────┬──────┬──┬┬┬┬────┤  below: x and width of each node, scaled;
 *	│ read      │ work │…    grey │  those below a pixel as one grey strip
 *	└───────────┴──────┴──────────┘
 *
 * A row is ROW pixels; as flames the root is the lowest row.
 */
"use strict";

const ROW = 19, FONT_SIZE = 12, PAD = 5;
const FONT = FONT_SIZE + "px ui-monospace, SFMono-Regular, Menlo, Consolas, " +
	'"DejaVu Sans Mono", "Liberation Mono", monospace';

/*
 * Hue, saturation and lightness by kind.  Lightness differs as well as hue, so
 * that nobody needs the one to tell the other; all take the theme's text at a
 * contrast of 4.5 or more, pale ones too.
 */
const themes = {
	light: {
		kinds: [[12, 82, 74], [22, 36, 82], [40, 92, 67], [58, 62, 64],
			[146, 46, 68], [0, 0, 84], [222, 34, 86], [212, 18, 89]],
		match: [288, 72, 78], text: "#1f1b16", dim_text: "#5c564e",
		paper: "#ffffff", small: "#d8d3cb", small_light: 92, ring: "#1d4ed8",
		hover: "rgba(0,0,0,.55)", more: [16, 88], less: [212, 84],
		none: [40, 10, 90], spread: 3, strength: [92, 66],
		pale: "rgba(255,255,255,.72)",
	},
	dark: {
		kinds: [[9, 54, 40], [20, 17, 33], [36, 64, 29], [56, 46, 26],
			[148, 38, 29], [0, 0, 30], [222, 20, 31], [212, 12, 24]],
		match: [288, 46, 42], text: "#f6f3ee", dim_text: "#aaa39a",
		paper: "#16171b", small: "#2e3036", small_light: 18, ring: "#8ab4ff",
		hover: "rgba(255,255,255,.75)", more: [16, 70], less: [212, 60],
		none: [40, 4, 25], spread: 2.5, strength: [26, 38],
		pale: "rgba(22,23,27,.72)",
	},
};

let theme = themes.light;

function hsl(h, s, l) {
	return `hsl(${h.toFixed(0)} ${s.toFixed(0)}% ${l.toFixed(0)}%)`;
}

/* The colour of a kind; shades lie around it, the same name in the same one. */
function kind_colour(kind, shade) {
	const [h, s, l] = theme.kinds[kind];
	const step = (shade ?? 3.5) - 3.5;

	return hsl(h + (s ? step * 1.2 : 0), s, l + step / 3.5 * theme.spread);
}

/* What changed between two profiles, from -1 (gone) to 1 (new). */
function change_of(view, node) {
	const all_now = view.now[0], all_before = view.before[0];
	const now = all_now ? view.now[node] / all_now : 0;
	const before = all_before ? view.before[node] / all_before : 0;
	/* Counts scatter by their root: two of those are within chance. */
	const chance = Math.sqrt((all_now ? now / all_now : 0) +
		(all_before ? before / all_before : 0));

	return { now, before, change: now - before,
		sure: Math.abs(now - before) > 2 * chance,
		relative: (now - before) / (Math.max(now, before) || 1) };
}

/* Red for more, blue for less, the stronger the more; pale: within chance. */
function change_colour(view, node) {
	const { relative, sure } = change_of(view, node);
	const [h, s] = relative > 0 ? theme.more : theme.less;
	const [from, to] = theme.strength;
	/* In steps, as a canvas takes long to read a new colour. */
	const strong = Math.ceil(Math.abs(relative) * 8) / 8;

	if (!node || !relative)
		return hsl(...theme.none);
	return sure ? hsl(h, s, from + (to - from) * (0.2 + 0.8 * strong)) :
		hsl(h, s / 2, from);
}

const colour_cache = new Map();

function colour_in(view, node, marks) {
	const label = view.label[node];

	if (marks && label >= 0 && marks[label])
		return match_colour(shade_of[label]);
	if (is_diff)
		return change_colour(view, node);
	return cached_colour(kind_in(view, node), label < 0 ? 3 :
		shade_of[label]);
}

function cached_colour(kind, shade) {
	const key = kind * 8 + shade;
	let colour = colour_cache.get(key);

	if (!colour)
		colour_cache.set(key, colour = kind_colour(kind, shade));
	return colour;
}

/* Of many nodes in one strip: their kind's, but softer. */
function strip_colour(kind, marked) {
	const [h, s, l] = theme.kinds[kind];

	if (marked)
		return match_colour(3);
	if (is_diff)
		return theme.small;
	return hsl(h, s * 0.75, l * 0.8 + theme.small_light * 0.2);
}

function match_colour(shade) {
	const [h, s, l] = theme.match;

	return hsl(h, s, l + (shade - 3.5) / 3.5 * theme.spread);
}

function set_theme(name) {
	theme = themes[name];
	colour_cache.clear();
}

function label_text(view, node) {
	return node ? names[view.label[node]] : "all";
}

/* "+3.2 %", or "gone", "new": colours are not for everybody. */
function change_text(view, node) {
	const { now, before, change } = change_of(view, node);

	return !now && before ? "gone" : now && !before ? "new" :
		(change < 0 ? "\u2212" : "+") + percent(Math.abs(change));
}

function percent(share, digits) {
	digits ??= share === 1 ? 0 : share && share < 0.001 ? 3 :
		share < 0.1 ? 2 : 1;
	return (100 * share).toFixed(digits) + "\u2009%";
}

/* Cuts a text to so many columns; wide characters take two. */
function fit(text, columns) {
	let used = 0, last = 0;

	if (text.length <= columns && /^[\x20-\x7e]*$/.test(text))
		return text;
	for (let i = 0; i < text.length;) {
		const point = text.codePointAt(i);

		used += point >= 0x1100 ? 2 : 1;
		if (used > columns)
			return columns < 3 ? "" : text.slice(0, last) + "\u2026";
		i += point > 0xffff ? 2 : 1;
		if (used < columns)
			last = i;
	}
	return text;
}

/* ------------------------------------------------------------------- layout */

/* The picture of what is zoomed to: how high it is, and where things are. */
function make_layout(view, zoom, width, flames) {
	const rows = view.deepest[zoom] + 1;
	const scale = view.width[zoom] > 0 ? width / view.width[zoom] : 0;

	return { view, zoom, width, rows, height: rows * ROW, flames,
		left: (node) => view.depth[node] <= view.depth[zoom] ? 0 :
			(view.x[node] - view.x[zoom]) * scale,
		wide: (node) => view.depth[node] <= view.depth[zoom] ? width :
			view.width[node] * scale,
		top: (depth) => (flames ? rows - 1 - depth : depth) * ROW };
}

/* The first of a level that ends behind `x`, in the view's own measure. */
function first_behind(view, level, x) {
	let low = 0, high = level.length;

	while (low < high) {
		const middle = low + high >> 1, node = level[middle];

		if (view.x[node] + view.width[node] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The ancestor of a node that has this depth. */
function ancestor(view, node, depth) {
	while (view.depth[node] > depth)
		node = view.parent[node];
	return node;
}

/*
 * Calls frame(node, left, width) for what is to be seen of a row, and
 * small(left, width, count, kind, marked) for strips of nodes that are too narrow,
 * all of one kind and all marked or none.
 */
function walk_row(layout, depth, marks, frame, small) {
	const { view, zoom } = layout;
	const begin = view.x[zoom], stop = begin + view.width[zoom];
	const level = view.level[depth];
	let strip = -1, strip_end = 0, strip_count = 0, strip_kind = 0;
	let strip_marked = 0;

	if (depth <= view.depth[zoom]) {
		frame(ancestor(view, zoom, depth), 0, layout.width);
		return;
	}
	const flush = () => {
		if (strip >= 0)
			small(strip, strip_end - strip, strip_count, strip_kind,
				strip_marked);
		strip = -1;
		strip_count = 0;
	};
	/* A node that begins at `stop` has no part in it, whatever the rounding. */
	for (let i = first_behind(view, level, begin); i < level.length; i++) {
		const node = level[i];

		if (view.x[node] >= stop || node >= view.end[zoom])
			break;
		if (node < zoom)
			continue;
		const left = layout.left(node), wide = layout.wide(node);

		if (wide >= 1) {
			flush();
			frame(node, left, wide);
			continue;
		}
		const kind = kind_in(view, node);
		const marked = marks ? marks[view.label[node]] : 0;

		if (strip >= 0 && (left - strip_end > 0.5 ||
				   kind !== strip_kind || marked !== strip_marked))
			flush();
		if (strip < 0) {
			strip = left;
			strip_kind = kind;
			strip_marked = marked;
		}
		strip_end = left + wide;
		strip_count++;
	}
	flush();
}

/* What is at a point: { node }, { count } of small ones with a place, or null. */
function hit(layout, x, y) {
	const row = Math.floor(y / ROW);
	const depth = layout.flames ? layout.rows - 1 - row : row;
	let found = null;

	if (depth < 0 || depth >= layout.rows || x < 0 || x >= layout.width)
		return null;
	walk_row(layout, depth, null, (node, left, wide) => {
		if (x >= left && x < left + wide)
			found = { node };
	}, (left, wide, count) => {
		if (x >= left - 0.5 && x < left + Math.max(wide, 1))
			found ??= { count };
	});
	return found;
}

/* ------------------------------------------------------------------- canvas */

let hatch = null;

/* Lines over frames that are gone. */
function hatching(context) {
	const tile = document.createElement("canvas");

	tile.width = tile.height = 6;
	const pen = tile.getContext("2d");

	pen.strokeStyle = theme.hover;
	pen.globalAlpha = 0.35;
	pen.beginPath();
	for (const at of [-3, 3, 9]) {
		pen.moveTo(at - 4, 7);
		pen.lineTo(at + 4, -1);
	}
	pen.stroke();
	return context.createPattern(tile, "repeat");
}

/* Rows from `top` on, `height` pixels of them. */
function paint(context, layout, top, height, marks) {
	const { view, zoom } = layout;
	const first = Math.max(0, Math.floor(top / ROW));
	const last = Math.min(layout.rows - 1, Math.floor((top + height) / ROW));

	context.fillStyle = theme.paper;
	context.fillRect(0, 0, layout.width, height);
	context.font = FONT;
	context.textBaseline = "middle";
	const column = context.measureText("mmmmmmmmmm").width / 10;

	hatch = is_diff ? hatching(context) : null;
	for (let row = first; row <= last; row++) {
		const depth = layout.flames ? layout.rows - 1 - row : row;

		paint_row(context, layout, depth, row * ROW - top, column, marks,
			depth < view.depth[zoom]);
	}
}

function paint_row(context, layout, depth, y, column, marks, above) {
	const { view } = layout;
	const texts = [];

	walk_row(layout, depth, marks, (node, left, wide) => {
		const label = view.label[node];
		const pale = above || (marks && !(label >= 0 && marks[label]));
		const gap = wide > 3 ? 1 : wide > 1.5 ? 0.5 : 0;

		context.fillStyle = colour_in(view, node, marks);
		context.fillRect(left, y, wide - gap, ROW - 1);
		if (hatch && !view.now[node]) {
			context.fillStyle = hatch;
			context.fillRect(left, y, wide - gap, ROW - 1);
		}
		if (pale) {
			context.fillStyle = theme.pale;
			context.fillRect(left, y, wide - gap, ROW - 1);
		}
		if (wide > 3 * column + 2 * PAD)
			texts.push(node, left, wide, pale);
	}, (left, wide, count, kind, marked) => {
		context.fillStyle = strip_colour(kind, marked);
		context.fillRect(left, y, Math.max(wide, 0.6), ROW - 1);
		if (marks && !marked) {
			context.fillStyle = theme.pale;
			context.fillRect(left, y, Math.max(wide, 0.6), ROW - 1);
		}
	});
	for (let i = 0; i < texts.length; i += 4)
		paint_text(context, view, texts[i], texts[i + 1],
			y + (ROW - 1) / 2 + 0.5, texts[i + 2], column,
			texts[i + 3]);
}

function paint_text(context, view, node, left, y, wide, column, pale) {
	const columns = Math.floor((wide - 2 * PAD) / column);
	const text = fit(label_text(view, node), columns);

	context.fillStyle = pale ? theme.dim_text : theme.text;
	context.fillText(text, left + PAD, y);
	if (!is_diff || !node)
		return;
	const change = change_text(view, node);

	if (columns >= text.length + change.length + 3)
		context.fillText(change, left + wide - PAD - 1 -
			column * change.length, y);
}

/* ---------------------------------------------------------------------- SVG */

function xml(text) {
	return text.replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
}

/* The picture as a text of SVG, in the colours that are to be seen. */
function make_svg(layout, marks, title, describe) {
	const head = 34, column = FONT_SIZE * 0.6021;
	const out = ['<?xml version="1.0" encoding="UTF-8"?>\n' +
		'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="' +
		layout.width + '" height="' + (layout.height + head + 8) +
		'" font-family="ui-monospace, Menlo, Consolas, monospace" ' +
		'font-size="' + FONT_SIZE + '">\n<title>' + xml(title) +
		'</title>\n<rect width="100%" height="100%" fill="' + theme.paper +
		'"/>\n<text x="8" y="21" font-size="14" fill="' + theme.text +
		'">' + xml(fit(title, layout.width / 9)) + "</text>\n"];

	for (let depth = 0; depth < layout.rows; depth++) {
		const y = layout.top(depth) + head;

		walk_row(layout, depth, marks, (node, left, wide) => {
			const text = fit(label_text(layout.view, node),
				Math.floor((wide - 2 * PAD) / column));

			out.push("<g><title>" + xml(describe(node)) +
				'</title><rect x="' + left.toFixed(1) + '" y="' + y +
				'" width="' + Math.max(wide - 1, 0.5).toFixed(1) +
				'" height="' + (ROW - 1) + '" fill="' +
				colour_in(layout.view, node, marks) + '"/>');
			if (wide > 3 * column + 2 * PAD)
				out.push('<text x="' + (left + PAD).toFixed(1) +
					'" y="' + (y + 13) + '" fill="' + theme.text +
					'" xml:space="preserve">' + xml(text) +
					"</text>");
			out.push("</g>\n");
		}, (left, wide, count, kind, marked) => {
			out.push('<rect x="' + left.toFixed(1) + '" y="' + y +
				'" width="' + Math.max(wide, 0.5).toFixed(1) +
				'" height="' + (ROW - 1) + '" fill="' +
				strip_colour(kind, marked) + '"/>\n');
		});
	}
	out.push("</svg>\n");
	return out.join("");
}
