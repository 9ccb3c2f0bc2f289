// The whole lab at a high rate: `lastcall rollout` restarts two copies of a light service behind a router, on two cores for all of it,
// and its own ledger says how late each request was sent.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { readLedger } from "../packages/lab/dist/src/ledger/reader.js";
import { findTool } from "./load-tools.mjs";
import { ahead, pinned, twoCores } from "./cores.mjs";
import { measured } from "./measured.mjs";
import { median, quantile, shuffle, table } from "./stats.mjs";

const RATE = 5000;
const LAG_MS = 10;
const ROUNDS = 3;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The rate that was reached and the dispatch lag, from the ledger. */
async function readRun(folder) {
  const lags = [];
  const lost = {};
  let firstMs = Infinity;
  let lastMs = 0;
  for await (const batch of readLedger(path.join(folder, "ledger.ndjson")).batches) {
    for (const record of batch) {
      if (record.kind !== "request") continue;
      lags.push(record.dispatchedMs - record.intendedMs);
      firstMs = Math.min(firstMs, record.intendedMs);
      lastMs = Math.max(lastMs, record.dispatchedMs);
      if (record.fate === "failed" || record.status >= 400) {
        const key = record.error ?? record.status;
        lost[key] = (lost[key] ?? 0) + 1;
      }
    }
  }
  const seconds = (lastMs - firstMs) / 1000;
  return { sent: lags.length, seconds, reached: (lags.length - 1) / seconds, lags, lost };
}

/** Each router as anybody would run the lab, and the first once more with the lab's session before the others. */
function variantsOf(routers) {
  const plain = routers.map((router) => ({ name: router, router, before: (words) => words }));
  return ahead([]) === null
    ? plain
    : [...plain, { name: `${routers[0]}, the lab ahead`, router: routers[0], before: ahead }];
}

async function oneRun({ router, before }, folder, cores) {
  const command = [
    process.execPath,
    file("../packages/lab/dist/src/main.js"),
    ...`rollout --scenario drain --json --router ${router} --rate ${RATE}`.split(" "),
    ..."--upstream-keepalive --client-keepalive --get /work?id={id} --post /orders --ready /readyz".split(
      " ",
    ),
    "--out",
    folder,
    "--",
    process.execPath,
    file("./light-service.mjs"),
    "{port}",
  ];
  const startedMs = performance.now();
  const { code, out, err, cpuMs } = await measured(before(pinned(cores, command)));
  const passedMs = performance.now() - startedMs;
  if (out === "")
    throw new Error(`rollout behind ${router} left with ${code} and said: ${err.slice(0, 500)}`);
  const [{ verdict }] = JSON.parse(out).rows;
  return { ...(await readRun(folder)), code, verdict, cores: cpuMs / passedMs };
}

const fixed = (value) => value.toFixed(1);

function rowOf(router, round, { sent, reached, lags, verdict, cores, lost }) {
  const words = Object.entries(lost).map(([what, count]) => `${what} ${count}`);
  return {
    router,
    round,
    requests: sent,
    "sent/s": Math.round(reached),
    "lag p50 ms": fixed(quantile(lags, 0.5)),
    "lag p99 ms": fixed(quantile(lags, 0.99)),
    "lag p99.9 ms": fixed(quantile(lags, 0.999)),
    "lag most ms": fixed(quantile(lags, 1)),
    "answer p99 ms": fixed(verdict.latency.p99),
    bad: words.length === 0 ? "0" : words.join(", "),
    "the service's": verdict.requests.byCharge.service,
    verdict: verdict.outcome,
    "processors used": cores.toFixed(2),
  };
}

export async function fullPipeline() {
  const cores = twoCores();
  const routers = ["nginx", "embedded"].filter((name) => name === "embedded" || findTool(name) !== null);
  const variants = variantsOf(routers);
  const runs = new Map(variants.map(({ name }) => [name, []]));
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-bench-"));
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [at, variant] of shuffle([...variants.entries()], round + 1)) {
        runs.get(variant.name).push(await oneRun(variant, path.join(folder, `${at}-${round}`), cores));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const lagP99 = (run) => quantile(run.lags, 0.99);
  const meets = ({ name }) =>
    median(runs.get(name).map((run) => run.reached)) >= 0.995 * RATE &&
    median(runs.get(name).map(lagP99)) < LAG_MS;
  const [plain] = variants;
  const first = variants.find(({ before }) => before === ahead);
  return {
    title: "pipeline: two copies, router, load engine and ledger on two cores",
    target: `${RATE.toLocaleString("en")} requests/s open loop with a dispatch lag p99 under ${LAG_MS} ms behind ${plain.name}${first === undefined ? "" : ` (${first.name}: ${meets(first) ? "met" : "missed"})`}`,
    pass: meets(plain),
    table: table(
      variants.flatMap(({ name }) => runs.get(name).map((run, round) => rowOf(name, round + 1, run))),
    ),
    method: `\`lastcall rollout --rate ${RATE} --upstream-keepalive --client-keepalive\`, GET and POST in equal shares, each of two copies of a light service restarted once while the load goes on; lag and rate from the run's ledger, restarts included. ${cores === null ? "Not pinned: no taskset here, or one core only." : "Everything is held on two cores: the lab with its threads, the router, the copies and their replacements."} Processors used: processor time of all of it over the time that passed, start and verdict included.${first === undefined ? "" : " The lab ahead: its session goes before those of the router and the copies, as Linux shares processors out among sessions first."}${routers.length === 1 ? " nginx was not found here." : ""}`,
  };
}
