import assert from "node:assert/strict";
import { test } from "node:test";
import { describeWaiting } from "../src/progress.ts";

test("E5 it says on what it waits: the oldest requests by route and age, the tasks, the rest counted", () => {
  const requests = [1, 5, 3, 4].map((age) => ({ name: `GET /job/${age}`, ageMs: age * 1000 }));
  assert.equal(
    describeWaiting({
      phase: "draining",
      remainingMs: 7000,
      requests,
      tasks: [{ name: "receipt 42", ageMs: 2000 }],
      connections: 5,
      hook: null,
    }),
    "draining, 7 s left: waiting for 4 requests (GET /job/5 5.0 s, GET /job/4 4.0 s, GET /job/3 3.0 s, 1 more), 1 task (receipt 42 2.0 s)",
  );
});

test("E5 in teardown it names the hook, and with nothing else left the connections", () => {
  const idle = { remainingMs: 100, requests: [], tasks: [], connections: 2 };
  assert.match(describeWaiting({ ...idle, phase: "teardown", hook: "database" }), /teardown hook 'database'/);
  assert.match(
    describeWaiting({ ...idle, phase: "draining", hook: null }),
    /waiting for 2 connections to end/,
  );
});
