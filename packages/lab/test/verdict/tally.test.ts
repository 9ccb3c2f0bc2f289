import assert from "node:assert/strict";
import { test } from "node:test";
import { tallyKinds } from "../../src/verdict/tally.ts";
import type { BadRequest, Confidence } from "../../src/verdict/verdict.ts";
import { request } from "./ledger.ts";

function bad(confidence: Confidence, restart: number): BadRequest {
  return {
    request: request(100 * restart),
    harm: "lost",
    kind: "closed-door",
    copy: "A",
    restart,
    sinceSignalMs: 1,
    stored: null,
    worked: null,
    confidence,
    evidence: "seen",
  };
}

test("a kind is as sure as the least sure of its requests, and tells where they were, however many there are", () => {
  // More than a call takes arguments.
  const many = Array.from({ length: 300_000 }, (_, n) => bad(n === 299_999 ? "likely" : "certain", n % 3));
  const [kind, ...others] = tallyKinds(many, [], () => "do this");
  assert.deepEqual(others, []);
  assert.ok(kind !== undefined);
  assert.deepEqual(
    [kind.count, kind.confidence, kind.restarts, kind.firstMs, kind.lastMs, kind.examples.length],
    [300_000, "likely", [0, 1, 2], 0, 200, 3],
  );
});
