// `node scripts/load-tools.mjs [NAME]...`: fills tools/load with the load tools that `npm run bench -- engine` measures beside the lab's
// own, each in one exact version. vegeta and hey need Go, oha needs Cargo and some minutes; wrk comes from the system's packages.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "tools/load");
const bin = path.join(folder, "bin");

const INSTALLS = {
  vegeta: { words: ["go", "install", "github.com/tsenart/vegeta/v12@v12.13.0"], env: { GOBIN: bin } },
  hey: { words: ["go", "install", "github.com/rakyll/hey@v0.1.4"], env: { GOBIN: bin } },
  oha: { words: ["cargo", "install", "--locked", "--root", folder, "oha@1.16.0"] },
  autocannon: { words: ["npm", "ci", "--prefix", folder, "--no-fund", "--no-audit"] },
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in INSTALLS));
if (unknown.length > 0) {
  console.error(`load-tools: ${unknown.join(", ")}: choose from ${Object.keys(INSTALLS).join(", ")}.`);
  process.exit(2);
}
let failed = 0;
for (const name of names.length > 0 ? names : Object.keys(INSTALLS)) {
  const { words, env = {} } = INSTALLS[name];
  const { status } = spawnSync(words[0], words.slice(1), {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  console.log(`${name}: ${status === 0 ? "installed" : "could not be installed"}`);
  failed += status === 0 ? 0 : 1;
}
process.exitCode = failed === 0 ? 0 : 1;
