import assert from "node:assert/strict";
import { test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { startProgress } from "../../src/render/progress.ts";
import { planRollout, type RolloutPlan } from "../../src/scenario/plan.ts";

const [plan] = planRollout({}) as [RolloutPlan];
const signal: LedgerRecord = {
  kind: "event",
  atMs: 1500,
  source: "target",
  copy: "A",
  event: "signal",
  detail: { signal: "SIGTERM" },
};

test("on a terminal one line is drawn again and again, at most ten times a second, and wiped at the end", () => {
  let text = "";
  let nowMs = 0;
  const progress = startProgress(
    plan,
    true,
    (part) => (text += part),
    () => nowMs,
  );
  progress.see(signal);
  progress.see(signal);
  nowMs = 100;
  progress.see(signal);
  progress.end();
  const drawn = text.split("\r\u001B[2K").slice(1);
  assert.equal(drawn.length, 3);
  assert.match(drawn[1] ?? "", /^drain .*0 requests, 0 failed {2}restart 3 of 2 {2}A gets SIGTERM$/);
  assert.equal(drawn[2], "");
  assert.ok(!text.includes("\n"));
});

test("elsewhere it is one plain line", () => {
  let text = "";
  const progress = startProgress(
    plan,
    false,
    (part) => (text += part),
    () => 0,
  );
  progress.see(signal);
  progress.end();
  assert.match(text, /^drain +stop signal \+ 2\.5 s delay: 2 restarts at 20 requests\/s\n$/);
});
