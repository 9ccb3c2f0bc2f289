import assert from "node:assert/strict";
import { test } from "node:test";
import { createLifecycle } from "../src/create.ts";
import { exitCodeOf, formatRecord, RECORD_LIMIT_BYTES, type ShutdownRecord } from "../src/record.ts";
import { FakeHost } from "../src/testing.ts";

async function anyRecord(): Promise<ShutdownRecord> {
  const life = createLifecycle({}, new FakeHost());
  life.ready();
  return life.shutdown("test");
}

test("E1 the record is one line of at most 4 KiB: lists are cut and say so, counts never are", async () => {
  const record = await anyRecord();
  const unfinished = Array.from({ length: 1000 }, (_, at) => ({
    route: `GET /a/long/path/${at}/${"x".repeat(500)}`,
    ageMs: 1,
    cut: "503" as const,
  }));
  const line = formatRecord({
    ...record,
    unfinished,
    errors: Array.from({ length: 50 }, () => "é".repeat(1000)),
    requests: { ...record.requests, unfinished: 1000 },
  });
  assert.equal(RECORD_LIMIT_BYTES, 4096);
  assert.ok(Buffer.byteLength(line) < 4096);
  assert.ok(!line.includes("\n"));
  const read = JSON.parse(line) as ShutdownRecord;
  assert.equal(read.requests.unfinished, 1000);
  assert.equal((read.cut?.["unfinished"] ?? 0) + read.unfinished.length, 1000);
});

test("E1 a short record is written as it is", async () => {
  const record = await anyRecord();
  assert.deepEqual(JSON.parse(formatRecord(record)), JSON.parse(JSON.stringify(record)));
});

test("E3 clean and incomplete stops have different exit codes under both policies", () => {
  assert.deepEqual(
    (["drained", "incomplete", "failed"] as const).map((outcome) => exitCodeOf(outcome, "code", "SIGTERM")),
    [0, 3, 1],
  );
  assert.deepEqual(
    (["drained", "incomplete", "failed"] as const).map((outcome) => exitCodeOf(outcome, "signal", "SIGTERM")),
    [143, 3, 1],
  );
  assert.equal(exitCodeOf("drained", "signal", null), 0);
});

test("E1 the limit is in bytes, whatever the script that routes and errors are written in", async () => {
  const record = await anyRecord();
  const errors = Array.from({ length: 12 }, () => "語".repeat(100));
  const line = formatRecord({ ...record, errors });
  assert.ok(line.length < 4096);
  assert.ok(Buffer.byteLength(line) < 4096);
});
