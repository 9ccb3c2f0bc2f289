// `npm run bugs [--changed] [WORD...]`: plants each bug of bugs/ into a copy of the sources, builds it and runs the tests that should
// notice. Prints who caught it. Fails when one survives, no longer applies, does not compile, or when a test fails without
// any bug. Words choose bugs by a part of their name; --changed takes those in files that differ from the branch main.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { BUGS } from "../bugs/index.mjs";
import { plant } from "../bugs/plant.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const words = given.filter((arg) => arg !== "--changed");

/** What differs from main, committed or not. */
function changedFiles() {
  const done = spawnSync("git", ["diff", "--name-only", "main"], { cwd: root, encoding: "utf8" });
  if (done.status !== 0) {
    console.error(`--changed needs git and a branch main: ${done.stderr}`);
    process.exit(2);
  }
  return new Set(done.stdout.split("\n"));
}
/** More than the two cores that this must do with: most of the time of these tests is spent waiting. */
const AT_ONCE = 10;
/** A bug may keep a test from ending, which is a way of being caught. */
const TEST_LIMIT_MS = 60_000;

/** Our own packages are those of the copy; all others are linked. */
const OWN = new Set(["lastcall", "@lastcall", ".package-lock.json"]);

function makeCopy(folder) {
  for (const name of ["package.json", "tsconfig.base.json", "tsconfig.json"]) {
    cpSync(path.join(root, name), path.join(folder, name));
  }
  for (const name of ["packages/lastcall", "packages/lab"]) {
    // With their times, so that nothing is built twice.
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  const modules = path.join(folder, "node_modules");
  mkdirSync(path.join(modules, "@lastcall"), { recursive: true });
  for (const name of readdirSync(path.join(root, "node_modules"))) {
    if (!OWN.has(name)) {
      symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
    }
  }
  symlinkSync(path.join(folder, "packages/lastcall"), path.join(modules, "lastcall"));
  symlinkSync(path.join(folder, "packages/lab"), path.join(modules, "@lastcall/lab"));
}

/** Runs a command in its own process group, so that nothing of it outlives its limit. */
function run(folder, command, args, limitMs) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let isLate = false;
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, limitMs);
    child.on("close", (code) => {
      clearTimeout(timer);
      killGroup(child.pid);
      resolve({ code, output, isLate });
    });
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** `lab/contract/a#A5` is the test of clause A5 in packages/lab/test/contract/a.test.ts. */
function testCommand(test) {
  const [file, clause] = test.split("#");
  const [owner, ...rest] = file.split("/");
  return [
    "--test",
    "--test-reporter=tap",
    `--test-timeout=${TEST_LIMIT_MS}`,
    ...(clause === undefined ? [] : [`--test-name-pattern=^${clause} `]),
    `packages/${owner}/dist/test/${rest.join("/")}.test.js`,
  ];
}

/** The first failing test, or null. */
async function firstFailure(folder, tests) {
  for (const test of tests) {
    const { code, output, isLate } = await run(
      folder,
      process.execPath,
      testCommand(test),
      TEST_LIMIT_MS + 5000,
    );
    if (isLate) {
      return `${test}: never ended`;
    }
    if (code !== 0) {
      const failed = [...output.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, title]) => title);
      return `${test}: ${failed.find((title) => !title.endsWith(".js")) ?? `exit code ${code}`}`;
    }
    if (!/^# pass [1-9]/m.test(output)) {
      return `${test}: it has no such test`;
    }
  }
  return null;
}

/** The workspace of the last bug of each copy. */
const leftIn = new Map();

async function judge(folder, bug) {
  const file = path.join(folder, bug.file);
  const source = readFileSync(file, "utf8");
  const planted = plant(source, bug.find, bug.replace);
  if (planted === null) {
    return { ok: false, verdict: `does not apply: ${bug.file} does not have its text exactly once` };
  }
  const workspace = bug.file.split("/").slice(0, 2).join("/");
  // What the bug before has left in the build goes as well.
  const stale = new Set([workspace, leftIn.get(folder) ?? workspace]);
  leftIn.set(folder, workspace);
  try {
    writeFileSync(file, planted);
    const built = await run(
      folder,
      path.join(folder, "node_modules/.bin/tsc"),
      ["-b", ...stale],
      TEST_LIMIT_MS,
    );
    if (built.code !== 0) {
      return { ok: false, verdict: `does not compile: ${built.output.split("\n")[0]}` };
    }
    const failure = await firstFailure(folder, bug.tests);
    return failure === null ? { ok: false, verdict: "SURVIVED" } : { ok: true, verdict: failure };
  } finally {
    writeFileSync(file, source);
  }
}

/** Each of the copies takes the next item as soon as it is free. */
async function spread(folders, items, work) {
  const queue = [...items];
  const worker = async (folder) => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      await work(folder, item);
    }
  };
  await Promise.all(folders.map(worker));
}

const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);
const changed = given.includes("--changed") ? changedFiles() : null;
const bugs = BUGS.filter(
  ({ name, file }) =>
    (words.length === 0 || words.some((word) => name.includes(word))) && (changed?.has(file) ?? true),
);
if (bugs.length === 0) {
  console.error(
    changed === null
      ? `No bug is named ${words.join(" or ")}.`
      : "No bug is in a file that differs from main.",
  );
  process.exit(changed === null ? 2 : 0);
}
const names = new Set(bugs.map(({ name }) => name));
if (names.size !== bugs.length) {
  console.error("Two bugs have the same name.");
  process.exit(2);
}
const base = mkdtempSync(path.join(tmpdir(), "lastcall-bugs-"));
let failed = 0;
try {
  const folders = Array.from({ length: AT_ONCE }, (_, at) => path.join(base, String(at)));
  folders.forEach((folder) => makeCopy(folder));

  const tests = [...new Set(bugs.flatMap((bug) => bug.tests))];
  await spread(folders, tests, async (folder, test) => {
    const failure = await firstFailure(folder, [test]);
    if (failure !== null) {
      failed += 1;
      console.log(`FAILS WITHOUT ANY BUG  ${failure}`);
    }
  });
  console.log(`${tests.length} tests without a bug: ${failed} fail (${seconds()} s)`);

  const width = Math.max(...bugs.map(({ name }) => name.length));
  await spread(folders, bugs, async (folder, bug) => {
    const { ok, verdict } = await judge(folder, bug);
    failed += ok ? 0 : 1;
    console.log(`${bug.name.padEnd(width)}  ${ok ? "caught by " : ""}${verdict}`);
  });
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(
  `${bugs.length} bugs planted, ${failed === 0 ? "none survived" : `${failed} failures`} (${seconds()} s, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)})`,
);
process.exit(failed === 0 ? 0 : 1);
