import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestRecord } from "../../src/ledger/records.ts";
import type { Attribution } from "../../src/verdict/attribution.ts";
import { workersOf, type Speaker } from "../../src/verdict/workers.ts";

/** Whoever the router named; by its own word nobody is a copy. */
const attribution = {
  copyOf: ({ upstream }: RequestRecord) => (upstream === null ? null : "A"),
} as Attribution;

function workers(
  ...lives: readonly (readonly [pid: string, firstMs: number, lastMs: number])[]
): Map<string, Speaker> {
  return new Map(
    lives.map(([pid, firstMs, lastMs]) => [
      pid,
      { first: { upstream: "A|200" } as RequestRecord, firstMs, lastMs },
    ]),
  );
}

test("a worker that falls silent is followed by the next one, however near the beginning of an earlier one lies", () => {
  const { turn } = workersOf(workers(["70", 300, 500], ["71", 410, 990], ["72", 1700, 2400]), attribution);
  assert.equal(turn("A", 1000), "worker 71 fell silent and worker 72 began to answer");
});

test("of two workers that answer side by side to the end neither takes the other's place", () => {
  const { turn } = workersOf(workers(["71", 0, 5000], ["72", 10, 1000]), attribution);
  assert.equal(turn("A", 1000), null);
});

test("the last worker of a copy is followed by nobody, and takes its place in a line if there was one", () => {
  const two = workersOf(workers(["70", 0, 400], ["71", 500, 990]), attribution);
  assert.equal(two.turn("A", 1000), null);
  const three = workersOf(workers(["69", 0, 300], ["70", 310, 400], ["71", 500, 990]), attribution);
  assert.equal(three.turn("A", 1000), "worker 71 fell silent, as 2 had before it");
  // It answers on: what was lost at 800 was not lost with it.
  assert.equal(three.turn("A", 800), null);
});
