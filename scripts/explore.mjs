// `npm run explore [DEPTH] [RUNS]`: walks every order of events up to DEPTH, and RUNS random ones beyond it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { prepareWorkspace } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [depth = "4", runs = "5000"] = process.argv.slice(2);

prepareWorkspace((command, args) => {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
});
const files = ["explorer", "explorer-random"].map((name) => `packages/lastcall/dist/test/${name}.test.js`);
const done = spawnSync(
  process.execPath,
  [
    "--enable-source-maps",
    "--max-old-space-size=4096",
    "--test",
    "--test-reporter=spec",
    "--test-concurrency=2",
    ...files,
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, EXPLORE_DEPTH: depth, EXPLORE_RUNS: runs } },
);
process.exit(done.status ?? 1);
