// What a fresh clone needs before anything runs: the packages of the lock file and a build.
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Installs when node_modules is missing or older than the lock file, then builds. */
export function prepareWorkspace(run) {
  const installed = path.join(root, "node_modules/.package-lock.json");
  const lock = path.join(root, "package-lock.json");
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
    run("npm", ["ci", "--no-fund", "--no-audit"]);
  } else {
    run("npx", ["--no-install", "tsc", "-b"]);
  }
}
