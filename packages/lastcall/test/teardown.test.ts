import assert from "node:assert/strict";
import { test } from "node:test";
import { Teardown } from "../src/teardown.ts";
import { FakeHost } from "../src/testing.ts";

const never = (): Promise<void> => new Promise(() => {});

test("D4 hooks run one after the other, last opened first closed, and a failure stops none", async () => {
  const order: string[] = [];
  const teardown = new Teardown(new FakeHost());
  teardown.add("opened first", () => void order.push("opened first"));
  teardown.add("fails", () => {
    order.push("fails");
    throw new Error("no such socket");
  });
  teardown.add("opened last", async () => {
    await Promise.resolve();
    order.push("opened last");
  });
  await teardown.run(1000);
  assert.deepEqual(order, ["opened last", "fails", "opened first"]);
  assert.deepEqual(
    teardown.reports().map(({ name, outcome, error }) => [name, outcome, error]),
    [
      ["opened last", "done", undefined],
      ["fails", "failed", "no such socket"],
      ["opened first", "done", undefined],
    ],
  );
  assert.equal(teardown.failure()?.errors.length, 1);
});

test("C5 a hook that never settles is bounded, and the hooks after it still run in their share of the time", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  const shares: number[] = [];
  teardown.add("after", ({ remainingMs }) => void shares.push(remainingMs()));
  teardown.add("hangs", never);
  let done = false;
  const running = teardown.run(1000).then(() => {
    done = true;
  });
  await host.advance(749);
  assert.deepEqual(shares, []);
  await host.advance(1);
  await running;
  assert.ok(done);
  assert.deepEqual(shares, [250]);
  assert.deepEqual(
    teardown.reports().map(({ name, outcome }) => [name, outcome]),
    [
      ["hangs", "timed out"],
      ["after", "done"],
    ],
  );
});

test("C5 many hooks that hang are still over at the teardown timeout", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  const started: number[] = [];
  for (let hook = 0; hook < 20; hook += 1) {
    teardown.add(`hook ${hook}`, () => {
      started.push(hook);
      return never();
    });
  }
  const running = teardown.run(1000);
  await host.advance(1000);
  await running;
  assert.equal(started.length, 20);
  assert.ok(host.now() <= 1000);
});

test("C5 the hook that ran out of time is told by its signal", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  let reason: unknown;
  teardown.add("pool", ({ signal }) => {
    signal.addEventListener("abort", () => {
      reason = signal.reason;
    });
    return never();
  });
  const running = teardown.run(100);
  await host.advance(100);
  await running;
  assert.match(String(reason), /'pool' ran out of time/);
});

test("D5 a hook that is registered while teardown runs is the next to run; after the end it runs at once", async () => {
  const order: string[] = [];
  const teardown = new Teardown(new FakeHost());
  teardown.add("first", () => void order.push("first"));
  teardown.add("second", () => {
    order.push("second");
    teardown.add("opened by second", () => void order.push("opened by second"));
  });
  await teardown.run(1000);
  teardown.add("too late", () => void order.push("too late"));
  assert.deepEqual(order, ["second", "opened by second", "first", "too late"]);
});

test("a hook can be taken off again", async () => {
  const teardown = new Teardown(new FakeHost());
  const remove = teardown.add("gone", () => assert.fail("it was taken off"));
  remove();
  await teardown.run(1000);
  assert.deepEqual(teardown.reports(), []);
});
