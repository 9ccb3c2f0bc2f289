import assert from "node:assert/strict";
import { test } from "node:test";
import { SETUPS } from "./explorer/setups.ts";
import { walk } from "./explorer/walk.ts";

/** `npm run explore` walks deeper. */
const DEPTH = Number(process.env["EXPLORE_DEPTH"] ?? 2);

const ROOTS: Readonly<Record<string, readonly string[]>> = {
  "the beginning": [],
  "a stop with work in flight": ["ready()", "a request", "a task", "a slow hook", "SIGTERM"],
};

for (const setup of SETUPS) {
  for (const [name, from] of Object.entries(ROOTS)) {
    test(`every order of ${DEPTH} events from ${name} keeps the promises: ${setup.name}`, async (t) => {
      const startedAt = performance.now();
      const { orders, states, steps } = await walk(setup, DEPTH, from);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      t.diagnostic(`${orders} orders of events, ${states} states, ${steps} steps, ${seconds} s`);
      assert.ok(states > 100, "the walk went nowhere");
    });
  }
}
