import assert from "node:assert/strict";
import { test } from "node:test";
import { createLifecycle } from "../src/create.ts";
import { planBudget } from "../src/budget.ts";
import { detectPlatform } from "../src/platform.ts";
import {
  exitCodeOf,
  formatRecord,
  makeRecord,
  RECORD_LIMIT_BYTES,
  type RecordParts,
  type ShutdownRecord,
} from "../src/record.ts";
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

test("E1 whatever text the app gives as its reason, the record stays below its limit", async () => {
  const record = await anyRecord();
  const line = formatRecord({ ...record, why: "w".repeat(10_000) });
  assert.ok(Buffer.byteLength(line) < 4096);
  assert.equal((JSON.parse(line) as ShutdownRecord).why, `${"w".repeat(160)}…`);
});

test("E1 a text of 160 characters is whole, a longer one ends with an ellipsis; so within entries", async () => {
  const record = await anyRecord();
  const errors = ["a".repeat(160), "b".repeat(161)];
  const teardown = [{ name: "c".repeat(161), outcome: "done", ms: 1 }] as const;
  const read = JSON.parse(formatRecord({ ...record, errors, teardown })) as ShutdownRecord;
  assert.deepEqual(read.errors, ["a".repeat(160), `${"b".repeat(160)}…`]);
  assert.deepEqual(read.teardown, [{ name: `${"c".repeat(160)}…`, outcome: "done", ms: 1 }]);
});

test("E1 the longest list is cut by half until the line fits, the others stay whole, and the record says how much is missing", async () => {
  const record = await anyRecord();
  const errors = Array.from({ length: 100 }, (_, at) => `${at} ${"x".repeat(150)}`);
  const held = ["1 timer", "pipe a"];
  const read = JSON.parse(formatRecord({ ...record, errors, held })) as ShutdownRecord;
  assert.deepEqual(read.held, held);
  assert.deepEqual(read.errors, errors.slice(0, 12));
  assert.deepEqual(read.cut, { errors: 88 });
  const many = Array.from({ length: 1001 }, (_, at) => `${at}`);
  const short = JSON.parse(formatRecord({ ...record, held: many })) as ShutdownRecord;
  assert.deepEqual(short.held, many.slice(0, 128));
  assert.deepEqual(short.cut, { held: 873 });
});

const BUDGET = planBudget(
  {},
  detectPlatform({}, () => false),
).budget;

/** A stop at 1000 that closed its gate at 1300.4, began teardown at 1500 and is over at 1600.6. */
function parts(change: Partial<RecordParts> = {}): RecordParts {
  return {
    stop: {
      reason: "signal",
      why: undefined,
      signal: "SIGTERM",
      at: "2026-01-01T00:00:00.000Z",
      leaveOrder: "announce-first",
      foreign: ["SIGTERM: 1 other handler"],
      deadline: { startedAt: 1000, gateAt: 1300, abortAt: 1900, at: 2000 },
      drainingAt: 1300.4,
      teardownAt: 1500,
    },
    now: 1600.6,
    facts: { pid: 7, threadId: 0, node: "v20.19.0" },
    others: [],
    budget: BUDGET,
    requests: {
      accepted: 3,
      completed: 3,
      clientGone: 1,
      unfinished: 0,
      refused: { "503": 1, "408": 0, "400": 0, dropped: 0 },
    },
    connections: {},
    cuts: [],
    tasks: { counts: { completed: 1, failed: 0, aborted: 0, abandoned: 0 }, unfinished: [] },
    teardown: [{ name: "database", outcome: "done", ms: 3 }],
    held: [],
    errors: [],
    forced: false,
    failed: false,
    exitPolicy: "code",
    pendingExitCode: 0,
    appExit: null,
    ...change,
  };
}

