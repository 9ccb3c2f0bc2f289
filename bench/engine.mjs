// The load engine alone: open loop at a given rate against a trivial server in another process, a full record for each
// request. Usage: node bench/engine.mjs [RATE=10000] [SECONDS=5] [--fresh]
// Prints what was sent, the rate reached, the dispatch lag and the CPU time of this process (engine and main thread).
// The control is a timer of 5 ms in the idle main thread: how late it fires is what the machine adds to any lag.
import { spawn } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { startRunClock } from "../packages/lab/dist/src/ledger/clock.js";
import { createLoadEngine } from "../packages/lab/dist/src/load/engine.js";

const numbers = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const rate = Number(numbers[0] ?? 10_000);
const seconds = Number(numbers[1] ?? 5);
const fresh = process.argv.includes("--fresh");

const server = spawn(
  process.execPath,
  [fileURLToPath(new URL("./raw-server.mjs", import.meta.url)), ...(fresh ? ["--close"] : [])],
  { stdio: ["pipe", "pipe", "inherit"] },
);
const [line] = await once(server.stdout, "data");

const clock = startRunClock();
const engine = createLoadEngine(
  {
    host: "127.0.0.1",
    port: Number(String(line)),
    seed: 1,
    arrivals: { kind: "constant", ratePerSecond: rate },
    mix: [
      { method: "GET", path: "/work?id={id}", body: null, weight: 1 },
      { method: "POST", path: "/orders", body: '{"id":"{id}"}', weight: 1 },
    ],
    keepAlive: !fresh,
    timeoutMs: 10_000,
    maxDurationMs: seconds * 1000,
  },
  clock.baseMs,
);

const lags = [];
const latencies = [];
const failures = {};
let lastMs = 0;
let connections = 0;
engine.onRecords((batch) => {
  for (const record of batch) {
    lags.push(record.dispatchedMs - record.intendedMs);
    latencies.push(record.endedMs - record.intendedMs);
    lastMs = Math.max(lastMs, record.dispatchedMs);
    connections = Math.max(connections, record.connection.id);
    if (record.fate === "failed") {
      const key = `${record.stage} ${record.error}`;
      failures[key] = (failures[key] ?? 0) + 1;
    }
  }
});

const control = [];
let dueMs = clock.now() + 5;
const controlTimer = setInterval(() => {
  const firedMs = clock.now();
  control.push(Math.max(0, firedMs - dueMs));
  dueMs = firedMs + 5;
}, 5);

const cpu = process.cpuUsage();
const startedMs = clock.now();
await engine.start();
await new Promise((resolve) => setTimeout(resolve, seconds * 1000 + 50));
await engine.stop();
clearInterval(controlTimer);
const used = process.cpuUsage(cpu);
server.stdin.end();

const quantile = (values, q) => {
  const sorted = Float64Array.from(values).toSorted();
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0).toFixed(2));
};
const shape = (values) => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  p999: quantile(values, 0.999),
  max: quantile(values, 1),
});
console.log(
  JSON.stringify({
    node: process.version,
    cores: os.cpus().length,
    load: os.loadavg().map((load) => Number(load.toFixed(1))),
    fresh,
    wanted: rate,
    sent: lags.length,
    reached: Math.round((lags.length / (lastMs - startedMs)) * 1000),
    connections,
    failures,
    dispatchLagMs: shape(lags),
    controlLagMs: shape(control),
    latencyMs: shape(latencies),
    cpuMicrosPerRequest: Number(((used.user + used.system) / lags.length).toFixed(1)),
  }),
);
