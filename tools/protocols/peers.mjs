// Where the peers' packages are: they live in a folder of their own with a lock file of their own.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../peers/", import.meta.url));

export const peer = createRequire(path.join(folder, "package.json"));

export function version(name) {
  return JSON.parse(readFileSync(path.join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

/** What a folder's lock file names, where it is not installed. */
export function install(where) {
  if (existsSync(path.join(where, "node_modules"))) return;
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: where, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

export const PEERS_FOLDER = folder;
