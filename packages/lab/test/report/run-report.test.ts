import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { columnsOf, levelOf } from "../../src/report/columns.ts";
import { apart, bandsOf } from "../../src/report/lanes.ts";
import { packColumns } from "../../src/report/packed.ts";
import { reportOf, type RunReport } from "../../src/report/run-report.ts";
import { createJudge } from "../../src/verdict/judge.ts";
import { madeRecords, type Wish } from "./made-ledger.ts";

const WISH: Wish = { requests: 3000, ratePerSecond: 300, restarts: 3, closedDoorMs: 300, posts: true };

function made(change: Partial<Wish> = {}): RunReport {
  const judge = createJudge();
  for (const record of madeRecords({ ...WISH, ...change })) {
    judge.add(record);
  }
  return reportOf(judge.judged(), []);
}

const life = {
  name: "A",
  pid: 1,
  port: 9000,
  startedMs: 0,
  readyMs: 100,
  addedMs: 110,
  removedMs: 2000,
  signalMs: 1000,
  signal: "SIGTERM",
  program: "node",
  below: null,
  notReadyMs: 1010,
  notReady: 503,
  notLiveMs: null,
  notLive: null,
  killedMs: null,
  exitMs: 3000,
  exitCode: 0,
  exitSignal: null,
  leftBehind: false,
};

describe("a copy's phases", () => {
  const phases = (...args: Parameters<typeof bandsOf>): string =>
    bandsOf(...args)
      .map(({ phase, fromMs, toMs }) => `${phase} ${fromMs}-${toMs}`)
      .join(", ");

  test("go from starting to teardown, without a gap and without an overlap", () => {
    assert.equal(
      phases(life, 500, 2200),
      "starting 0-100, serving 100-1000, lame-duck 1000-1500, draining 1500-2200, teardown 2200-3000",
    );
  });
  test("have no lame duck without a delay, and no draining without a request", () => {
    assert.equal(phases(life, 0, -1), "starting 0-100, serving 100-1000, teardown 1000-3000");
  });
  test("of one that was killed at once are over with the signal", () => {
    assert.equal(
      phases({ ...life, signal: "SIGKILL", exitMs: 1002 }, 500, 900),
      "starting 0-100, serving 100-1000",
    );
  });
  test("of one that had to be killed end in draining: it tore nothing down", () => {
    assert.equal(
      phases({ ...life, killedMs: 2990 }, 500, 1600),
      "starting 0-100, serving 100-1000, lame-duck 1000-1500, draining 1500-3000",
    );
  });
  test("of one that was told to stop before it was ready have no serving", () => {
    assert.equal(phases({ ...life, readyMs: null, addedMs: null, signalMs: 0 }, 0, -1), "teardown 0-3000");
  });
});

test("copies that live at the same time have lanes of their own; one after the other share one", () => {
  const lived = (name: string, startedMs: number, exitMs: number | null): typeof life => ({
    ...life,
    name,
    startedMs,
    exitMs: exitMs ?? 9e9,
  });
  const rows = apart([
    lived("A", 0, 100),
    lived("A2", 50, 200),
    lived("A3", 100, null),
    lived("A4", 300, null),
  ]);
  assert.deepEqual(
    rows.map((row) => row.map(({ name }) => name)),
    [
      ["A", "A3"],
      ["A2", "A4"],
    ],
  );
});

describe("the columns of a run", () => {
  test("hold every request, in the order of their intended times, and every failure with its kind", () => {
    const { columns, verdict } = made();
    assert.equal(columns.count, 3000);
    assert.ok(columns.at.every((at, index) => index === 0 || at >= (columns.at[index - 1] ?? 0)));
    for (const [index, kind] of verdict.kinds.entries()) {
      assert.equal(columns.kind.filter((one) => one === index + 1).length, kind.count, kind.slug);
    }
    assert.ok(verdict.requests.bad > 50, `${verdict.requests.bad} bad`);
  });

  test("are read back from the packed text as they were", () => {
    const { columns } = made();
    const bytes = inflateRawSync(Buffer.from(packColumns(columns), "base64"));
    let [offset, last] = [0, 0];
    const at = Array.from({ length: columns.count }, () => {
      let [scale, byte] = [1, 0];
      do {
        byte = bytes[offset++] ?? 0;
        last += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      return last;
    });
    assert.deepEqual(at, [...columns.at]);
    const plane = (n: number): readonly number[] => [
      ...bytes.subarray(offset + n * columns.count, offset + (n + 1) * columns.count),
    ];
    const high = plane(1);
    assert.deepEqual(
      plane(0).map((low, index) => low + 256 * (high[index] ?? 0)),
      [...columns.level],
    );
    assert.deepEqual(plane(2), [...columns.kind]);
    assert.deepEqual(plane(3), [...columns.place]);
    assert.equal(bytes.length, offset + 4 * columns.count);
  });

  test("of a run without a request are empty", () => {
    const judge = createJudge();
    const { columns, window } = reportOf(judge.judged(), []);
    assert.equal(columns.count, 0);
    assert.ok(window.toMs > window.fromMs);
    assert.equal(columnsOf(judge.judged(), window, []).count, 0);
  });
});

test("the latency scale puts powers of ten at equal distances, and everything on it", () => {
  const scale = { fromPower: 0, toPower: 3 };
  assert.deepEqual(
    [0.001, 1, 10, 100, 1000, 1e9].map((ms) => levelOf(ms, scale)),
    [0, 0, 341, 682, 1023, 1023],
  );
});

test("the shares of the places add up, and follow the restarts", () => {
  const { shares, verdict } = made();
  assert.deepEqual(
    shares.places.map(({ name }) => name),
    ["A", "B"],
  );
  const sum = shares.places.reduce((all, { count }) => all + count, 0);
  assert.equal(sum + shares.unknown, verdict.requests.sent);
  assert.ok(Math.abs((shares.places[0]?.share ?? 0) + (shares.places[1]?.share ?? 0) - 1) < 1e-9);
});
