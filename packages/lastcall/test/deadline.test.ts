import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { beginDeadline, closeGateAt, expireAt } from "../src/deadline.ts";

const times = { gracefulTimeoutMs: 1000, abortWindowMs: 250 };

test("the deadline is the drain delay plus the graceful timeout from the first signal", () => {
  assert.deepEqual(beginDeadline(100, 500, times), { startedAt: 100, gateAt: 600, abortAt: 1350, at: 1600 });
});

test("A7 ending the delay early moves the deadline to now + graceful timeout", () => {
  const early = closeGateAt(beginDeadline(0, 500, times), 200, times);
  assert.deepEqual(early, { startedAt: 0, gateAt: 200, abortAt: 950, at: 1200 });
});

test("whatever is done to it, the deadline never moves later, and the abort comes first", () => {
  const action = fc.record({ gate: fc.boolean(), at: fc.integer({ min: 0, max: 3000 }) });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 6 }), (actions) => {
      let deadline = beginDeadline(0, 500, times);
      for (const { gate, at } of actions) {
        const next = gate ? closeGateAt(deadline, at, times) : expireAt(deadline, at);
        assert.ok(next.at <= deadline.at);
        assert.ok(next.abortAt <= next.at);
        deadline = next;
      }
    }),
  );
});
