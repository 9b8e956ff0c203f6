// SPDX-License-Identifier: MIT
// speedscope.mjs: opens recordings in speedscope, in a browser without a window,
// and writes what it understood, by its own export, as folded lines.
//
//	node speedscope.mjs CHROMIUM FILE...	writes FILE.seen for each
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(`${process.cwd()}/build/consumers/`);
const { chromium } = require('playwright-core');
const release = path.join(path.dirname(
	require.resolve('speedscope/package.json')), 'dist/release');
const types = { '.html': 'text/html', '.js': 'text/javascript',
		'.css': 'text/css', '.wasm': 'application/wasm' };

// The viewer's files, and under /file/ what it is to open.
function serve(request, response) {
	const name = decodeURIComponent(new URL(request.url, 'http://x').pathname);
	const file = name.startsWith('/file/') ? name.slice(5) :
		path.join(release, name === '/' ? 'index.html' : name);

	fs.readFile(file, (error, data) => {
		response.writeHead(error ? 404 : 200, { 'content-type':
			types[path.extname(file)] ?? 'application/octet-stream' });
		response.end(error ? '' : data);
	});
}

// Stacks and weights of one profile of the export, which is of open and close.
function add(sums, frames, profile) {
	const stack = [];
	let at = profile.startValue;

	for (const event of profile.events) {
		if (event.at > at && stack.length) {
			const key = stack.map(i => frames[i].name).join(';');

			sums.set(key, (sums.get(key) ?? 0) + event.at - at);
		}
		at = event.at;
		if (event.type === 'O')
			stack.push(event.frame);
		else
			stack.pop();
	}
}

async function open(browser, port, file) {
	const context = await browser.newContext({ acceptDownloads: true });
	const page = await context.newPage();
	const said = [];

	page.on('pageerror', e => said.push(e.message));
	page.on('dialog', d => { said.push(d.message()); d.dismiss(); });
	await page.goto(`http://127.0.0.1:${port}/#profileURL=` +
			encodeURIComponent(`/file${path.resolve(file)}`));
	await page.waitForFunction(() => /Sandwich|went wrong|Unrecognized/
		.test(document.body.innerText), null, { timeout: 60000 });
	await page.waitForTimeout(200);
	const [download] = await Promise.all([
		page.waitForEvent('download', { timeout: 30000 }),
		page.keyboard.press('Control+s'),
	]);
	const all = JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
	const sums = new Map();

	for (const profile of all.profiles)
		add(sums, all.shared.frames, profile);
	fs.writeFileSync(`${file}.seen`, [...sums].map(([stack, sum]) =>
		`${stack} ${sum}\n`).join(''));
	await context.close();
	if (said.length)
		console.log(`${path.basename(file)}: ${said[0]}`);
}

const [executablePath, ...files] = process.argv.slice(2);
const server = http.createServer(serve).listen(0, '127.0.0.1');
await new Promise(resolve => server.on('listening', resolve));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox',
	'--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
for (const file of files) {
	try {
		await open(browser, server.address().port, file);
	} catch (error) {
		console.log(`${path.basename(file)}: ${error.message}`);
	}
}
await browser.close();
server.close();
