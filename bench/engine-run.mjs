// One run of the load engine alone: open loop at a given rate against a server that stands already, a full record for each request,
// each written into a ledger. Prints what came of it as JSON.
// Usage: node bench/engine-run.mjs PORT RATE SECONDS [--fresh] [--no-ledger]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startRunClock } from "../packages/lab/dist/src/ledger/clock.js";
import { createLedger } from "../packages/lab/dist/src/ledger/writer.js";
import { createLoadEngine } from "../packages/lab/dist/src/load/engine.js";

const [port, rate, seconds] = process.argv.slice(2, 5).map(Number);
const fresh = process.argv.includes("--fresh");
const folder = mkdtempSync(path.join(tmpdir(), "lastcall-bench-"));
const ledger = process.argv.includes("--no-ledger") ? null : await createLedger(folder);
const clock = startRunClock();
const engine = createLoadEngine(
  {
    host: "127.0.0.1",
    port,
    seed: 1,
    arrivals: { kind: "constant", ratePerSecond: rate },
    mix: [{ method: "GET", path: "/work?id={id}", body: null, weight: 1 }],
    keepAlive: !fresh,
    timeoutMs: 30_000,
    maxDurationMs: seconds * 1000,
  },
  clock.baseMs,
);

/** Enough for every request of the run. */
const most = Math.ceil(rate * seconds) + 1;
const lags = new Float64Array(most);
const latencies = new Float64Array(most);
let count = 0;
let whole = 0;
let connections = 0;
let firstMs = Infinity;
let lastMs = 0;
const failures = {};
const done = new Promise((resolve) => {
  engine.onRecords((batch) => {
    ledger?.writeAll(batch);
    for (const record of batch) {
      lags[count] = record.dispatchedMs - record.intendedMs;
      latencies[count] = record.endedMs - record.intendedMs;
      count += 1;
      firstMs = Math.min(firstMs, record.intendedMs);
      lastMs = Math.max(lastMs, record.endedMs);
      connections = Math.max(connections, record.connection.id);
      if (record.fate === "failed") {
        const key = `${record.stage} ${record.error}`;
        failures[key] = (failures[key] ?? 0) + 1;
      } else if (record.connectedMs !== null && record.writtenMs !== null && record.firstByteMs !== null) {
        whole += 1;
      }
    }
    if (count >= rate * seconds) resolve();
  });
});

const cpu = process.cpuUsage();
await engine.start();
await done;
await engine.stop();
await ledger?.close();
const used = process.cpuUsage(cpu);
rmSync(folder, { recursive: true, force: true });

const shape = (values) => {
  // Without a comparison function: what is measured is not the sorting.
  const seen = values.subarray(0, count).toSorted();
  return Object.fromEntries(
    [0.5, 0.99, 0.999, 1].map((q) => [
      `p${q * 100}`,
      Number(seen[Math.min(count - 1, Math.floor(q * count))].toFixed(2)),
    ]),
  );
};
console.log(
  JSON.stringify({
    answered: whole,
    failed: count - whole,
    failures,
    seconds: (lastMs - firstMs) / 1000,
    connections,
    lagMs: shape(lags),
    latencyMs: shape(latencies),
    cpuMicros: Number(((used.user + used.system) / count).toFixed(1)),
  }),
);
