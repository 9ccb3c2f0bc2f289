import assert from "node:assert/strict";
import { test } from "node:test";
import { runSpread } from "../../src/servers/spread.ts";

/** A loop whose clock the test moves; a timer runs when it is due, or later where the loop stood still. */
function loop(): {
  readonly host: Parameters<typeof runSpread>[0];
  go(toMs: number): void;
  jump(toMs: number): void;
} {
  let now = 1000;
  let timer: { readonly at: number; readonly run: () => void } | null = null;
  const fire = (): void => {
    const { run } = timer ?? { run: () => {} };
    timer = null;
    run();
  };
  return {
    host: {
      now: () => now,
      setTimer: (ms, run) => {
        timer = { at: now + ms, run };
        return () => (timer = null);
      },
    },
    go(toMs) {
      while (timer !== null && timer.at <= 1000 + toMs) {
        now = timer.at;
        fire();
      }
      now = 1000 + toMs;
    },
    jump(toMs) {
      now = 1000 + toMs;
      if (timer !== null && timer.at <= now) {
        fire();
      }
    },
  };
}

const hundred: readonly number[] = Array.from({ length: 100 }, (_, n) => n);

test("each has its turn in one of as many equal slots, in order", () => {
  const { host, go } = loop();
  const told: number[] = [];
  runSpread(host, hundred, 1000, (entry) => told.push(entry));
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    go(tenth * 100);
    assert.ok(Math.abs(told.length - tenth * 10) <= 1, `${told.length} after ${tenth * 100} ms`);
  }
  assert.deepEqual(told, hundred);
});

test("after a loop that stood still those who were due are not all told at once", () => {
  const { host, go, jump } = loop();
  const told: number[] = [];
  runSpread(host, hundred, 1000, (entry) => told.push(entry));
  go(200);
  const before = told.length;
  jump(600);
  assert.ok(told.length - before <= 2, `${told.length - before} at once`);
  go(800);
  assert.ok(told.length >= 50 && told.length <= 70, `${told.length} of 100 in the middle of what was left`);
  go(1000);
  assert.deepEqual(told, hundred);
});

test("the window is kept even where the loop stood still to its end, and hurry tells the rest", () => {
  const still = loop();
  const told: number[] = [];
  runSpread(still.host, hundred, 1000, (entry) => told.push(entry));
  still.go(100);
  still.jump(1300);
  assert.deepEqual(told, hundred);

  const hurried = loop();
  const all: number[] = [];
  const { hurry } = runSpread(hurried.host, hundred, 1000, (entry) => all.push(entry));
  hurried.go(300);
  hurry();
  assert.deepEqual(all, hundred);
});
