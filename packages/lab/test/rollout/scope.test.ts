import assert from "node:assert/strict";
import { test } from "node:test";
import { Interrupted, openScope } from "../../src/rollout/scope.ts";

const never = new Promise<never>(() => undefined);

test("what was opened is closed in reverse order, once, also when one closing fails", async () => {
  const scope = openScope(new AbortController().signal);
  const closed: string[] = [];
  scope.defer(() => void closed.push("first"));
  scope.defer(() => {
    closed.push("second");
    throw new Error("second failed");
  });
  scope.defer(async () => void closed.push("third"));
  await assert.rejects(scope.close(), /second failed/);
  assert.deepEqual(closed, ["third", "second", "first"]);
  await scope.close();
  assert.equal(closed.length, 3);
});

test("what is opened after the close has begun is closed at once, and nothing new may start", async () => {
  const scope = openScope(new AbortController().signal);
  scope.assertOpen();
  await scope.close();
  let closed = false;
  scope.defer(() => void (closed = true));
  assert.ok(closed);
  assert.throws(() => scope.assertOpen(), Interrupted);
});

test("an interrupt ends every wait", async () => {
  const interrupt = new AbortController();
  const scope = openScope(interrupt.signal);
  const waits = [scope.sleep(60_000), scope.orInterrupted(never)];
  interrupt.abort();
  for (const wait of waits) {
    await assert.rejects(wait, Interrupted);
  }
  await assert.rejects(openScope(interrupt.signal).sleep(60_000), Interrupted);
  await scope.close();
});

test("a failure from outside ends every wait with its own error", async () => {
  const scope = openScope(new AbortController().signal);
  const wait = scope.sleep(60_000);
  scope.fail(new Error("the disk is full"));
  await assert.rejects(wait, /the disk is full/);
  await scope.close();
});
