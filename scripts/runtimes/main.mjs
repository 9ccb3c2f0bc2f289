// `npm run runtimes`: what of the library works on Deno and Bun, and what is refused there with its code; Node beside them.
// Installs both where they are missing. Usage: node scripts/runtimes/main.mjs [WORD of a row's name]...
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ask, recordsIn, Show, until } from "../show.mjs";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const tools = path.join(root, "tools/runtimes");
const library = path.join(root, "packages/lastcall/dist/src");
const AUTO = pathToFileURL(path.join(library, "auto.js")).href;
const SERVICE = path.join(root, "scripts/runtimes/service.mjs");

const installed = (name, ...more) => path.join(tools, "node_modules", name, ...more);
const BUN = installed(".bin/bun");
const DENO = installed("deno/deno");
const RUNTIMES = {
  node: { command: process.execPath, run: [], import: ["--import", AUTO], version: ["-v"] },
  deno: { command: DENO, run: ["run", "--allow-all"], import: ["--import", AUTO], version: ["-v"] },
  bun: { command: BUN, run: [], import: ["--preload", fileURLToPath(AUTO)], version: ["-v"] },
};

const TIGHT = { LASTCALL_GRACE_PERIOD: "4s" };
const explicit = {
  name: "an explicit lifecycle: in flight, teardown, record",
  style: "explicit",
  ask: "/slow",
  expect: { answer: 200, exit: 0, outcome: "drained", accepted: 2 },
};
const auto = {
  name: "auto mode: in flight, record",
  style: "plain",
  auto: true,
  ask: "/slow",
  expect: { answer: 200, exit: 0, outcome: "drained", accepted: 2 },
};
const stuck = {
  name: "a request that never ends is cut at the deadline",
  style: "explicit",
  ask: "/stuck",
  env: TIGHT,
  expect: { answer: 503, exit: 3, outcome: "incomplete" },
};
const blocked = {
  name: "a blocked event loop is ended",
  style: "explicit",
  ask: "/slow",
  meanwhile: "/spin",
  env: { LASTCALL_GRACE_PERIOD: "6s", LASTCALL_DRAIN_DELAY: "1500ms" },
};
const ROWS = [
  { runtime: "node", ...explicit },
  { runtime: "node", ...auto },
  { runtime: "node", ...stuck },
  { runtime: "node", ...blocked, expect: { exit: 3, outcome: "incomplete", blockedIn: /^spinsForever/ } },
  { runtime: "deno", ...explicit },
  { runtime: "deno", ...auto },
  { runtime: "deno", ...stuck },
  { runtime: "deno", ...blocked, expect: { exit: "SIGKILL", outcome: "incomplete", blockedIn: /^native/ } },
  {
    runtime: "bun",
    name: "tasks, hooks and record, Bun's own server in a hook",
    style: "bun-serve",
    ask: "/slow",
    expect: { answer: 200, exit: 0, outcome: "drained" },
  },
  {
    runtime: "bun",
    name: "life.http() is refused with its code",
    style: "explicit",
    expect: { exit: 1, says: /LASTCALL_RUNTIME/ },
  },
  {
    runtime: "bun",
    name: "auto mode says that it does nothing, and the app runs",
    style: "plain",
    auto: true,
    ask: "/",
    expect: { answer: 200, exit: "SIGTERM", says: /LASTCALL_RUNTIME/ },
  },
  {
    runtime: "bun",
    name: "auto mode refuses to start, LASTCALL_STRICT=1",
    style: "plain",
    auto: true,
    env: { LASTCALL_STRICT: "1" },
    expect: { exit: 1, says: /LASTCALL_RUNTIME.*\n.*not started/ },
  },
];

async function run({ runtime, style, ask: url, meanwhile, auto: isAuto, env }) {
  const { command, run: words, import: flags } = RUNTIMES[runtime];
  const child = spawn(command, [...words, ...(isAuto ? flags : []), SERVICE, style], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: tmpdir(),
      NO_COLOR: "1",
      DENO_NO_UPDATE_CHECK: "1",
      LASTCALL_DRAIN_DELAY: "300ms",
      LIBRARY: path.join(library, "index.js"),
      ...env,
    },
  });
  const closed = once(child, "close");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  }
  let answer = "not asked";
  if (url !== undefined) {
    const told = await until(
      "its port",
      () => /listening (\d+)/.exec(said) ?? (child.exitCode !== null && [0, 0]),
    );
    const port = Number(told[1]);
    const asked = ask(port, url);
    await ask(port, "/");
    child.kill("SIGTERM");
    if (meanwhile !== undefined) {
      await until("the stop to begin", () => /not ready/.test(said));
      void ask(port, meanwhile);
    }
    answer = await asked;
  }
  const [code, signal] = await closed;
  clearTimeout(timer);
  return { answer, exit: code ?? signal, said, record: recordsIn(said).at(-1) };
}

function judge(expect, { answer, exit, said, record }) {
  const wrong = [];
  const must = (isSo, what) => void (isSo || wrong.push(what));
  must(expect.answer === undefined || answer === expect.answer, `the request got ${answer}`);
  must(exit === expect.exit, `exit ${exit}, not ${expect.exit}`);
  must(expect.outcome === record?.outcome, `the outcome is ${record?.outcome}`);
  must(
    expect.accepted === undefined || record?.requests.accepted >= expect.accepted,
    `accepted ${record?.requests.accepted}`,
  );
  must(expect.blockedIn?.test(record?.blockedIn ?? "") ?? true, `blockedIn is ${record?.blockedIn}`);
  must(expect.says?.test(said) ?? true, `it said nothing like ${expect.says}: ${said.slice(0, 500)}`);
  return wrong;
}

if (!existsSync(BUN) || !existsSync(DENO)) {
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: tools, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
const rows = ROWS.filter(({ runtime, name }) =>
  process.argv.slice(2).every((word) => `${runtime} ${name}`.includes(word)),
);
const versions = Object.fromEntries(
  Object.entries(RUNTIMES).map(([name, { command, version }]) => {
    const text = spawnSync(command, version, { encoding: "utf8" }).stdout;
    return [name, `${name} ${/\d+\.\d+\.\d+/.exec(text)?.[0]}`];
  }),
);
const show = new Show(rows.map(({ name }) => name));
for (const row of rows) {
  const seen = await run(row);
  const { outcome, blockedIn } = seen.record ?? {};
  const told = [outcome ?? "no record", ...(blockedIn === undefined ? [] : [`blocked in ${blockedIn}`])];
  show.row(
    row.name,
    versions[row.runtime],
    `answer ${seen.answer}, exit ${seen.exit}, ${told.join(", ")}`,
    judge(row.expect, seen),
  );
}
process.exitCode = show.end();
