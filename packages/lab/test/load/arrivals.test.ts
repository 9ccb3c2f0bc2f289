import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createSchedule, nthArrivalMs } from "../../src/load/arrivals.ts";
import type { Arrivals } from "../../src/load/load.ts";
import { uniform } from "../../src/load/random.ts";

const rates = fc.double({ min: 0.1, max: 50_000, noNaN: true });
const plans: fc.Arbitrary<Arrivals> = fc.record({
  kind: fc.constantFrom("constant" as const, "poisson" as const),
  ratePerSecond: rates,
});
const seeds = fc.integer({ min: 0, max: 2 ** 48 });

test("a constant rate is due every so many milliseconds, without drift", () => {
  const arrivals: Arrivals = { kind: "constant", ratePerSecond: 3 };
  assert.equal(nthArrivalMs(arrivals, 1, 0), 0);
  assert.equal(nthArrivalMs(arrivals, 1, 3_000_000), 1_000_000_000);
});

test("in steps each rate holds for its time, a pause sends nothing, and the last rate stays", () => {
  const arrivals: Arrivals = {
    kind: "steps",
    steps: [
      { ratePerSecond: 10, forMs: 300 },
      { ratePerSecond: 0, forMs: 1000 },
      { ratePerSecond: 100, forMs: 20 },
    ],
  };
  assert.deepEqual(
    Array.from({ length: 7 }, (_, n) => nthArrivalMs(arrivals, 1, n)),
    [0, 100, 200, 1300, 1310, 1320, 1330],
  );
  const pause: Arrivals = {
    kind: "steps",
    steps: [
      { ratePerSecond: 10, forMs: 200 },
      { ratePerSecond: 0, forMs: 1 },
    ],
  };
  assert.equal(nthArrivalMs(pause, 1, 1), 100);
  assert.equal(nthArrivalMs(pause, 1, 2), Number.POSITIVE_INFINITY);
});

test("arrivals never go backwards and never begin before the start", () => {
  fc.assert(
    fc.property(plans, seeds, (arrivals, seed) => {
      const schedule = createSchedule(arrivals, seed);
      let last = 0;
      for (let n = 0; n < 200; n += 1) {
        const next = schedule.next();
        assert.ok(next >= last && Number.isFinite(next));
        last = next;
      }
    }),
  );
});

test("the n-th arrival is a function of the plan and n alone", () => {
  fc.assert(
    fc.property(plans, seeds, fc.integer({ min: 0, max: 300 }), (arrivals, seed, n) => {
      const schedule = createSchedule(arrivals, seed);
      for (let before = 0; before < n; before += 1) {
        schedule.next();
      }
      assert.equal(schedule.next(), nthArrivalMs(arrivals, seed, n));
    }),
  );
});

test("a Poisson process has its rate, and gaps as spread as they must be", () => {
  const schedule = createSchedule({ kind: "poisson", ratePerSecond: 100 }, 7);
  const gaps: number[] = [];
  let last = 0;
  for (let n = 0; n < 100_000; n += 1) {
    const next = schedule.next();
    gaps.push(next - last);
    last = next;
  }
  const mean = last / gaps.length;
  assert.ok(Math.abs(mean - 10) < 0.2, `mean gap ${mean}`);
  // Of exponential gaps a share of exp(-1) is longer than the mean, exp(-3) longer than three times.
  const longer = (times: number): number => gaps.filter((gap) => gap > times * 10).length / gaps.length;
  assert.ok(Math.abs(longer(1) - Math.exp(-1)) < 0.01);
  assert.ok(Math.abs(longer(3) - Math.exp(-3)) < 0.005);
});

test("another seed is another sequence, also far above 32 bits", () => {
  const first = (seed: number): number[] => Array.from({ length: 5 }, (_, n) => uniform(seed, "mix", n));
  assert.notDeepEqual(first(1), first(2));
  assert.notDeepEqual(first(1), first(1 + 2 ** 32));
  assert.notDeepEqual(
    first(1),
    Array.from({ length: 5 }, (_, n) => uniform(1, "arrivals", n)),
  );
});

test("chance is spread evenly, also from one number to the next", () => {
  const count = 200_000;
  const cells = Array.from({ length: 100 }, () => 0);
  for (let n = 0; n < count; n += 1) {
    const [a, b] = [uniform(3, "mix", n), uniform(3, "mix", n + 1)];
    assert.ok(a >= 0 && a < 1);
    const cell = Math.floor(a * 10) * 10 + Math.floor(b * 10);
    cells[cell] = (cells[cell] ?? 0) + 1;
  }
  // Chi squared with 99 degrees of freedom: above 160 less than once in 10,000 good generators.
  const expected = count / cells.length;
  const chi = cells.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
  assert.ok(chi < 160, `chi squared ${chi}`);
});
