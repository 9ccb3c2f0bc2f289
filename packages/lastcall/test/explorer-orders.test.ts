import { test } from "node:test";
import { SETUPS } from "./explorer/setups.ts";
import { bringToEnd, live } from "./explorer/walk.ts";

const LATER = ["200 ms pass", "200 ms pass"];
const GATE = ["SIGTERM", ...LATER];
/** Behind the linger window, before the deadline. */
const WINDOW_OVER = [...GATE, "200 ms pass"];

/** Orders worth a look under every setup: those that once broke a promise, and the corners that chance seldom finds. */
const ORDERS: readonly (readonly string[])[] = [
  ["the loop is empty", "the app exits"],
  ["SIGTERM", "a task that gives up", "200 ms pass", "the app exits"],
  ["a request", "shutdown()", "the next timer", "200 ms pass", "a task to be abandoned"],
  ["ready()", "a request", "a slow hook", "SIGTERM", "an uncaught error", "the app exits"],
  ["ready()", "a request", ...GATE, "a connection", "a request", "a response ends", "a response ends"],
  ["ready()", "a connection", "a request", ...WINDOW_OVER, "a request", "a connection", "a request"],
  ["ready()", "a probe", "a request", ...WINDOW_OVER, "a probe"],
  ["ready()", "a request", "a head is sent", ...WINDOW_OVER, ...LATER, ...LATER],
  ["ready()", "a request", "SIGTERM", "a response ends", "a request", "a response ends"],
  ["ready()", "a request", ...GATE, "a client leaves", "a handler settles"],
  ["ready()", "a slow hook", ...WINDOW_OVER, "SIGINT", "a slow hook settles"],
  ["ready()", "a slow hook", ...WINDOW_OVER, "SIGTERM", "an uncaught error", "a slow hook settles"],
  ["ready()", "a task", "a hook that throws", "a hook", ...WINDOW_OVER, "a task ends"],
  ["ready()", "a task", "a task to be abandoned", "a hook that hangs", ...WINDOW_OVER, "the loop is blocked"],
  ["ready()", "a task", ...GATE, "SIGINT"],
  ["ready()", "a task", "SIGTERM", "200 ms pass", "SIGTERM", "200 ms pass", "SIGTERM", "a task fails"],
  ["ready()", "shutdown()", "SIGTERM", "200 ms pass", "SIGINT"],
  ["ready()", "a task", "SIGTERM", "the loop is blocked", "the loop is blocked", "SIGINT", "a task ends"],
  ["a task", "a request", "SIGTERM", "ready()", ...LATER, "a response ends", "a task ends"],
];

for (const setup of SETUPS) {
  test(`chosen orders of events keep the promises: ${setup.name}`, async () => {
    for (const events of ORDERS) {
      for (let length = 1; length <= events.length; length += 1) {
        const begun = events.slice(0, length);
        // One after the other: the first that breaks is the one to read.
        await bringToEnd(await live(setup, begun), begun);
      }
    }
  });
}
