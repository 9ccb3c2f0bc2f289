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
