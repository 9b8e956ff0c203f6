/* SPDX-License-Identifier: MIT */
/*
 * flame.js: the page: what is asked for by mouse, keys and the address, and
 * what is shown for it.
 *
 *	state ── update ──> weights, view, marks ── draw ──> canvas, table, texts
 *	  ↑ └── address (#...): whoever opens that sees the same
 *	  events
 *
 * Names come from strangers.  They become text by textContent, never markup.
 */
"use strict";

/* -------------------------------------------------------------------- state */

const defaults = { zoom: "", search: "", exact: false, process: "",
	hide_idle: false, inverted: false, flames: false, by_size: false,
	widths: "both", show: "graph", sort: "self", up: false, kind: -1,
	theme: "" };
/* How they are called in the address. */
const short = { zoom: "z", search: "s", exact: "case", process: "p",
	hide_idle: "noidle", inverted: "leaf", flames: "flames", by_size: "size",
	widths: "w", show: "show", sort: "sort", up: "up", kind: "kind",
	theme: "theme" };
const state = { ...defaults };

let weights, view, layout, functions;
let zoom = 0, focus = 0, hover = null;
/* Which labels are marked; null: no search, all are as they are. */
let marks = null;
let rows_shown = 100;

function read_address() {
	const given = new URLSearchParams(location.hash.slice(1));

	for (const key of Object.keys(defaults)) {
		const text = given.get(short[key]), usual = defaults[key];

		state[key] = text === null ? usual :
			typeof usual === "boolean" ? text === "1" :
			typeof usual === "number" ? parseInt(text, 10) || 0 : text;
	}
	if (!["graph", "both", "table"].includes(state.show))
		state.show = "graph";
	if (!["", "light", "dark"].includes(state.theme))
		state.theme = "";
}

/* A zoom is a step that the browser's Back takes back; all else is none. */
function write_address(is_step) {
	const given = new URLSearchParams();

	for (const key of Object.keys(defaults))
		if (state[key] !== defaults[key])
			given.set(short[key], state[key] === true ? "1" :
				state[key]);
	const address = "#" + given;

	if (address === (location.hash || "#"))
		return;
	if (is_step)
		history.pushState(null, "", address);
	else
		history.replaceState(null, "", address);
}

/* ------------------------------------------------------------------- search */

/* A regular expression if it is one, else the text itself. */
function make_pattern(text, exact) {
	const flags = exact ? "u" : "iu";

	try {
		return new RegExp(text, flags);
	} catch {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&"),
			flags);
	}
}

/* "in:libc" is about files, all else about names. */
function make_marks() {
	const in_files = state.search.startsWith("in:");
	const text = in_files ? state.search.slice(3) : state.search;

	if (!text && state.kind < 0)
		return null;
	const pattern = text ? make_pattern(text, state.exact) : null;
	const found = new Uint8Array(names.length);
	const idle = new Uint8Array(names.length);

	for (let i = 1; i < view.count; i++)
		idle[view.label[i]] |= view.idle[i];
	for (let i = 0; i < names.length; i++)
		found[i] = (state.kind < 0 || (state.kind === IDLE ? idle[i] :
			kind_of[i] === state.kind && !idle[i])) &&
			(!pattern || pattern.test(in_files ?
				data.images[image_of[i]] : names[i])) ? 1 : 0;
	return found;
}

function show_matched() {
	const out = $("matched");

	$("previous").disabled = $("next").disabled = !marks;
	if (!marks) {
		out.textContent = "";
		return;
	}
	const hits = marks.reduce((sum, mark) => sum + mark, 0);
	const now = share_text(matched_in(view, marks, view.now), view.now[0]);
	const before = is_diff ? share_text(matched_in(view, marks,
		view.before), view.before[0]) + " \u2192 " : "";

	out.textContent = hits ? before + now : "none";
	out.title = hits + " functions, " + before + now + " of all samples";
}

