// `npm run soak [SHUTDOWNS] [SEED]`: real shutdowns at random instants under load; without a seed another one each time.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { prepareWorkspace } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [shutdowns = "500", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);

prepareWorkspace((command, args) => {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
});
console.log(`seed ${seed}`);
const done = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", "--test-reporter=spec", "packages/lastcall/dist/test/soak.test.js"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, SOAK_SHUTDOWNS: shutdowns, SOAK_AT_ONCE: "4", SOAK_SEED: seed },
  },
);
process.exit(done.status ?? 1);
