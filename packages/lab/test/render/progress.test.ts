import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { startProgress } from "../../src/render/progress.ts";
import { createScreen } from "../../src/render/screen.ts";
import { COLOUR, PLAIN } from "../../src/render/style.ts";
import type { RolloutPlan } from "../../src/scenario/plan.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import { madeRecords } from "../report/made-ledger.ts";

const [plan] = planRollout({}) as [RolloutPlan];
const signal: LedgerRecord = {
  kind: "event",
  atMs: 1500,
  source: "target",
  copy: "A",
  event: "signal",
  detail: { signal: "SIGTERM" },
};
const RUN = [...madeRecords({ requests: 2000, ratePerSecond: 100, restarts: 4, closedDoorMs: 400 })];
// oxlint-disable-next-line no-control-regex -- The colours are control sequences.
const bare = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, "");

function screenOf(records: readonly LedgerRecord[], columns: number, style = PLAIN): readonly string[] {
  const screen = createScreen({ ...plan, drainDelayMs: 200 }, style);
  records.forEach(screen.see);
  return screen.lines(columns, 20_000);
}

describe("the live view", () => {
  test("is drawn again over itself, at most five times a second, and its last screen stays", () => {
    let text = "";
    let nowMs = 0;
    const progress = startProgress(
      plan,
      { columns: () => 80, style: PLAIN },
      (part) => (text += part),
      () => nowMs,
    );
    progress.see(signal);
    progress.see(signal);
    nowMs = 199;
    progress.see(signal);
    nowMs = 200;
    progress.see(signal);
    progress.end();
    const screens = text.split("\u001B[J").slice(1);
    assert.equal(screens.length, 3);
    const height = (screens[0] ?? "").split("\n").length - 1 + 0;
    assert.ok(text.includes(`\u001B[${height}A\r\u001B[J`), JSON.stringify(text));
    assert.match(screens.at(-1) ?? "", /restart 2 of 2 {3}A gets SIGTERM[^]*\n$/);
  });

  test("without a terminal is one plain line", () => {
    let text = "";
    const progress = startProgress(
      plan,
      null,
      (part) => (text += part),
      () => 0,
    );
    progress.see(signal);
    progress.end();
    assert.match(text, /^drain +stop signal \+ 2\.5 s delay: 2 restarts at 20 requests\/s\n$/);
  });
});

describe("the screen", () => {
  test("has a lane for each place, with its phases in their order, failures and counters", () => {
    const lines = screenOf(RUN, 100);
    const lane = lines.find((line) => /^ {2}A /.test(line)) ?? "";
    assert.match(lane, /█+▓+▒+[·▁]+█+▓+▒+/);
    assert.match(lines.find((line) => line.startsWith("  failed")) ?? "", /✗/);
    assert.match(lines.join("\n"), /2,000 requests {3}[1-9]\d* failed {3}median \d/);
    const lost = RUN.filter((one) => one.kind === "request" && one.status === 502).length;
    assert.ok(lines.join("\n").includes(` ${lost} failed`));
  });

  for (const columns of [20, 40, 60, 80, 100, 250]) {
    test(`keeps to a terminal of ${columns} columns`, () => {
      for (const many of [1, 10, 300, RUN.length]) {
        for (const line of screenOf(RUN.slice(0, many), columns)) {
          assert.ok(line.length < Math.max(columns, 24), `${line.length}: ${line}`);
        }
      }
    });
  }

  test("says the same with and without colours", () => {
    assert.deepEqual(screenOf(RUN, 80, COLOUR).map(bare), screenOf(RUN, 80));
  });

  test("of a run that goes on and on still shows its beginning", () => {
    const long = [...madeRecords({ requests: 3000, ratePerSecond: 1, restarts: 4, closedDoorMs: 60_000 })];
    const lane = screenOf(long, 100).find((line) => /^ {2}A /.test(line)) ?? "";
    assert.equal(lane.split(/[▓▒·▁]+/).length, 3, lane);
  });

  test("costs the run less than a fiftieth of what a record has at 20,000 a second", () => {
    const records = RUN.filter((record) => record.kind === "request");
    const costs = Array.from({ length: 9 }, () => {
      const screen = createScreen(plan, PLAIN);
      const began = performance.now();
      for (let round = 0; round < 10; round += 1) {
        records.forEach(screen.see);
      }
      // With the drawings that fall into the time which so many records take.
      const drawings = (10 * records.length) / 20_000 / 0.2;
      for (let n = 0; n < drawings; n += 1) {
        screen.lines(100, n);
      }
      return ((performance.now() - began) * 1000) / (10 * records.length);
    }).toSorted((a, b) => a - b);
    const microseconds = costs[0] ?? 0;
    assert.ok(microseconds < 1, `${microseconds.toFixed(2)} µs of 50 for a record`);
  });
});