/* The outermost marked frames, in order. */
function next_match(step) {
	const found = [];

	for (let i = 1; marks && i < view.count;)
		if (marks[view.label[i]]) {
			found.push(i);
			i = view.end[i];
		} else {
			i++;
		}
	if (!found.length)
		return;
	const at = found.indexOf(focus);
	const behind = found.findIndex((node) => node > focus);
	const i = at >= 0 ? at + step : step > 0 ?
		(behind < 0 ? 0 : behind) :
		(behind < 0 ? found.length : behind) - 1;
	const node = found[(i + found.length) % found.length];

	if (node < zoom || node >= view.end[zoom])
		zoom_to(0);
	set_focus(node);
}

/* ------------------------------------------------------------------- frames */

/* All that is known of a node, as texts. */
function describe(node) {
	const label = view.label[node], kind = kind_in(view, node);
	const path = label < 0 ? "" : data.images[image_of[label]];
	const all = is_diff && !view.now[node] ? view.before : view.now;
	const lines = [];

	if (is_diff && node)
		lines.push(share_text(view.before[node], view.before[0]) +
			" before \u2192 " + share_text(view.now[node],
			view.now[0]) + " now, " + change_text(view, node) +
			(change_of(view, node).sure ? "" : ", within chance"));
	lines.push(share_text(all[node], all[0]) + " of all" +
		(zoom && node > zoom ? ", " + share_text(all[node], all[zoom]) +
			" of " + fit(label_text(view, zoom), 30) : "") + ", " +
		amount_text(all[node]) + (is_diff && all === view.before ?
			" before" : ""));
	if (!state.inverted && node && view.self[node])
		lines.push(share_text(view.self[node], view.now[0]) +
			" in itself, " + amount_text(view.self[node]));
	return { name: label_text(view, node), lines,
		where: node ? kind_names[kind] + (path ? " \u00b7 " + path : "") :
			"" };
}

/* A title's text, for SVG. */
function title_text(node) {
	const told = describe(node);

	return [told.name, ...told.lines, told.where].filter(Boolean).join("\n");
}

function show_details(node) {
	const told = describe(node);
	const out = $("details");

	out.replaceChildren(make("b", told.name), document.createTextNode(
		" \u2002" + told.lines.join("; ") + (told.where ? " \u2002" +
			told.where : "")));
}

function show_tip(event) {
	const tip = $("tip");

	tip.hidden = !hover;
	if (!hover)
		return;
	if (hover.count) {
		tip.replaceChildren(make("b", hover.count + (hover.count === 1 ?
			" narrow frame" : " narrow frames")),
		make("span", "zoom in to see more"));
	} else {
		const told = describe(hover.node);

		tip.replaceChildren(make("b", told.name),
			...told.lines.map((line) => make("span", line, "numbers")));
		if (told.where)
			tip.append(make("span", told.where));
	}
	const { width, height } = tip.getBoundingClientRect();
	const x = Math.min(event.clientX + 14, innerWidth - width - 8);
	const y = event.clientY + 20 + height > innerHeight ?
		event.clientY - height - 12 : event.clientY + 20;

	tip.style.transform = `translate(${Math.max(8, x)}px, ${Math.max(4, y)}px)`;
}

function say(text) {
	$("live").textContent = text;
}

function set_focus(node) {
	focus = node;
	show_details(node);
	reveal(node);
	draw_overlay();
	const told = describe(node);

	say([told.name, ...told.lines, told.where,
		"level " + view.depth[node]].filter(Boolean).join(", "));
}

/* Scrolls until the row of a node is there. */
function reveal(node) {
	const scroll = $("scroll"), top = layout.top(view.depth[node]);

	if (top < scroll.scrollTop)
		scroll.scrollTop = top;
	else if (top + ROW > scroll.scrollTop + scroll.clientHeight)
		scroll.scrollTop = top + ROW - scroll.clientHeight;
}

function zoom_to(node) {
	state.zoom = path_of(view, node).map((i) => i.toString(36)).join(".");
	zoom = node;
	place();
	set_focus(node);
	write_address(true);
}

/* ------------------------------------------------------------------ drawing */

let drawing = 0;

function draw_soon() {
	drawing ||= requestAnimationFrame(draw);
}

/* Sizes follow the window; the picture is as high as it has rows. */
function place() {
	const scroll = $("scroll");
	const was_low = !layout || (layout.flames && scroll.scrollTop +
		scroll.clientHeight >= layout.height - 1);

	layout = make_layout(view, zoom, Math.max(scroll.clientWidth, 50),
		state.flames);
	$("space").style.height = layout.height + "px";
	/* The root stays where it is seen. */
	if (layout.flames && was_low)
		scroll.scrollTop = layout.height;
	show_zoom();
	draw_soon();
}

