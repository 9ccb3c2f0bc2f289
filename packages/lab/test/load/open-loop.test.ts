import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LoadPlan } from "../../src/load/load.ts";
import { startOpenLoop, type OpenLoop } from "../../src/load/open-loop.ts";

const PLAN: LoadPlan = {
  host: "127.0.0.1",
  port: 1,
  seed: 1,
  arrivals: { kind: "constant", ratePerSecond: 1000 },
  mix: [{ method: "GET", path: "/", body: null, weight: 1 }],
  keepAlive: true,
  timeoutMs: 1000,
  maxDurationMs: 500,
};

/** A loop on a clock that is moved by hand; its timers are real and only decide when it looks at the clock. */
function rig(
  plan: LoadPlan,
  free?: () => number,
): {
  sent: [n: number, intendedMs: number][];
  loop: OpenLoop;
  move: (ms: number) => void;
} {
  let nowMs = 100;
  const sent: [number, number][] = [];
  const loop = startOpenLoop({
    plan,
    send: (n, intendedMs) => void sent.push([n, intendedMs]),
    now: () => nowMs,
    ...(free === undefined ? {} : { free }),
    onFirst: () => {},
  });
  return { sent, loop, move: (ms) => (nowMs += ms) };
}

async function turns(until: () => boolean): Promise<void> {
  while (!until()) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe("the open loop", () => {
  test("after a stall all that was due goes out with its own intended time", async () => {
    const { sent, loop, move } = rig(PLAN);
    await turns(() => sent.length === 1);
    move(300);
    await turns(() => sent.length === 301);
    loop.stop();
    assert.deepEqual(
      sent,
      Array.from({ length: 301 }, (_, n) => [n, 100 + n]),
    );
  });

  test("between slices of what is late, answers can be read", async () => {
    const { sent, loop, move } = rig(PLAN);
    await turns(() => sent.length === 1);
    move(300);
    const seen: number[] = [];
    while (sent.length < 301) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(sent.length);
    }
    loop.stop();
    const largest = Math.max(...seen.map((count, index) => count - (seen[index - 1] ?? 1)));
    assert.ok(largest <= 64, `${largest} in one turn`);
  });

  test("what is late waits for a connection rather than to open a flood of them", async () => {
    let free = 0;
    const { sent, loop, move } = rig(PLAN, () => free);
    await turns(() => sent.length === 1);
    move(300);
    await turns(() => sent.length > 1);
    // The clock stands still: what may be opened at once is soon used up, whoever looks how often.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const atOnce = sent.length;
    assert.ok(atOnce < 100, `${atOnce} at once`);
    move(1);
    await turns(() => sent.length > atOnce);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const inOneMs = sent.length - atOnce;
    assert.ok(inOneMs < 20, `${inOneMs} in one millisecond`);
    // Free connections are used at once.
    free = 3;
    await turns(() => sent.length === 302);
    loop.stop();
    assert.deepEqual(
      sent,
      Array.from({ length: 302 }, (_, n) => [n, 100 + n]),
    );
  });

  test("nothing is sent at or past the longest duration, and nothing after a stop", async () => {
    const { sent, loop, move } = rig(PLAN);
    move(10_000);
    await turns(() => sent.length === 500);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(sent.length, 500);
    loop.stop();

    const other = rig(PLAN);
    await turns(() => other.sent.length === 1);
    other.loop.stop();
    other.move(400);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(other.sent.length, 1);
  });
});
