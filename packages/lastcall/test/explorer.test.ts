import { test } from "node:test";
import { SETUPS } from "./explorer/setups.ts";
import { walk } from "./explorer/walk.ts";

/** `npm run explore` walks deeper. */
const DEPTH = Number(process.env["EXPLORE_DEPTH"] ?? 3);

for (const setup of SETUPS) {
  test(`every order of ${DEPTH} events keeps the promises: ${setup.name}`, async (t) => {
    const startedAt = performance.now();
    const { orders, states, steps } = await walk(setup, DEPTH);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    t.diagnostic(`${orders} orders of events, ${states} states, ${steps} steps, ${seconds} s`);
  });
}
