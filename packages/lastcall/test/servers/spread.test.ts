import assert from "node:assert/strict";
import { test } from "node:test";
import { runSpread } from "../../src/servers/spread.ts";

/** A loop whose clock the test moves; a timer runs when it is due, or later where the loop stood still. */
class Loop {
  readonly host: Parameters<typeof runSpread>[0] = {
    now: () => this.#nowMs,
    setTimer: (ms, run) => {
      this.#timer = { at: this.#nowMs + ms, run };
      return () => {
        this.#timer = null;
      };
    },
  };
  #nowMs = 0;
  #timer: { readonly at: number; readonly run: () => void } | null = null;

  go(toMs: number): void {
    while (this.#timer !== null && this.#timer.at <= toMs) {
      this.jump(this.#timer.at);
    }
    this.#nowMs = toMs;
  }

  jump(toMs: number): void {
    this.#nowMs = toMs;
    const timer = this.#timer;
    this.#timer = null;
    timer?.run();
  }
}

const hundred: readonly number[] = Array.from({ length: 100 }, (_, n) => n);

test("each has its turn in one of as many equal slots, in order", () => {
  const loop = new Loop();
  const told: number[] = [];
  runSpread(loop.host, hundred, 1000, (entry) => told.push(entry));
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    loop.go(tenth * 100);
    assert.ok(Math.abs(told.length - tenth * 10) <= 1, `${told.length} after ${tenth * 100} ms`);
  }
  assert.deepEqual(told, hundred);
});

test("after a loop that stood still those who were due are not all told at once", () => {
  const loop = new Loop();
  const told: number[] = [];
  runSpread(loop.host, hundred, 1000, (entry) => told.push(entry));
  loop.go(200);
  const before = told.length;
  loop.jump(600);
  assert.ok(told.length - before <= 20, `${told.length - before} at once`);
  loop.go(800);
  assert.ok(told.length >= 50 && told.length <= 70, `${told.length} of 100 in the middle of what was left`);
  loop.go(1000);
  assert.deepEqual(told, hundred);
});

test("a loop that is always slow keeps up with the plan, a part of it in each turn", () => {
  const loop = new Loop();
  const told: number[] = [];
  runSpread(loop.host, hundred, 1000, (entry) => told.push(entry));
  let most = 0;
  for (let at = 150; at <= 900; at += 150) {
    const before = told.length;
    loop.jump(at);
    most = Math.max(most, told.length - before);
    if (at === 450) {
      assert.ok(told.length >= 25, `${told.length} of 100 in the first half`);
    }
  }
  assert.ok(told.length >= 75, `${told.length} of 100 shortly before the end`);
  assert.ok(most <= 25, `${most} at once`);
  loop.jump(1040);
  assert.deepEqual(told, hundred);
});

test("the window is kept even where the loop stood still to its end, and hurry tells the rest", () => {
  const still = new Loop();
  const told: number[] = [];
  runSpread(still.host, hundred, 1000, (entry) => told.push(entry));
  still.go(100);
  still.jump(1300);
  assert.deepEqual(told, hundred);

  const hurried = new Loop();
  const all: number[] = [];
  const { hurry } = runSpread(hurried.host, hundred, 1000, (entry) => all.push(entry));
  hurried.go(300);
  hurry();
  assert.deepEqual(all, hundred);
});
