import assert from "node:assert/strict";
import { test } from "node:test";
import { orderInWords, orderSeen } from "../../src/platform/update-order.ts";
import type { Restart } from "../../src/verdict/verdict.ts";

function restart(
  signalMs: number,
  exitMs: number,
  startedMs: number | null,
  readyMs: number | null,
): Restart {
  return {
    copy: "A",
    signal: "SIGTERM",
    signalMs,
    removedMs: null,
    killedMs: null,
    exitMs,
    exitCode: 0,
    exitSignal: null,
    replacement: startedMs === null ? null : { copy: "A2", startedMs, readyMs, addedMs: null },
    exposure: { sent: 0, sentBad: 0, inFlight: 0, inFlightBad: 0 },
    bad: 0,
  };
}

test("start-first: the new task is ready before the old one is told to stop", () => {
  const seen = orderSeen(
    [restart(100, 200, 50, 90), restart(100, 200, 50, 110), restart(100, 200, null, null)],
    "start-first",
  );
  assert.deepEqual([seen.kept, seen.of], [1, 3]);
  assert.equal(
    orderInWords(seen),
    "start-first: kept by 1 of 3 tasks; A was told to stop before A2 was ready; A was stopped and nothing took its place",
  );
});

test("stop-first: the old task has ended before the new one starts", () => {
  const seen = orderSeen([restart(100, 200, 250, 300), restart(100, 200, 150, 300)], "stop-first");
  assert.deepEqual([seen.kept, seen.broken], [1, ["A2 was started before A had ended"]]);
});
