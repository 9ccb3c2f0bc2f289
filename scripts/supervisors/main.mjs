// `npm run supervisors`: real supervisors and inits stop a real service under auto mode with a request in flight. A row is kept
// when that request is answered whole, none of those that come meanwhile is lost, the exit code is what it should be, and the
// record says `drained`. A control shows what the supervisor does to a service that takes longer than it allows. Installs
// pm2 where it is missing. Leaves no daemon behind.
// Usage: node scripts/supervisors/main.mjs [--node PATH]... [WORD of a row's name]...
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { answers, ask, freePort, need, recordsIn, Show, versionOf } from "../show.mjs";
import { DAEMONS } from "./daemons.mjs";
import { INITS } from "./inits.mjs";
import { PM2 } from "./pm2.mjs";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const AUTO = pathToFileURL(path.join(root, "packages/lastcall/dist/src/auto.js")).href;
const SERVICE = path.join(root, "scripts/service.cjs");

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true } },
});
const rows = [...PM2, ...DAEMONS, ...INITS].filter(({ name }) => words.every((word) => name.includes(word)));
need(
  ["runsv", "sv", "s6-supervise", "s6-svc", "supervisord", "tini", "dumb-init", "unshare"],
  "runit s6 supervisor tini dumb-init util-linux",
);

/** Starts the service under its supervisor, has it stopped with a request in flight, and keeps asking where a row says so. */
async function run(row, node, folder) {
  const port = await freePort();
  const recordFile = path.join(folder, "records");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PORT: String(port),
    LASTCALL_RECORD_FILE: recordFile,
    ...row.env,
  };
  const flags = row.plain ? [] : ["--import", AUTO];
  const service = await row.start({ ...row, folder, node, env, import: flags, file: SERVICE });
  try {
    await answers(port);
    const inFlight = ask(port, row.ask ?? "/slow");
    await ask(port, "/");
    const through = new AbortController();
    const load = row.load ? keepAsking(port, through.signal) : Promise.resolve(null);
    const how = await service.stop();
    // Where the supervisor has given up on a service that goes on, nobody waits for the answer.
    const answer = await (how.alive ? "none yet" : inFlight);
    through.abort();
    const meanwhile = await load;
    const records = existsSync(recordFile) ? recordsIn(readFileSync(recordFile, "utf8")) : [];
    return { answer, meanwhile, records, ...how };
  } finally {
    await service.end();
  }
}

async function keepAsking(port, signal) {
  const seen = {};
  while (!signal.aborted) {
    const answer = await ask(port, "/");
    seen[answer] = (seen[answer] ?? 0) + 1;
    await delay(5);
  }
  return seen;
}

function describe({ answer, meanwhile, records, exit, alive, told }) {
  const outcomes = records.map(({ outcome, signal, why }) => `${outcome} (${signal ?? why})`).join(", ");
  return [
    `in flight: ${answer}`,
    ...(exit === undefined ? [] : [`exit ${exit}`]),
    ...(alive ? ["still running"] : []),
    ...(told === undefined ? [] : [told]),
    ...(meanwhile === null ? [] : [`meanwhile ${JSON.stringify(meanwhile)}`]),
    outcomes === "" ? "no record" : outcomes,
  ].join(", ");
}

function judge({ expect, load }, { answer, meanwhile, records, exit, alive = false, said = "" }) {
  const wrong = [];
  const must = (isSo, what) => void (isSo || wrong.push(what));
  const { records: count = 1, outcome = "drained" } = expect;
  must(expect.answer === undefined || answer === expect.answer, `the request in flight got ${answer}`);
  must(expect.exit === undefined || exit === expect.exit, `exit ${exit}, not ${expect.exit}`);
  must(alive === (expect.alive ?? false), alive ? "it still runs" : "it has ended");
  must(records.length === count, `${records.length} records`);
  must(
    records.every((record) => record.outcome === outcome),
    `the outcome is ${records.map((record) => record.outcome).join()}`,
  );
  must(expect.says?.test(said) ?? true, `it said nothing like ${expect.says}: ${said}`);
  if (load === "lossless") {
    must(Object.keys(meanwhile).join() === "200", `meanwhile ${JSON.stringify(meanwhile)}`);
  } else if (load) {
    // Refused is a clear no; what was dropped is lost. One may have come in the very moment of the close, where nobody was told (A8).
    const { 200: served, 503: told, ECONNREFUSED: refused, ECONNRESET: reset = 0, ...lost } = meanwhile;
    must(
      reset <= 1 && Object.keys(lost).length === 0,
      `meanwhile, of ${served + (told ?? 0) + refused}: ${JSON.stringify({ ...lost, ECONNRESET: reset })}`,
    );
  }
  return wrong;
}

const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-supervisors-"));
const show = new Show(rows.map(({ name }) => name));
try {
  for (const node of values.node ?? [process.execPath]) {
    for (const [at, row] of rows.entries()) {
      const folder = path.join(scratch, `${versionOf(node)}-${at}`);
      mkdirSync(folder);
      const seen = await run(row, node, folder);
      show.row(row.name, versionOf(node), describe(seen), judge(row, seen));
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = show.end();