function size_canvas(canvas, width, height) {
	const ratio = devicePixelRatio || 1;

	if (canvas.width !== Math.round(width * ratio) ||
	    canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const context = canvas.getContext("2d");

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

function draw() {
	const scroll = $("scroll");
	const height = printing ? layout.height :
		Math.min(scroll.clientHeight, layout.height);

	drawing = 0;
	if (!scroll.clientWidth && !printing)
		return;
	$("stage").style.height = height + "px";
	paint(size_canvas($("canvas"), layout.width, height), layout,
		printing ? 0 : Math.min(scroll.scrollTop, layout.height - height),
		height, marks);
	draw_overlay();
}

/* What is pointed at, and where the keys are. */
function draw_overlay() {
	const scroll = $("scroll");
	const height = Math.min(scroll.clientHeight, layout.height);
	const context = size_canvas($("overlay"), layout.width, height);
	const around = (node, colour, thick) => {
		const left = Math.max(0, layout.left(node));
		const wide = Math.max(4, Math.min(layout.wide(node),
			layout.width - left));

		context.strokeStyle = colour;
		context.lineWidth = thick;
		context.strokeRect(left + thick / 2, layout.top(view.depth[node]) -
			Math.min(scroll.scrollTop, layout.height - height) +
			thick / 2, wide - thick - 1, ROW - 1 - thick);
	};

	context.clearRect(0, 0, layout.width, height);
	if (hover?.node !== undefined)
		around(hover.node, theme.hover, 1.5);
	if (document.activeElement === $("stage") || focus !== zoom)
		around(focus, theme.ring, 2);
}

/* ------------------------------------------------------------------- update */

function update_marks() {
	marks = make_marks();
	rows_shown = 100;
	show_matched();
	show_controls();
	show_legend();
	show_table();
	draw_soon();
	write_address();
}

/* After another filter or another order: all is made anew. */
function update() {
	weights = make_weights({ hide_idle: state.hide_idle,
		process: process_filter() });
	view = make_view(weights, { inverted: state.inverted,
		by_size: state.by_size, widths: state.widths });
	functions = make_functions(weights);
	zoom = focus = find_path(view, state.zoom ? state.zoom.split(".").map(
		(part) => parseInt(part, 36)) : []);
	hover = null;
	$("tip").hidden = true;
	$("views").dataset.show = state.show;
	place();
	show_details(zoom);
	update_marks();
}

function show_controls() {
	const pressed = { case: state.exact, idle: state.hide_idle,
		inverted: state.inverted, flames: state.flames,
		"by-size": state.by_size, "show-graph": state.show === "graph",
		"show-both": state.show === "both",
		"show-table": state.show === "table" };

	for (const [id, on] of Object.entries(pressed))
		$(id).setAttribute("aria-pressed", on);
	if ($("search").value !== state.search)
		$("search").value = state.search;
	$("process").value = state.process;
	$("widths").value = state.widths;
	$("theme").textContent = state.theme === "light" ? "Light" :
		state.theme === "dark" ? "Dark" : "Auto";
	$("theme").setAttribute("aria-label", "Colours: " +
		$("theme").textContent);
}

const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

function apply_theme() {
	const name = printing ? "light" : state.theme ||
		(dark_wanted.matches ? "dark" : "light");

	document.documentElement.dataset.theme = name;
	set_theme(name);
	if (view) {
		show_balance(Object.fromEntries(meta.modes));
		show_legend();
		show_table();
		draw_soon();
	}
}

/* Paper is light, and shows all rows and the table. */
function print_mode(on) {
	if (printing === on)
		return;
	printing = on;
	apply_theme();
	/* There may be no next frame before the picture is taken. */
	draw();
}

/* ------------------------------------------------------------------ exports */

function save(name, blob) {
	const link = make("a");

	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
	$("export").open = false;
	say(name + " is saved");
}

function export_svg() {
	const shown = make_layout(view, zoom, 1200, state.flames);

	save("flame.svg", new Blob([make_svg(shown, marks, $("title").textContent,
		title_text)], { type: "image/svg+xml" }));
}

function export_png() {
	const canvas = make("canvas");
	/* Canvases have a largest size. */
	const scale = Math.min(2, 16000 / layout.height);

	canvas.width = layout.width * scale;
	canvas.height = layout.height * scale;
	const context = canvas.getContext("2d");

	context.scale(scale, scale);
	paint(context, layout, 0, layout.height, marks);
	canvas.toBlob((blob) => save("flame.png", blob));
}

function export_folded() {
	save("stacks.folded", new Blob([make_folded(weights)],
		{ type: "text/plain" }));
}

/* --------------------------------------------------------------------- keys */

/* The widest child that can be seen, or -1. */
function child_to_go(node) {
	let best = -1;

	for (let i = node + 1; i < view.end[node]; i = view.end[i])
		if ((best < 0 || view.width[i] > view.width[best]) &&
		    (view.depth[node] >= view.depth[zoom] || i <= zoom &&
		     zoom < view.end[i]))
			best = i;
	return best;
}

/* The next frame of the level that is wide enough to be seen. */
function beside(node, step) {
	const level = view.level[view.depth[node]];

	for (let i = level.indexOf(node) + step; level[i] !== undefined;
		i += step)
		if (level[i] < zoom || level[i] >= view.end[zoom])
			return -1;
		else if (layout.wide(level[i]) >= 1)
			return level[i];
	return -1;
}

function stage_key(key) {
	const away = layout.flames ? "ArrowUp" : "ArrowDown";
	const back = layout.flames ? "ArrowDown" : "ArrowUp";
	let to = -1;

	if (key === away)
		to = child_to_go(focus);
	else if (key === back)
		to = view.parent[focus];
	else if (key === "ArrowLeft" || key === "ArrowRight")
		to = beside(focus, key === "ArrowLeft" ? -1 : 1);
	else if (key === "Home")
		to = zoom;
	else if (key === "Enter" || key === " ")
		zoom_to(focus);
	else if (key === "Backspace")
		zoom_to(Math.max(view.parent[zoom], 0));
	else if (key === "c")
		copy_name();
	else
		return false;
	if (to >= 0)
		set_focus(to);
	return true;
}

async function copy_name() {
	const name = label_text(view, focus);

	try {
		await navigator.clipboard.writeText(name);
		say("copied: " + name);
	} catch {
		say("the browser does not let me copy");
	}
}

function toggle(key) {
	state[key] = !state[key];
	if (key === "inverted")
		state.zoom = "";
	update();
	/* With the other end up, the root is the place to be. */
	if (key === "flames")
		$("scroll").scrollTop = state.flames ? layout.height : 0;
}

function show(what) {
	state.show = what;
	update();
}

function next_theme() {
	state.theme = { "": "light", light: "dark", dark: "" }[state.theme];
	apply_theme();
	show_controls();
	write_address();
}

const keys = [
	["/", "search; in:FILE for names of files", () => {
		$("search").focus();
		$("search").select();
	}],
	["n", "next match", () => next_match(1)],
	["N", "match before", () => next_match(-1)],
	["0", "show all again", () => zoom_to(0)],
	["r", "merge from the leaf", () => toggle("inverted")],
	["i", "root on top, or flames from below", () => toggle("flames")],
	["h", "hide idle time", () => toggle("hide_idle")],
	["o", "order: by name, by size", () => toggle("by_size")],
	["t", "graph, both, table", () => show({ graph: "both", both: "table",
		table: "graph" }[state.show])],
	["d", "dark, light, as the system", next_theme],
	["?", "this text", () => $("help").showModal()],
];

function page_key(event) {
	const typing = event.target.matches("input, select, textarea");

	if ((event.ctrlKey || event.metaKey) && event.key === "f" &&
	    document.activeElement !== $("search")) {
		event.preventDefault();
		keys[0][2]();
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey || $("help").open)
		return;
	if (event.key === "Escape") {
		escape_key();
		return;
	}
	if (typing)
		return;
	if (event.target === $("stage") && stage_key(event.key)) {
		event.preventDefault();
		return;
	}
	const found = $("use-keys").checked &&
		keys.find(([key]) => key === event.key);

	if (found) {
		event.preventDefault();
		found[2]();
	}
}

/* From the inside out: a menu, the search, the zoom. */
function escape_key() {
	if ($("export").open) {
		$("export").open = false;
		$("export").firstElementChild.focus();
	} else if (document.activeElement === $("search") || (!zoom && marks)) {
		state.search = "";
		state.kind = -1;
		update_marks();
		if (document.activeElement === $("search"))
			$("stage").focus();
	} else if (zoom) {
		zoom_to(0);
	}
}

/* ------------------------------------------------------------------- events */

function pointed(event) {
	const box = $("stage").getBoundingClientRect();
	const top = Math.min($("scroll").scrollTop, layout.height - box.height);

	return hit(layout, event.clientX - box.left, event.clientY - box.top +
		Math.max(top, 0));
}

function listen_to_stage() {
	const stage = $("stage");

	stage.addEventListener("pointermove", (event) => {
		const was = hover?.node;

		if (event.pointerType === "touch")
			return;
		hover = pointed(event);
		show_tip(event);
		if (hover?.node !== undefined)
			show_details(hover.node);
		if (hover?.node !== was)
			draw_overlay();
	});
	stage.addEventListener("pointerleave", () => {
		hover = null;
		$("tip").hidden = true;
		show_details(focus);
		draw_overlay();
	});
	stage.addEventListener("click", (event) => {
		const found = pointed(event);

		if (found?.node !== undefined)
			zoom_to(found.node);
	});
	stage.addEventListener("focus", draw_overlay);
	stage.addEventListener("blur", draw_overlay);
	$("scroll").addEventListener("scroll", draw_soon);
	new ResizeObserver(() => place()).observe($("scroll"));
}

function listen_to_tools() {
	const click = (id, what) => $(id).addEventListener("click", what);
	let waiting = 0;

	$("search").addEventListener("input", () => {
		state.search = $("search").value;
		clearTimeout(waiting);
		waiting = setTimeout(update_marks, 60);
	});
	$("search-form").addEventListener("submit", (event) => {
		event.preventDefault();
		next_match(1);
	});
	click("previous", () => next_match(-1));
	click("case", () => {
		state.exact = !state.exact;
		update_marks();
	});
	$("process").addEventListener("change", () => {
		state.process = $("process").value;
		update();
	});
	$("widths").addEventListener("change", () => {
		state.widths = $("widths").value;
		update();
	});
	click("idle", () => toggle("hide_idle"));
	click("inverted", () => toggle("inverted"));
	click("flames", () => toggle("flames"));
	click("by-size", () => toggle("by_size"));
	for (const what of ["graph", "both", "table"])
		click("show-" + what, () => show(what));
	click("reset", () => zoom_to(0));
	click("theme", next_theme);
	click("more", () => {
		rows_shown += 400;
		show_table();
	});
	click("help-open", () => $("help").showModal());
	click("export-svg", export_svg);
	click("export-png", export_png);
	click("export-folded", export_folded);
}

function start() {
	for (const [key, what] of [["\u2190 \u2191 \u2192 \u2193",
		"from frame to frame"], ["Enter", "zoom to it"],
	["Backspace", "zoom out by one"], ["Esc", "show all, end the search"],
	["c", "copy its name"], ...keys]) {
		const term = make("dt");

		term.append(make("kbd", key));
		$("keys").append(term, make("dd", what));
	}
	$("widths").hidden = !is_diff;
	read_address();
	apply_theme();
	show_head();
	show_processes();
	update();
	if (layout.flames)
		$("scroll").scrollTop = layout.height;
	listen_to_stage();
	listen_to_tools();
	document.addEventListener("keydown", page_key);
	document.addEventListener("click", (event) => {
		if (!$("export").contains(event.target))
			$("export").open = false;
	});
	addEventListener("popstate", () => {
		read_address();
		apply_theme();
		update();
	});
	dark_wanted.addEventListener("change", apply_theme);
	matchMedia("print").addEventListener("change", (event) =>
		print_mode(event.matches));
	addEventListener("beforeprint", () => print_mode(true));
	addEventListener("afterprint", () => print_mode(false));
}

start();
