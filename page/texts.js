/* SPDX-License-Identifier: MIT */
/*
 * texts.js: what the page says beside its picture: numbers, head, legend,
 * processes, the table of functions.
 */
"use strict";

const $ = (id) => document.getElementById(id);

function make(tag, text, name) {
	const element = document.createElement(tag);

	if (text !== undefined)
		element.textContent = text;
	if (name)
		element.className = name;
	return element;
}

/* ------------------------------------------------------------------ numbers */

function count_text(count) {
	return Math.round(count).toLocaleString("en-US");
}

function time_text(ns) {
	const [value, unit] = ns >= 1e9 ? [ns / 1e9, "s"] :
		ns >= 1e6 ? [ns / 1e6, "ms"] : [ns / 1e3, "\u00b5s"];

	return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0) + "\u2009" +
		unit;
}

/* What was counted, in its unit. */
function amount_text(amount) {
	if (meta.unit === "nanoseconds")
		return time_text(amount);
	if (meta.unit && meta.unit !== "count")
		return count_text(amount) + " " + meta.unit;
	return count_text(amount) + " " + (meta.type && meta.type !== "samples" ?
		meta.type : amount === 1 ? "sample" : "samples") +
		(meta.clock && meta.period ?
			" (" + time_text(amount * meta.period) + ")" : "");
}

function share_text(part, all) {
	return percent(all ? part / all : 0);
}

/* -------------------------------------------------------------------- texts */

function show_zoom() {
	const told = describe(zoom);

	$("reset").hidden = !zoom;
	$("zoom-text").textContent = zoom ? told.name + ": " + told.lines[0] :
		amount_text(view.now[0]) + (is_diff ? " now, " +
			count_text(view.before[0]) + " before" : "") +
		(state.hide_idle || state.process ? ", filtered" : "");
	$("stage").setAttribute("aria-label", "Flame graph: " + told.name + ", " +
		told.lines.join(", "));
}

function swatch(colour) {
	const box = make("i");

	box.style.background = colour;
	return box;
}

/* How much of the samples ends in each kind of code. */
function kind_shares() {
	const sums = new Float64Array(8);

	/* Of two profiles the colours tell something else. */
	for (let i = 1; i < base.count && !is_diff; i++) {
		const idle = weights.idle[i];

		sums[kind_of[base.label[i]]] += weights.now[i] - idle;
		sums[IDLE] += idle;
	}
	return sums;
}

function show_legend() {
	const sums = kind_shares(), legend = $("legend");
	const had = document.activeElement?.dataset?.kind;
	const used = new Set();

	for (let i = 0; i < view.count; i++)
		used.add(kind_in(view, i));
	legend.replaceChildren();
	if (is_diff) {
		const scale = make("span", undefined, "scale");
		const colour = ([h, s], t) => swatch(hsl(h, s, theme.strength[0] +
			(theme.strength[1] - theme.strength[0]) * t));

		scale.append("less\u2002", colour(theme.less, 1),
			colour(theme.less, 0.5), swatch(hsl(...theme.none)),
			colour(theme.more, 0.5), colour(theme.more, 1),
			"\u2002more than before; pale: within chance; hatched: gone");
		legend.append(scale);
	}
	for (const kind of [USER, UNNAMED, JIT, KERNEL, MODULE, NOTE, THREAD,
		IDLE]) {
		if (!used.has(kind) || (kind === THREAD && is_diff))
			continue;
		const button = make("button");

		button.type = "button";
		button.dataset.kind = kind;
		button.title = "Mark: " + kind_names[kind];
		button.setAttribute("aria-pressed", state.kind === kind);
		if (!is_diff)
			button.append(swatch(kind_colour(kind)));
		button.append(kind_names[kind]);
		if (sums[kind])
			button.append(make("b", share_text(sums[kind],
				view.now[0])));
		button.addEventListener("click", () => {
			state.kind = state.kind === kind ? -1 : kind;
			update_marks();
		});
		legend.append(button);
		if (had === String(kind))
			button.focus();
	}
}

function fact(value, name) {
	const item = make("li");

	item.append(make("b", value), make("span", name));
	$("facts").append(item);
}