test("E1 a record says what happened, in whole milliseconds", () => {
  assert.deepEqual(makeRecord(parts()), {
    schema: "lastcall.record/1",
    pid: 7,
    node: "v20.19.0",
    at: "2026-01-01T00:00:00.000Z",
    reason: "signal",
    signal: "SIGTERM",
    others: [],
    foreign: ["SIGTERM: 1 other handler"],
    leaveOrder: "announce-first",
    phases: { lameDuckMs: 300, drainingMs: 200, teardownMs: 101, totalMs: 601 },
    budget: BUDGET,
    requests: parts().requests,
    unfinished: [],
    tasks: { completed: 1, failed: 0, aborted: 0, abandoned: 0 },
    unfinishedTasks: [],
    teardown: [{ name: "database", outcome: "done", ms: 3 }],
    held: [],
    errors: [],
    outcome: "drained",
    endedBy: "lastcall",
    exitCode: 0,
  });
});

test("E1 what was cut and which tasks were left are named with their ages", () => {
  const tasks = {
    counts: { completed: 0, failed: 0, aborted: 0, abandoned: 1 },
    unfinished: [{ name: "mail", fate: "abandoned", ageMs: 12.4 }],
  } as const;
  const record = makeRecord(parts({ tasks, cuts: [{ route: "GET /", startedAt: 600, how: "reset" }] }));
  assert.deepEqual(record.unfinished, [{ route: "GET /", ageMs: 1001, cut: "reset" }]);
  assert.deepEqual(record.unfinishedTasks, [{ name: "mail", fate: "abandoned", ageMs: 12 }]);
  assert.equal(record.outcome, "incomplete");
});

test("E1 phases that a stop has not come to have no length", () => {
  const { stop } = parts();
  const early = makeRecord(parts({ stop: { ...stop, drainingAt: null, teardownAt: null } }));
  assert.deepEqual(early.phases, { lameDuckMs: 601, drainingMs: 0, teardownMs: 0, totalMs: 601 });
  const crashed = makeRecord(parts({ stop: { ...stop, drainingAt: null } }));
  assert.deepEqual(crashed.phases, { lameDuckMs: 500, drainingMs: 0, teardownMs: 101, totalMs: 601 });
  const draining = makeRecord(parts({ stop: { ...stop, teardownAt: null } }));
  assert.deepEqual(draining.phases, { lameDuckMs: 300, drainingMs: 300, teardownMs: 0, totalMs: 601 });
});

test("E3 each thing that was not completed makes the stop incomplete, and an uncaught error makes it failed", () => {
  const { requests, tasks } = parts();
  const outcomes: readonly [Partial<RecordParts>, string, number][] = [
    [{}, "drained", 0],
    [{ forced: true }, "incomplete", 3],
    [{ requests: { ...requests, unfinished: 1 } }, "incomplete", 3],
    [{ tasks: { ...tasks, unfinished: [{ name: "a", fate: "aborted", ageMs: 1 }] } }, "incomplete", 3],
    [{ connections: { tunnelsCut: 1 } }, "incomplete", 3],
    [{ connections: { webSocketsCut: 1 } }, "incomplete", 3],
    [{ teardown: [{ name: "a", outcome: "failed", ms: 1 }] }, "incomplete", 3],
    [{ teardown: [{ name: "a", outcome: "timed out", ms: 1 }] }, "incomplete", 3],
    [{ failed: true, forced: true }, "failed", 1],
  ];
  for (const [change, outcome, code] of outcomes) {
    const record = makeRecord(parts(change));
    assert.deepEqual([record.outcome, record.exitCode], [outcome, code], JSON.stringify(change));
  }
});

test("E3 what the app set for a natural end counts where the loop has emptied and all was well", () => {
  const emptied = { ...parts().stop, reason: "empty-loop", signal: null } as const;
  assert.equal(makeRecord(parts({ stop: emptied, pendingExitCode: 5 })).exitCode, 5);
  assert.equal(makeRecord(parts({ stop: emptied, pendingExitCode: 5, forced: true })).exitCode, 3);
  assert.equal(makeRecord(parts({ pendingExitCode: 5 })).exitCode, 0);
});

test("E3 with the policy `signal` a clean stop exits as a shell would say it", () => {
  const code = (signal: NodeJS.Signals): number => exitCodeOf("drained", "signal", signal);
  assert.deepEqual(
    (["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGBREAK"] as const).map(code),
    [129, 130, 131, 138, 140, 143, 149],
  );
  assert.equal(code("SIGWINCH"), 0);
});

