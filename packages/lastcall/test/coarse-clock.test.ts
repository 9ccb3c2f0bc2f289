import assert from "node:assert/strict";
import { test } from "node:test";
import { coarseClock } from "../src/coarse-clock.ts";
import { FakeHost } from "../src/testing.ts";

test("the coarse clock is read anew after 50 ms and never runs ahead", async () => {
  const host = new FakeHost();
  const clock = coarseClock(host);
  await host.advance(1000);
  const first = clock();
  assert.equal(first, host.now());
  await host.advance(49);
  assert.equal(clock(), first);
  await host.advance(1);
  assert.equal(clock(), first + 50);
  await host.advance(3000);
  assert.equal(clock(), host.now());
});
