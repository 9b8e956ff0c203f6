// SPDX-License-Identifier: MIT
//
// screenshots.mjs FOLDER BROWSER TO: FOLDER/real.html, light and dark, as
// TO/flame-light.png and TO/flame-dark.png.
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, executablePath, to] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "node_modules/"))(
	"playwright-core");
const browser = await chromium.launch({ executablePath,
	args: ["--no-sandbox", "--disable-gpu"] });

for (const [colorScheme, hash] of [["light", "#size=1"],
	["dark", "#size=1&show=both"]]) {
	const page = await browser.newPage({ colorScheme,
		viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1.5 });

	await page.goto("file://" + join(folder, "real.html") + hash);
	await page.waitForTimeout(300);
	await page.screenshot({ path: join(to, `flame-${colorScheme}.png`) });
}
await browser.close();
