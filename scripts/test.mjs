// `npm test`: installs what is missing, builds, and runs every compiled test with the Node that runs this file.
// With --no-build and a list of words it runs only the test files whose path holds one of them.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith("--"));
const words = args.filter((arg) => !arg.startsWith("--"));

function run(command, commandArgs) {
  const done = spawnSync(command, commandArgs, { cwd: root, stdio: "inherit" });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

if (!flags.includes("--no-build")) {
  const { prepareWorkspace } = await import("./prepare.mjs");
  prepareWorkspace(run);
}

const files = ["packages/lastcall", "packages/lab", "examples/orders", "scripts"].flatMap((workspace) => {
  const compiled = path.join(root, workspace, workspace === "scripts" ? "test" : "dist/test");
  if (!existsSync(compiled)) return [];
  return readdirSync(compiled, { recursive: true })
    .map(String)
    .filter((name) => /\.test\.m?js$/.test(name))
    .filter(
      // tsc keeps the output of a deleted file: a compiled test without a source is not a test.
      (name) =>
        workspace === "scripts" ||
        existsSync(path.join(root, workspace, "test", name.replace(/\.js$/, ".ts"))),
    )
    .map((name) => path.join(compiled, name))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
});

if (files.length === 0) {
  console.error(`No test file matches ${words.join(", ")}.`);
  process.exit(2);
}
const done = spawnSync(
  process.execPath,
  [
    "--enable-source-maps",
    "--test",
    "--test-reporter=spec",
    "--test-timeout=120000",
    "--test-concurrency=2",
    ...flags.filter((flag) => flag !== "--no-build"),
    ...files,
  ],
  { cwd: root, stdio: "inherit" },
);
process.exit(done.status ?? 1);
