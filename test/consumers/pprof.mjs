// SPDX-License-Identifier: MIT
// pprof.mjs: profile.proto by another's hand, npm's pprof-format.
//
//	node pprof.mjs make FILE	writes one with hostile names
//	node pprof.mjs fold FILE	prints one as folded lines: comm;frames count
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';

const require = createRequire(`${process.cwd()}/build/consumers/`);
const pprof = require('pprof-format');

// What breaks a reader of one format or another, at one place or another.
const hostile = [
	'a', 'a;b', 'a.b', 'a-b', 'a b', 'a 12', 'a 12.5', '12', ' ', '', ';',
	'#comment', '\x1b[31mred', '\x9b2J', 'new\nline\r', '\ttab', '\x7f',
	'</script><img src=x onerror=alert(1)>', '<!--', ']]>', '&amp;', '"q"',
	"it's", 'back\\slash', '\u2028\u2029', '\u202eleft', '\ufeff', '\ufffe',
	'\ud800', '\u00a0', 'naïve', '😀', '%s%n', '$(id)', '`id`', '{}', '[x]',
	'f(int, char*)', '(anonymous namespace)::f', 'main.(*T).f', 'a_[i]',
	'operator<<', 'x'.repeat(2000),
];

function make(path) {
	const strings = new pprof.StringTable();
	const s = text => strings.dedup(text);
	const value = new pprof.ValueType({ type: s('samples'), unit: s('count') });
	const functions = hostile.map((name, i) => new pprof.Function({
		id: i + 1, name: s(name) }));
	const locations = functions.map(f => new pprof.Location({
		id: f.id, line: [new pprof.Line({ functionId: f.id })] }));
	const samples = hostile.map((name, i) => new pprof.Sample({
		locationId: [i + 1, (i + 1) % hostile.length + 1, 1],
		value: [i + 1],
		label: [new pprof.Label({ key: s('comm'), str: s(name) })] }));

	fs.writeFileSync(path, new pprof.Profile({
		sampleType: [value], sample: samples, location: locations,
		function: functions, stringTable: strings,
	}).encode());
}

function fold(path) {
	const bytes = fs.readFileSync(path);
	const p = pprof.Profile.decode(bytes[0] === 0x1f ? gunzipSync(bytes) :
				       bytes);
	const text = n => p.stringTable.strings[Number(n)];
	const functions = new Map(p.function.map(f => [Number(f.id), f]));
	const locations = new Map(p.location.map(l => [Number(l.id), l]));
	const sums = new Map();

	for (const sample of p.sample) {
		const comm = sample.label.find(l => text(l.key) === 'comm');
		const frames = sample.locationId.map(id =>
			locations.get(Number(id)).line.map(line =>
				text(functions.get(Number(line.functionId)).name)))
			.flat().reverse();
		const stack = [text(comm.str), ...frames].join(';');

		sums.set(stack, (sums.get(stack) ?? 0) +
			 Number(sample.value[0]));
	}
	for (const [stack, sum] of sums)
		console.log(`${stack} ${sum}`);
}

const [what, path] = process.argv.slice(2);
({ make, fold })[what](path);