function date_text(ms) {
	return new Date(ms).toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

function show_head() {
	const old = meta.before;
	const mode = Object.fromEntries(meta.modes);
	const title = is_diff ? (old.source || old.host || "before") +
		" \u2192 " + (meta.source || meta.host || "now") :
		meta.source || meta.host || "prof";

	$("title").textContent = title;
	document.title = title + " \u2013 prof";
	$("subtitle").textContent = $("subtitle").title =
		[meta.source && meta.host, meta.kernel, meta.time_ms ?
			date_text(meta.time_ms) : "", meta.command]
			.filter(Boolean).join(" \u00b7 ");
	if (meta.duration_ms)
		fact(time_text(meta.duration_ms * 1e6), "duration");
	if (meta.cpus)
		fact(String(meta.cpus), meta.cpus === 1 ? "CPU" : "CPUs");
	if (meta.hz)
		fact(count_text(meta.hz) + "\u2009Hz", meta.event || "rate");
	else if (meta.event)
		fact(meta.event, meta.period ? "every " + count_text(meta.period) :
			"event");
	if (is_diff)
		fact(count_text(old.total), (meta.type || "samples") + " before");
	fact(meta.unit === "nanoseconds" ? time_text(meta.total) :
		count_text(meta.total), (meta.type || "samples") +
		(is_diff ? " now" : ""));
	/* Of some tasks alone, nobody was idle. */
	if (mode.idle || (mode.user && !meta.filtered))
		fact(share_text(meta.total - mode.idle, meta.total), "busy");
	show_balance(mode);
}

function show_balance(mode) {
	const all = Math.max(meta.expected || meta.sampled || meta.total, 1);
	const known = mode.user || mode.kernel || mode.idle;
	let advice = null;

	if (known)
		$("balance").hidden = false;
	$("balance-bar").replaceChildren();
	$("balance-text").replaceChildren();
	for (const [name, count, colour] of [
		["user", mode.user, kind_colour(USER)],
		["kernel", mode.kernel, kind_colour(KERNEL)],
		["softirq", mode.softirq, kind_colour(MODULE)],
		["no stack", mode.unknown, kind_colour(NOTE)],
		["filtered", meta.filtered, kind_colour(UNNAMED)],
		["lost", meta.lost, theme.ring],
		["idle", mode.idle, kind_colour(THREAD)],
		["unaccounted", meta.unaccounted, theme.small]]) {
		if (!(count > 0))
			continue;
		const part = swatch(colour);

		part.style.flex = count + " 0 0";
		part.title = name + ": " + count_text(count);
		$("balance-bar").append(part);
		$("balance-text").append(swatch(colour), name + " " +
			share_text(count, all));
	}
	$("balance-bar").setAttribute("aria-label", "Where the samples went: " +
		$("balance-text").textContent);
	$("balance-lines").textContent = meta.lines.filter(([kind]) =>
		kind === "note").map(([, text]) => text).join("\n");
	$("balance-lines").hidden = !$("balance-lines").textContent;
	$("warnings").replaceChildren();
	for (const [kind, text] of meta.lines) {
		if (kind === "note")
			continue;
		if (kind === "advice" && advice) {
			advice.append(make("small", text));
			continue;
		}
		advice = make("p", text, "warning");
		$("warnings").append(advice);
	}
}

function option(value, text) {
	const element = make("option", text);

	element.value = value;
	return element;
}

/* By name, and by number where a name has several; the busiest first. */
function show_processes() {
	const sums = new Float64Array(data.processes.length);
	const by_name = new Map();
	const select = $("process"), most = 400;
	let all = 0;

	for (let i = 0; i < base.parts; i++) {
		const n = base.part_now[i] + (is_diff ? base.part_before[i] : 0);

		sums[base.part_process[i]] += n;
		all += n;
	}
	data.processes.forEach(([pid, name, idle], i) => {
		const key = idle ? "" : name;
		const entry = by_name.get(key) || { sum: 0, list: [] };

		entry.sum += sums[i];
		entry.list.push(i);
		by_name.set(key, entry);
	});
	const sorted = [...by_name].sort((a, b) => b[1].sum - a[1].sum);
	const group = make("optgroup"), each = make("optgroup");

	group.label = "By name";
	each.label = "By process";
	for (const [name, { sum, list }] of sorted.slice(0, most))
		group.append(option(name ? "n:" + name : "idle", (name || "idle") +
			(list.length > 1 && name ? " (" + list.length + ")" : "") +
			" \u2013 " + share_text(sum, all)));
	for (const i of sorted.filter(([name]) => name)
		.flatMap(([, { list }]) => list).sort((a, b) => sums[b] - sums[a])
		.slice(0, most))
		if (data.processes[i][0])
			each.append(option("i:" + i, data.processes[i][1] + " " +
				data.processes[i][0] + " \u2013 " +
				share_text(sums[i], all)));
	select.append(option("", "All processes"), group);
	if (each.childElementCount)
		select.append(each);
	if (state.process && ![...select.options].some((o) =>
		o.value === state.process))
		state.process = "";
}

function process_filter() {
	const value = state.process;

	if (!value)
		return null;
	if (value === "idle")
		return (process) => process[2] === 1;
	if (value.startsWith("n:"))
		return (process) => !process[2] && process[1] === value.slice(2);
	return (process) => process === data.processes[Number(value.slice(2))];
}

/* -------------------------------------------------------------------- table */

function columns() {
	const now = functions.now, before = functions.before;
	const change = (of) => (i) => (now.all ? now[of][i] / now.all : 0) -
		(before.all ? before[of][i] / before.all : 0);
	const share = (id, title, of) => ({ id, title, bar: true,
		value: (i) => now[of][i],
		text: (i) => percent(now.all ? now[of][i] / now.all : 0, 2) });
	const number = (id, title, of) => ({ id, title, kind: "count",
		value: (i) => now[of][i], text: (i) =>
			meta.unit === "nanoseconds" ? time_text(now[of][i]) :
			count_text(now[of][i]) });
	const differs = (id, title, of) => ({ id, title, sign: true,
		value: change(of), text: (i) => {
			const d = change(of)(i);

			return !now[of][i] && before[of][i] ? "gone" :
				d ? (d < 0 ? "\u2212" : "+") +
					percent(Math.abs(d), 2) : "";
		} });
	const name = { id: "name", title: "Function",
		value: (i) => -i, text: (i) => names[i] };

	return is_diff ? [name, share("self", "Self", "self"),
		differs("dself", "Change", "self"),
		share("total", "Total", "total"),
		differs("dtotal", "Change", "total")] :
		[name, share("self", "Self", "self"),
			number("nself", "Samples", "self"),
			share("total", "Total", "total"),
			number("ntotal", "Samples", "total")];
}

function sorted_labels(list) {
	const by = list.find((column) => column.id === state.sort) || list[1];
	const value = by.sign ? (i) => Math.abs(by.value(i)) : by.value;
	const labels = [];

	for (let i = 0; i < names.length; i++)
		if (kind_of[i] !== THREAD && (!marks || marks[i]) &&
		    (functions.now.total[i] || functions.before?.total[i]))
			labels.push(i);
	labels.sort((a, b) => (state.up ? -1 : 1) * (value(b) - value(a)) ||
		functions.now.total[b] - functions.now.total[a] ||
		a - b);
	return labels;
}

function show_columns(list) {
	const head = $("columns");
	const had = document.activeElement?.dataset?.column;

	head.replaceChildren(...list.map((column) => {
		const cell = make("th"), button = make("button", column.title);

		cell.scope = "col";
		cell.className = column.kind || "";
		button.type = "button";
		button.dataset.column = column.id;
		if (column.id === state.sort)
			/* Names have it the other way round: a comes first. */
			cell.setAttribute("aria-sort", state.up !==
				(column.id === "name") ? "ascending" : "descending");
		button.addEventListener("click", () => {
			state.up = state.sort === column.id && !state.up;
			state.sort = column.id;
			show_table();
			write_address();
		});
		cell.append(button);
		return cell;
	}));
	if (had)
		head.querySelector(`[data-column="${had}"]`)?.focus();
}

function make_row(label, list, most) {
	const row = make("tr");

	for (const column of list) {
		const cell = make("td");

		if (column.id === "name") {
			const button = make("button");

			button.type = "button";
			button.title = names[label] + "\n" +
				data.images[image_of[label]];
			button.append(swatch(kind_colour(kind_of[label],
				shade_of[label])), make("span", names[label]),
			make("small", image_name(label) === "[kernel]" ? "" :
				image_name(label)));
			button.addEventListener("click", () => mark_label(label));
			cell.append(button);
		} else if (column.sign) {
			cell.append(make("span", column.text(label),
				column.value(label) < 0 ? "less" : "more"));
		} else {
			cell.textContent = column.text(label);
			cell.className = column.kind || "";
		}
		if (column.bar) {
			cell.className = "share";
			cell.style.backgroundSize = 100 * column.value(label) /
				(most.get(column) || 1) + "% 100%";
		}
		row.append(cell);
	}
	return row;
}

function show_table() {
	const list = columns(), labels = sorted_labels(list);

	/* Bars are as long as the column allows. */
	const most = new Map(list.filter((column) => column.bar).map((column) =>
		[column, labels.reduce((max, label) =>
			Math.max(max, column.value(label)), 0)]));

	show_columns(list);
	if (state.show === "graph" && !printing) {
		$("rows").replaceChildren();
		return;
	}
	$("rows").replaceChildren(...labels.slice(0, rows_shown).map((label) =>
		make_row(label, list, most)));
	$("caption").textContent = count_text(labels.length) +
		(labels.length === 1 ? " function" : " functions") +
		(marks ? " marked" : "") + ", each counted once per stack" +
		(labels.length > rows_shown ? "; the first " + rows_shown : "");
	$("more").hidden = labels.length <= rows_shown;
}

/* Marks one function, or none if it is that one already. */
function mark_label(label) {
	const text = "^" + names[label].replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&") +
		"$";

	state.search = state.search === text ? "" : text;
	state.exact = !!state.search;
	state.kind = -1;
	$("search").value = state.search;
	update_marks();
}
