// `npm run demo`: from a fresh clone to the classic table. Installs and builds what is missing, then restarts the orders
// service six ways under load, behind nginx where it is installed and behind the embedded router where it is not.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { prepareWorkspace } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

function run(command, args) {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

prepareWorkspace(run);
console.log(`
Two copies of a small orders service, 20 requests a second, and a router that learns 1 s late that a copy leaves.
Each row restarts both copies. The first four rows show what is lost without care, the last one what care is worth.
It takes about a minute more.
`);
run(process.execPath, [
  path.join(root, "packages/lab/bin/lastcall.js"),
  "rollout",
  "--all",
  ...process.argv.slice(2),
]);
