// `npm run screenshots`: runs two real rolling restarts, makes their report, and photographs it light, dark and on a phone into
// docs/images. Needs a built repository and Chromium.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { chromiumProgram, startChromium } = await import(
  path.join(root, "packages/lab/dist/test/chromium.js")
);
const program = chromiumProgram();
if (program === null) {
  console.error("Chromium is missing: apt-get install chromium, or name it with LASTCALL_CHROMIUM.");
  process.exit(3);
}

const folder = mkdtempSync(path.join(tmpdir(), "lastcall-screenshots-"));
const images = path.join(root, "docs/images");
mkdirSync(images, { recursive: true });
const lastcall = (...args) => {
  const done = spawnSync(process.execPath, [path.join(root, "packages/lab/bin/lastcall.js"), ...args], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (![0, 1].includes(done.status)) throw new Error(`lastcall ${args[0]} left with ${done.status}`);
};

const shared = ["--rate", "60", "--repeat", "3", "--seed", "7", "--propagation", "1s"];
lastcall("rollout", "--scenario", "stop", ...shared, "--out", "stop");
lastcall("rollout", "--scenario", "drain", ...shared, "--out", "drain");
// A run that the machine disturbed was run again, in a folder of its own: the last one counts.
const last = (name) => [`${name}-3`, `${name}-2`, name].find((run) => existsSync(path.join(folder, run)));
lastcall("report", last("stop"), "--html", "stop.html");
lastcall("report", last("drain"), "--html", "drain.html", "--compare", last("stop"));

const chromium = await startChromium(program);
try {
  for (const { name, file, ...look } of [
    { name: "report-light", file: "stop.html", width: 1180, height: 1240 },
    { name: "report-dark", file: "stop.html", width: 1180, height: 1240, dark: true },
    { name: "report-phone", file: "stop.html", width: 390, height: 1500, ratio: 1.5 },
    { name: "compare-light", file: "drain.html", width: 1180, height: 1240 },
  ]) {
    // One after the other: each is a page of one browser.
    const page = await chromium.page(look);
    await page.open(path.join(folder, file));
    const png = await page.screenshot();
    writeFileSync(path.join(images, `${name}.png`), png);
    console.log(`docs/images/${name}.png  ${(png.length / 1024).toFixed(0)} kB`);
  }
} finally {
  await chromium.close();
  rmSync(folder, { recursive: true, force: true });
}
