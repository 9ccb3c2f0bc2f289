import assert from "node:assert/strict";
import { Worker } from "node:worker_threads";
import { describe, test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { createLoadEngine } from "../../src/load/engine.ts";
import type { LoadPlan } from "../../src/load/load.ts";
import { rawServer } from "./raw-server.ts";
import { loadPlan, runLoad } from "./run-load.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

function plan(port: number, change: Partial<LoadPlan> = {}): LoadPlan {
  return loadPlan({
    port,
    arrivals: { kind: "constant", ratePerSecond: 200 },
    mix: [
      { method: "GET", path: "/work?id={id}", body: null, weight: 1 },
      { method: "POST", path: "/orders", body: '{"id":"{id}","note":"ä"}', weight: 1 },
    ],
    timeoutMs: 20_000,
    maxDurationMs: 60_000,
    ...change,
  });
}

describe("the load engine", () => {
  test("every request has one record, with its id in the headers and the key on a POST", async () => {
    const heads = new Map<string, string>();
    const server = await rawServer((socket, _n, chunk) => {
      heads.set(/x-request-id: (\S+)/.exec(chunk)?.[1] ?? "none", chunk);
      socket.write(OK);
    });
    const records = await runLoad(plan(server.port), 60);
    await server.close();
    assert.equal(heads.size, records.length);
    for (const record of records) {
      const head = heads.get(record.id) ?? "";
      assert.ok(head.startsWith(`${record.method} ${record.path} HTTP/1.1\r\n`), head);
      assert.equal(head.includes(`idempotency-key: ${record.id}\r\n`), record.method === "POST");
      const [, body = ""] = head.split("\r\n\r\n");
      assert.equal(Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0), body.length);
      assert.deepEqual([record.fate, record.status, record.error], ["answered", 200, null]);
      assert.ok(record.endedMs >= record.dispatchedMs && record.dispatchedMs >= record.intendedMs);
      assert.ok(record.intendedMs >= 0);
    }
    assert.deepEqual([...new Set(records.map((record) => record.method))].toSorted(), ["GET", "POST"]);
    // The order of the records is the order of their ends.
    const ends = records.map((record) => record.endedMs);
    assert.deepEqual(
      ends,
      ends.toSorted((a, b) => a - b),
    );
  });

  test("a server that stalls does not hold back the next requests, and its stall is counted from the intended time", async () => {
    const waiting: (() => void)[] = [];
    let stalled = true;
    const server = await rawServer((socket) => {
      if (stalled) {
        waiting.push(() => socket.write(OK));
      } else {
        socket.write(OK);
      }
      // A closed loop, or any cap below this, would never get here.
      if (waiting.length === 150) {
        stalled = false;
        for (const answer of waiting.splice(0)) {
          answer();
        }
      }
    });
    const records = await runLoad(plan(server.port), 150);
    await server.close();
    const stallMs = 149 * 5;
    const [first] = records.toSorted((a, b) => a.intendedMs - b.intendedMs);
    assert.ok(first !== undefined && first.endedMs - first.intendedMs >= stallMs);
    // Open loop: while nothing was answered, the schedule went on; each waited only for what was left of the stall.
    const waits = records.slice(0, 150).map((record) => record.endedMs - record.intendedMs);
    assert.ok(Math.min(...waits) < stallMs / 2, `the shortest wait was ${Math.min(...waits)}`);
  });

  test("at a high rate it is warm when it begins, and the service has seen nothing of that but connections", async () => {
    const ids = new Set<string>();
    const server = await rawServer((socket, _n, chunk) => {
      ids.add(/x-request-id: (\S+)/.exec(chunk)?.[1] ?? "none");
      socket.write(OK);
    });
    const arrivals = { kind: "constant", ratePerSecond: 2000 } as const;
    const records = await runLoad(plan(server.port, { arrivals, maxDurationMs: 100 }), 200);
    await server.close();
    assert.deepEqual([...ids].toSorted(), records.map(({ id }) => id).toSorted());
    assert.equal(records.length, 200);
    const [first] = records.toSorted((a, b) => a.intendedMs - b.intendedMs);
    assert.equal(first?.connectedMs, first?.dispatchedMs);
  });

  test("the same seed sends the same requests", async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const both = [await runLoad(plan(server.port), 30), await runLoad(plan(server.port), 30)].map((records) =>
      records
        .map((record) => `${record.id} ${record.method} ${record.path}`)
        .toSorted()
        .slice(0, 30),
    );
    await server.close();
    assert.deepEqual(both[0], both[1]);
  });

  test("stop waits for the fate of what is open", async () => {
    const server = await rawServer(() => {});
    const engine = createLoadEngine(plan(server.port, { timeoutMs: 600 }), startRunClock().baseMs);
    const records: RequestRecord[] = [];
    engine.onRecords((batch) => records.push(...batch));
    await engine.start();
    await engine.stop();
    await server.close();
    assert.ok(records.length > 0);
    assert.ok(records.every((record) => record.error === "TIMEOUT"));
  });

  test("nothing is sent past the longest duration", async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const records = await runLoad(plan(server.port, { maxDurationMs: 100 }), 20);
    await server.close();
    assert.equal(records.length, 20);
  });

  test("stop before start and stop twice are harmless", async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const engine = createLoadEngine(plan(server.port), startRunClock().baseMs);
    await engine.stop();
    await engine.start();
    await Promise.all([engine.stop(), engine.stop()]);
    await engine.stop();
    await server.close();
  });

  test("abort ends at once and drops what is open", async () => {
    const server = await rawServer(() => {});
    const engine = createLoadEngine(plan(server.port), startRunClock().baseMs);
    await engine.start();
    await engine.abort();
    await engine.stop();
    await server.close();
  });

  test("a plan that makes no sense is refused with its reason", () => {
    const wrong: Partial<LoadPlan>[] = [
      { arrivals: { kind: "constant", ratePerSecond: 0 } },
      { mix: [] },
      { mix: [{ method: "GET", path: "work", body: null, weight: 1 }] },
      { mix: [{ method: "GET", path: "/", body: null, weight: 0 }] },
      { timeoutMs: 0 },
    ];
    for (const change of wrong) {
      assert.throws(
        () => createLoadEngine(plan(1, change), 0),
        (error) => error instanceof LabError && error.code === "LAB_LOAD_PLAN",
      );
    }
  });

  test("the clocks of two threads agree", async () => {
    const clock = startRunClock();
    const url = new URL("../../src/ledger/clock.js", import.meta.url).href;
    const worker = new Worker(
      `import(${JSON.stringify(url)}).then(({ startRunClock }) => {
        const { parentPort, workerData } = require("node:worker_threads");
        parentPort.postMessage(startRunClock(workerData).now());
      });`,
      { eval: true, workerData: clock.baseMs },
    );
    const beforeMs = clock.now();
    const theirs = await new Promise<number>((resolve) => worker.once("message", resolve));
    const afterMs = clock.now();
    await worker.terminate();
    assert.ok(theirs > beforeMs && theirs < afterMs + 5, `${beforeMs} < ${theirs} < ${afterMs}`);
  });
});
