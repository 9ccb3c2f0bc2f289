// `npm run check` runs every gate (--all), in the order of how fast it fails; without it the three quick ones run.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const node = process.execPath;

/** A gate's name is what it prints; its command is found among the installed packages or is a script of ours. */
const gates = [
  { name: "types and build", command: "npx", args: ["--no-install", "tsc", "-b"] },
  { name: "format", command: "npx", args: ["--no-install", "oxfmt", "--check", "."] },
  { name: "lint", command: "npx", args: ["--no-install", "oxlint", "."] },
  { name: "generated documents", command: node, args: ["scripts/docs.mjs", "--check"] },
  { name: "lock files", command: node, args: ["scripts/lockfiles.mjs"] },
  { name: "unused files and exports", command: "npx", args: ["--no-install", "knip"] },
  { name: "public surface", command: node, args: ["scripts/api.mjs"] },
  {
    name: "package lastcall",
    command: "npx",
    args: ["--no-install", "publint", "--strict", "packages/lastcall"],
  },
  { name: "package lab", command: "npx", args: ["--no-install", "publint", "--strict", "packages/lab"] },
  {
    name: "types of the package",
    command: "npx",
    args: ["--no-install", "attw", "--pack", "packages/lastcall", "--profile", "esm-only"],
  },
];
/** While one works: types, format and lint alone. */
const asked = process.argv.includes("--all") ? gates : gates.slice(0, 3);

let failed = 0;
for (const { name, command, args } of asked) {
  const started = performance.now();
  const done = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const ok = done.status === 0;
  console.log(`${ok ? "pass" : "FAIL"}  ${name} (${seconds} s)`);
  if (!ok) {
    failed += 1;
    console.log(`${done.stdout}${done.stderr}`);
  }
}
console.log(`${asked.length - failed} gates passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
