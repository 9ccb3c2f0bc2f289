import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EVENT_NAMES } from "./explorer/events.ts";
import { SETUPS } from "./explorer/setups.ts";
import { bringToEnd, live } from "./explorer/walk.ts";

/** Deeper than the walk can go; what breaks a promise is shrunk to the shortest order that does. */
const LONGEST = 40;
const RUNS = Number(process.env["EXPLORE_RUNS"] ?? 150);

for (const setup of SETUPS) {
  test(`random orders of up to ${LONGEST} events keep the promises: ${setup.name}`, async () => {
    const path = fc.array(fc.constantFrom(...EVENT_NAMES), { maxLength: LONGEST });
    await fc.assert(
      fc.asyncProperty(path, async (events) => {
        await bringToEnd(await live(setup, events), events);
      }),
      { numRuns: RUNS },
    );
  });
}

/** Orders that once broke a promise; each is the shortest that did. */
const ONCE_BROKEN: readonly (readonly [string, readonly string[]])[] = [
  ["no delay, and time to settle", ["the loop is empty", "the app exits"]],
  ["no delay, and time to settle", ["SIGTERM", "a task that gives up", "200 ms pass", "the app exits"]],
  ["respond mode", ["a request", "shutdown()", "the next timer", "200 ms pass", "a task to be abandoned"]],
  [
    "announce first, with a delay",
    ["ready()", "a request", "a slow hook", "SIGTERM", "an uncaught error", "the app exits"],
  ],
];

test("orders of events that once broke a promise keep it", async () => {
  for (const [name, events] of ONCE_BROKEN) {
    const setup = SETUPS.find((one) => one.name === name);
    assert.ok(setup !== undefined, name);
    // One after the other: the first that breaks is the one to read.
    await bringToEnd(await live(setup, events), events);
  }
});
