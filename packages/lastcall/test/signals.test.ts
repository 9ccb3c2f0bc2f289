import assert from "node:assert/strict";
import { test } from "node:test";
import { listenForSignals } from "../src/signals.ts";
import { FakeHost } from "../src/testing.ts";

test("G3 a hundred signals within a second are one, counted from the last and not from the first", async () => {
  const host = new FakeHost();
  const heard: string[] = [];
  listenForSignals(host, ["SIGTERM", "SIGINT"], (signal) => heard.push(signal));
  for (let sent = 0; sent < 100; sent += 1) {
    host.signal(sent % 2 === 0 ? "SIGTERM" : "SIGINT");
    // One after the other: each moves the clock.
    await host.advance(10);
  }
  assert.deepEqual(heard, ["SIGTERM"]);
});

test("A7 after 200 ms of silence a signal is a new one", async () => {
  const host = new FakeHost();
  const heard: string[] = [];
  listenForSignals(host, ["SIGTERM"], (signal) => heard.push(signal));
  host.signal("SIGTERM");
  await host.advance(199);
  host.signal("SIGTERM");
  await host.advance(200);
  host.signal("SIGTERM");
  assert.deepEqual(heard, ["SIGTERM", "SIGTERM"]);
});

test("what was installed is taken off again", () => {
  const host = new FakeHost();
  const stopListening = listenForSignals(host, ["SIGTERM"], () => assert.fail("it was taken off"));
  stopListening();
  host.signal("SIGTERM");
});