test("E6 an exit of the app is recorded with its own code and the first six lines of its stack", () => {
  const stack = ["a", "b", "c", "d", "e", "f", "g"].map((line) => `    at ${line}`).join("\n");
  const record = makeRecord(parts({ appExit: { code: 7, stack, early: false } }));
  assert.deepEqual([record.endedBy, record.outcome, record.exitCode], ["app", "drained", 7]);
  assert.deepEqual(record.exitStack, ["at a", "at b", "at c", "at d", "at e", "at f"]);
  assert.equal(makeRecord(parts({ appExit: { code: 0, stack, early: true } })).outcome, "incomplete");
});

test("C4 what the watchdog skips is named, the stop is its own, and it is incomplete", () => {
  const record = makeRecord(parts({ skipped: ["database", "queue"] }));
  assert.deepEqual(record.teardown.slice(1), [
    { name: "database", outcome: "skipped", ms: 0 },
    { name: "queue", outcome: "skipped", ms: 0 },
  ]);
  assert.deepEqual([record.endedBy, record.outcome, record.exitCode], ["watchdog", "incomplete", 3]);
  assert.equal(makeRecord(parts({ skipped: [], teardown: [] })).outcome, "incomplete");
});

test("E1 connections of other protocols and the thread are there where there are any", () => {
  const { facts } = parts();
  assert.deepEqual(makeRecord(parts({ connections: { tunnelsCut: 2 } })).connections, { tunnelsCut: 2 });
  assert.equal("connections" in makeRecord(parts()), false);
  assert.equal(makeRecord(parts({ facts: { ...facts, threadId: 3 } })).thread, 3);
  assert.equal("thread" in makeRecord(parts()), false);
});

test("E1 at the limits: 128 entries are all there, a line of 4,095 bytes is whole, and of two lists of one size the first is cut", async () => {
  const record = { ...(await anyRecord()), held: [], errors: [] };
  const many = Array.from({ length: 128 }, () => "a");
  const whole = JSON.parse(formatRecord({ ...record, held: many })) as ShutdownRecord;
  assert.deepEqual([whole.held, whole.cut], [many, undefined]);

  /** A record whose line has exactly so many bytes: entries of `x`, the last one filling up. */
  const lineOf = (bytes: number): string => {
    const errors = Array.from({ length: 10 }, () => "x".repeat(100));
    const base = Buffer.byteLength(JSON.stringify({ ...record, errors }));
    for (let left = bytes - base; left > 0;) {
      // An entry costs its text, two quotes and a comma.
      const entry = left > 160 ? 100 : left - 3;
      errors.push("x".repeat(entry));
      left -= entry + 3;
    }
    return formatRecord({ ...record, errors });
  };
  assert.equal(Buffer.byteLength(lineOf(4095)), 4095);
  assert.match(lineOf(4096), /"cut":\{"errors":\d+\}/);

  const list = Array.from({ length: 20 }, () => "y".repeat(150));
  const two = JSON.parse(formatRecord({ ...record, held: list, errors: list })) as ShutdownRecord;
  assert.deepEqual(two.cut, { held: 10, errors: 10 });
  const tied = JSON.parse(
    formatRecord({ ...record, held: list.slice(0, 11), errors: list.slice(0, 11) }),
  ) as ShutdownRecord;
  assert.deepEqual(tied.cut, { held: 6 });
});

test("E1 nothing but texts and lists is cut: what is too long by itself is written all the same, an empty place stays empty", async () => {
  const record = await anyRecord();
  const line = formatRecord({ ...record, node: "v".repeat(5000) });
  assert.ok(line.length > 5000);
  assert.equal((JSON.parse(line) as ShutdownRecord).node.length, 5000);
  const others = [{ signal: null as unknown as string, atMs: 1, effect: "ignored" }];
  assert.deepEqual((JSON.parse(formatRecord({ ...record, others })) as ShutdownRecord).others, others);
});
