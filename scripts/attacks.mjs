// `npm run attacks [-- NAME...] [--json] [--write]`: each way in which an expert would try to break "0 lost" (attacks/), against a
// service on the library and against the usual stop. Words choose attacks by a part of their name; --write puts the figures into
// docs/attacks.md. Exit codes: 0 nothing forbidden was seen, 1 something was, 2 wrong usage, 4 a row proves nothing (its control was
// not hurt, a router is not here, the machine was too busy).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, getPriority, loadavg, release, setPriority, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ATTACKS } from "../attacks/all.mjs";
import { MEASURES, NEVER, blindBecause, brokenBy } from "../attacks/apparatus/judge.mjs";
import { page, textTable, verdictOf } from "../attacks/apparatus/report.mjs";
import { NoRun } from "../attacks/apparatus/rollout.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    jobs: { type: "string", default: "3" },
  },
});
const chosen = ATTACKS.filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
);
if (chosen.length === 0) {
  console.error(
    `No attack is named ${positionals.join(" or ")}. There are: ${ATTACKS.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}
if (values.write && positionals.length > 0) {
  console.error("--write puts the whole page anew: it takes all attacks.");
  process.exit(2);
}

/** What is measured goes before what else the machine does, where it may (CAP_SYS_NICE); the services inherit it. */
function goFirst() {
  try {
    if (getPriority() > -10) setPriority(-10);
    // Linux weighs sessions first.
    const file = "/proc/self/autogroup";
    const before = / nice (-?\d+)/.exec(readFileSync(file, "utf8"))?.[1];
    if (before === undefined) return;
    writeFileSync(file, "-10");
    process.on("exit", () => writeFileSync(file, before));
  } catch {
    // Then the figures are those of a machine that has other work as well.
  }
}
goFirst();

/** A control may be lucky: it is run again so often before the row is said to prove nothing. */
const CONTROL_RUNS = 3;
const stand = { folder: mkdtempSync(path.join(tmpdir(), "lastcall-attacks-")) };
process.on("exit", () => rmSync(stand.folder, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(130));

async function attackRow(attack, row) {
  const beganAt = performance.now();
  const result = {
    name: row.name,
    stop: row.control,
    hurts: row.hurts,
    lastcall: null,
    control: null,
    broken: [],
    blind: [],
    notRun: null,
    says: "",
  };
  try {
    for (let n = 0; n < CONTROL_RUNS && (n === 0 || result.blind.length > 0); n += 1) {
      result.control = await attack.run(row, row.control, stand);
      result.blind = blindBecause(row, result.control);
    }
    result.lastcall = await attack.run(row, "lastcall", stand);
    result.broken = brokenBy(row, result.lastcall, result.control);
    result.says = attack.says({ row, lastcall: result.lastcall, control: result.control });
  } catch (error) {
    if (!(error instanceof NoRun)) throw error;
    result.notRun = error.message;
  }
  const took = ((performance.now() - beganAt) / 1000).toFixed(0);
  console.error(`${attack.name}, ${row.name}: ${verdictOf(result)} (${took} s)`);
  return result;
}

const startedAt = performance.now();
const at = new Date().toISOString();
const loadBefore = loadavg()[0];
const results = chosen.map(({ name, title, argument, promise, remains, found, clauses, rows }) => ({
  name,
  title,
  argument,
  promise,
  remains,
  found,
  clauses,
  rows: rows.map(() => null),
}));
const todo = chosen.flatMap((attack, a) => attack.rows.map((row, r) => ({ attack, row, a, r })));
const run = async ({ attack, row, a, r }) => {
  results[a].rows[r] = await attackRow(attack, row);
};
// What is aimed on bare sockets has the machine to itself; rolling restarts are mostly waiting.
for (const one of todo.filter(({ row }) => row.router === undefined)) await run(one);
const queue = todo.filter(({ row }) => row.router !== undefined);
await Promise.all(
  Array.from({ length: Number(values.jobs) }, async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await run(one);
  }),
);

const rows = results.flatMap((one) => one.rows);
const exitCode = rows.some(({ broken }) => broken.length > 0)
  ? 1
  : rows.some((one) => verdictOf(one) !== "kept")
    ? 4
    : 0;
const routers = new Set(
  rows.map(({ lastcall }) => lastcall?.router).filter((name) => name && name !== "embedded"),
);
const told = {
  schema: "lastcall.attacks/1",
  at,
  seconds: (performance.now() - startedAt) / 1000,
  machine: {
    node: process.version,
    kernel: release(),
    cores: availableParallelism(),
    load: [loadBefore, loadavg()[0]],
    routers: [...routers],
  },
  exitCode,
  attacks: results,
};
console.log(values.json ? JSON.stringify(told, null, 2) : textTable(results));
if (values.write) {
  const judgedBy = Object.keys(NEVER)
    .map((name) => MEASURES[name])
    .join(", ");
  writeFileSync(path.join(root, "docs/attacks.md"), page({ ...told, judgedBy }));
}
const kept = rows.filter((one) => verdictOf(one) === "kept").length;
console.error(`${kept} of ${rows.length} rows kept, in ${Math.round(told.seconds)} s`);
process.exit(exitCode);
