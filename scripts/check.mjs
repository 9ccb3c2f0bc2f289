// `npm run check`: every gate, in the order of how fast it fails. The same command here and in CI.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** A gate's name is what it prints; its command is found among the installed packages or is a script of ours. */
const gates = [
  { name: "types and build", command: "npx", args: ["--no-install", "tsc", "-b"] },
  { name: "format", command: "npx", args: ["--no-install", "oxfmt", "--check", "."] },
  { name: "lint", command: "npx", args: ["--no-install", "oxlint", "."] },
];

let failed = 0;
for (const { name, command, args } of gates) {
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
console.log(`${gates.length - failed} gates passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
