import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bound, clopperPearsonUpper } from "../../src/verdict/bounds.ts";

/** P(X <= k) summed term by term: slow, and right for small n. */
function atMost(k: number, n: number, p: number): number {
  let sum = 0;
  for (let i = 0; i <= k; i += 1) {
    let term = 1;
    for (let factor = 0; factor < i; factor += 1) {
      term *= ((n - factor) / (i - factor)) * p;
    }
    sum += term * (1 - p) ** (n - i);
  }
  return sum;
}

test("R5 0 of n is bounded by 3/n, and 0 of nothing says nothing", () => {
  assert.deepEqual(bound(0, 300), { bad: 0, of: 300, upper95: 0.01 });
  assert.deepEqual(bound(0, 2), { bad: 0, of: 2, upper95: 1 });
  assert.deepEqual(bound(0, 0), { bad: 0, of: 0, upper95: null });
});

test("known limits of Clopper and Pearson", () => {
  // One-sided 95 %, from any table: 1 of 10, 1 of 100, 5 of 50.
  assert.ok(Math.abs(clopperPearsonUpper(1, 10) - 0.3942) < 1e-4);
  assert.ok(Math.abs(clopperPearsonUpper(1, 100) - 0.0466) < 1e-4);
  assert.ok(Math.abs(clopperPearsonUpper(5, 50) - 0.1998) < 1e-3);
  assert.equal(clopperPearsonUpper(7, 7), 1);
});

test("at the bound, k or fewer are seen in exactly 5 % of runs", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, share) => {
      const k = Math.min(n - 1, Math.floor(share * 20));
      const p = clopperPearsonUpper(k, n);
      assert.ok(Math.abs(atMost(k, n, p) - 0.05) < 1e-6, `${k} of ${n}: ${p}`);
    }),
  );
});

test("the bound lies above the share seen, grows with k and shrinks with n, up to a million", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 1e6 }), (n, some) => {
      const k = some % n;
      const p = clopperPearsonUpper(k, n);
      assert.ok(p > k / n && p <= 1);
      assert.ok(clopperPearsonUpper(k + 1, n) > p || k + 1 === n);
      assert.ok(clopperPearsonUpper(k, n + 1) < p);
      // The rule of three is never too good.
      assert.ok((bound(0, n).upper95 ?? 0) >= Math.min(1, clopperPearsonUpper(0, n)));
    }),
    { numRuns: 200 },
  );
});
