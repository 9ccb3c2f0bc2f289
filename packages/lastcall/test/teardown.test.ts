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

test("taking a hook off twice takes no other off, and the fate of one that ran is settled", async () => {
  const order: string[] = [];
  const teardown = new Teardown(new FakeHost());
  const remove = teardown.add("gone", () => void order.push("gone"));
  teardown.add("stays", () => void order.push("stays"));
  remove();
  remove();
  await teardown.run(1000);
  assert.deepEqual(order, ["stays"]);
});

test("the hook that runs is named while it runs, with how long it took afterwards", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  let finish = (): void => {};
  teardown.add(
    "pool",
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  await host.advance(10);
  const running = teardown.run(1000);
  await host.advance(40);
  assert.equal(teardown.running, "pool");
  finish();
  await running;
  assert.equal(teardown.running, null);
  assert.deepEqual(teardown.reports(), [{ name: "pool", outcome: "done", ms: 40 }]);
  assert.equal(teardown.failure(), null);
});

test("D4 whatever a hook throws is reported, and all failures are one error", async () => {
  const teardown = new Teardown(new FakeHost());
  const thrown: unknown = "a text";
  teardown.add("first", () => Promise.reject(new Error("no")));
  teardown.add("second", () => {
    throw thrown;
  });
  await teardown.run(1000);
  assert.deepEqual(
    teardown.reports().map(({ error }) => error),
    ["a text", "no"],
  );
  assert.equal(teardown.failure()?.message, "2 teardown hooks failed.");
});

test("C5 a hook that nothing is left to settle is given up when the loop is empty for the second time", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  teardown.add("forgotten", never);
  let over = false;
  const running = teardown.run(1000).then(() => {
    over = true;
  });
  await host.settle();
  host.emptyLoop();
  await host.settle();
  assert.equal(over, false);
  host.emptyLoop();
  await running;
  assert.equal(teardown.reports()[0]?.outcome, "timed out");
  assert.equal(host.now(), 0);
});

test("C5 the time that a hook is told is never below zero, and the error that it gets says so", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  let left: () => number = () => -1;
  let reason: unknown;
  teardown.add("pool", ({ remainingMs, signal }) => {
    left = remainingMs;
    signal.addEventListener("abort", () => {
      reason = signal.reason;
    });
    return never();
  });
  const running = teardown.run(100);
  assert.equal(left(), 100);
  host.stall(250);
  assert.equal(left(), 0);
  await host.advance(0);
  await running;
  assert.equal((reason as DOMException).name, "TimeoutError");
});

test("C5 many hooks share what there is: each that hangs leaves a part to those after it", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  const startedAt: number[] = [];
  for (let hook = 0; hook < 3; hook += 1) {
    teardown.add("hangs", () => {
      startedAt.push(host.now());
      return never();
    });
  }
  const running = teardown.run(900);
  await host.advance(900);
  await running;
  // 900 / (2 * 3) = 150 for each of the two others; then 300 / (2 * 2) = 75 for the last.
  assert.deepEqual(startedAt, [0, 600, 825]);
});

test("C4 what has not ended is named in the order in which it would: the hook that runs first", async () => {
  const host = new FakeHost();
  const teardown = new Teardown(host);
  for (const name of ["first", "second", "third"]) {
    teardown.add(name, never);
  }
  assert.deepEqual(teardown.pending(), ["third", "second", "first"]);
  const running = teardown.run(1000);
  await host.settle();
  assert.deepEqual(teardown.pending(), ["third", "second", "first"]);
  await host.advance(1000);
  await running;
  assert.deepEqual(teardown.pending(), []);
});

test("a hook's limit does not keep the process alive, and goes with the hook; who was in time is not told to give up", async () => {
  const left = new Set<() => void>();
  let turns = 0;
  const unref: (boolean | undefined)[] = [];
  class Watched extends FakeHost {
    override setTimer(ms: number, run: () => void, isUnref?: boolean): () => void {
      unref.push(isUnref);
      return this.#watch(super.setTimer(ms, run));
    }
    override onEmptyLoop(run: () => void): () => void {
      return this.#watch(super.onEmptyLoop(run));
    }
    override afterPoll(run: () => void): void {
      turns += 1;
      super.afterPoll(run);
    }
    #watch(undo: () => void): () => void {
      const watched = (): void => {
        left.delete(watched);
        undo();
      };
      left.add(watched);
      return watched;
    }
  }
  const host = new Watched();
  const teardown = new Teardown(host);
  let given: AbortSignal | null = null;
  let finish = (): void => {};
  teardown.add("pool", ({ signal }) => {
    given = signal;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  const running = teardown.run(1000);
  assert.deepEqual(unref, [true]);
  host.emptyLoop();
  assert.equal(turns, 1, "the loop is given one more turn");
  finish();
  await running;
  assert.equal(left.size, 0);
  assert.equal((given as AbortSignal | null)?.aborted, false);
});
