import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createLifecycle } from "../src/create.ts";
import type { Lifecycle, StateChange } from "../src/life.ts";
import type { LifecycleOptions } from "../src/options.ts";
import { FakeHost } from "../src/testing.ts";

const never = (): Promise<void> => new Promise(() => {});

const TIMES: LifecycleOptions = {
  gracePeriodMs: 10_000,
  drainDelayMs: 1000,
  gracefulTimeoutMs: 4000,
  teardownTimeoutMs: 1000,
};

interface Told {
  readonly host: FakeHost;
  readonly life: Lifecycle;
  readonly changes: StateChange[];
}

function serving(options: LifecycleOptions = TIMES, host: FakeHost = new FakeHost()): Told {
  const life = createLifecycle(options, host);
  const changes: StateChange[] = [];
  life.events.on("state", (change) => changes.push(change));
  life.ready();
  return { host, life, changes };
}

test("a stop goes through lame-duck, draining and teardown to exit code 0, each phase at its time", async () => {
  const { host, changes } = serving();
  host.signal("SIGTERM");
  await host.advance(1000);
  assert.deepEqual(
    changes.map(({ to, atMs }) => [to, atMs]),
    [
      ["serving", 0],
      ["lame-duck", 0],
      ["draining", 1000],
      ["teardown", 1000],
      ["stopped", 1000],
    ],
  );
  assert.equal(host.exitCode, 0);
  assert.equal(host.record.outcome, "drained");
  assert.equal(host.record.phases.lameDuckMs, 1000);
});

test("A6 with drain delay 0 the gate closes at t0", async () => {
  const { host, changes } = serving({ ...TIMES, drainDelayMs: 0 });
  host.signal("SIGTERM");
  assert.equal(changes.find(({ to }) => to === "draining")?.atMs, 0);
  await host.advance(0);
  assert.equal(host.exitCode, 0);
});

test("A7 a second signal of any kind ends the drain delay, and work still gets its graceful timeout", async () => {
  for (const second of ["SIGTERM", "SIGINT"] as const) {
    const { host, life } = serving();
    void life.task("work", never);
    host.signal("SIGTERM");
    await host.advance(300);
    host.signal(second);
    assert.equal(life.state, "draining", second);
    assert.equal(life.remainingMs(), 4000);
    await host.advance(3999);
    assert.equal(life.state, "draining");
    await host.advance(1);
    assert.equal(host.exitCode, 3);
    assert.deepEqual(host.record.others, [{ signal: second, atMs: 300, effect: "ended the drain delay" }]);
  }
});

test("A7 while draining a SIGTERM is ignored and recorded, a SIGINT forces: teardown runs, exit code 3", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  let closed = false;
  life.onTeardown("database", () => {
    closed = true;
  });
  void life.task("work", never);
  host.signal("SIGTERM");
  await host.advance(300);
  host.signal("SIGTERM");
  assert.equal(life.state, "draining");
  await host.advance(300);
  host.signal("SIGINT");
  await host.advance(0);
  assert.ok(closed);
  assert.equal(host.exitCode, 3);
  assert.deepEqual(
    host.record.others.map(({ effect }) => effect),
    ["ignored", "forced"],
  );
  assert.equal(host.record.unfinishedTasks[0]?.name, "work");
});

test("G2 a stop signal during start-up ends the process without a drain delay, exit code 0", async () => {
  const host = new FakeHost();
  const life = createLifecycle(TIMES, host);
  const order: string[] = [];
  life.onTeardown("half-opened pool", () => void order.push("pool closed"));
  host.signal("SIGTERM");
  life.ready();
  assert.notEqual(life.state, "serving");
  await host.advance(0);
  assert.deepEqual(order, ["pool closed"]);
  assert.equal(host.exitCode, 0);
});

test("a SIGINT from a terminal skips the drain delay", async () => {
  const { host } = serving(TIMES, new FakeHost({ facts: { terminal: true } }));
  host.signal("SIGINT");
  await host.advance(0);
  assert.equal(host.exitCode, 0);
});

test("shutdown() is the same promise for every caller, and the platform's own signal joins it", async () => {
  const { host, life } = serving();
  const first = life.shutdown("deploy");
  assert.equal(life.shutdown("again"), first);
  await host.advance(500);
  host.signal("SIGTERM");
  assert.equal(life.state, "lame-duck");
  await host.advance(500);
  const record = await first;
  assert.equal(record.reason, "shutdown");
  assert.equal(record.why, "deploy");
  assert.equal(record.signal, "SIGTERM");
  assert.equal(record.others[0]?.effect, "joined the stop");
});

test("life.signal aborts at t0 and tasks are told before the deadline", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0, abortWindowMs: 250 });
  const told: string[] = [];
  life.signal.addEventListener("abort", () => told.push(`life at ${host.now()}`));
  void life.task("work", (signal) => {
    signal.addEventListener("abort", () => told.push(`task at ${host.now()}`));
    return never();
  });
  host.signal("SIGTERM");
  await host.advance(4000);
  assert.deepEqual(told, ["life at 0", "task at 3750"]);
});

test("taskTimeoutMs caps tracked work inside the deadline", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0, taskTimeoutMs: 1000 });
  void life.task("work", never);
  host.signal("SIGTERM");
  await host.advance(1000);
  assert.equal(host.exitCode, 3);
  assert.equal(host.record.phases.totalMs, 1000);
});

test("C5 a hook that never settles is bounded by the teardown timeout, named, and makes the stop incomplete", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  let after = false;
  life.onTeardown("after", () => {
    after = true;
  });
  life.onTeardown("hangs", never);
  host.signal("SIGTERM");
  await host.advance(1000);
  assert.ok(after);
  assert.equal(host.exitCode, 3);
  assert.deepEqual(
    host.record.teardown.map(({ name, outcome }) => `${name}: ${outcome}`),
    ["hangs: timed out", "after: done"],
  );
});

test("G4 an uncaught error while draining goes straight to teardown and exits 1", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  let closed = false;
  life.onTeardown("database", () => {
    closed = true;
  });
  void life.task("work", never);
  host.signal("SIGTERM");
  await host.advance(100);
  assert.ok(host.throwUncaught(new Error("boom")));
  await host.advance(0);
  assert.ok(closed);
  assert.equal(host.exitCode, 1);
  assert.deepEqual(host.record.errors, ["Error: boom"]);
});

test("G4 where the app decides what uncaught errors mean, the drain goes on and still exits 1", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  let finish = (): void => {};
  void life.task(
    "work",
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  host.foreignUncaught = true;
  host.signal("SIGTERM");
  await host.advance(100);
  host.throwUncaught(new Error("logged by the app"));
  assert.equal(life.state, "draining");
  finish();
  await host.advance(0);
  assert.equal(host.exitCode, 1);
  assert.equal(host.record.tasks.completed, 1);
});

test("C2 what is thrown after the abort signal is recorded and changes no exit code", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  void life.task("work", never);
  host.signal("SIGTERM");
  await host.advance(3800);
  host.throwUncaught(new Error("gave up"));
  await host.advance(200);
  assert.equal(host.exitCode, 3);
  assert.deepEqual(host.record.errors, ["Error: gave up"]);
});

test("before a stop an uncaught error is nobody's business but the app's", () => {
  const { host } = serving();
  assert.equal(host.throwUncaught(new Error("boom")), false);
});

test("E6 an app that calls process.exit itself is recorded with its stack, and early means incomplete", () => {
  const { host, life } = serving();
  void life.task("receipt 42", never);
  host.exitByApp(0, "at handler (app.js:1:1)");
  assert.equal(host.record.endedBy, "app");
  assert.equal(host.record.outcome, "incomplete");
  assert.deepEqual(host.record.exitStack, ["at handler (app.js:1:1)"]);
  assert.deepEqual(
    host.record.unfinishedTasks.map(({ name }) => name),
    ["receipt 42"],
  );
});

test("E6 an app's own exit while draining begins no teardown, and says what was unfinished", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  let begun = false;
  life.onTeardown("database", () => {
    begun = true;
  });
  void life.task("receipt 42", never);
  host.signal("SIGTERM");
  await host.advance(100);
  host.exitByApp(7);
  await host.settle();
  assert.equal(begun, false);
  assert.equal(host.record.phases.drainingMs, 100);
  assert.equal(host.record.phases.teardownMs, 0);
  assert.deepEqual(host.record.teardown, []);
  assert.equal(host.record.outcome, "incomplete");
});

test("E6 an app that exits while the end is waited for is recorded as well, once", async () => {
  const { host } = serving({ ...TIMES, drainDelayMs: 0, settleMs: 1000 });
  host.signal("SIGTERM");
  await host.advance(500);
  assert.deepEqual(host.recordLines, []);
  host.exitByApp(7);
  await host.advance(1000);
  assert.equal(host.recordLines.length, 1);
  assert.equal(host.record.endedBy, "app");
  assert.equal(host.record.outcome, "drained");
  assert.equal(host.record.exitCode, 7);
});

test("when the event loop empties by itself teardown runs and the exit code is 0", async () => {
  const { host, life } = serving();
  let closed = false;
  life.onTeardown("file", () => {
    closed = true;
  });
  host.emptyLoop();
  await host.advance(0);
  assert.ok(closed);
  assert.equal(host.exitCode, 0);
  assert.equal(host.record.reason, "empty-loop");
});

test("E5 while it waits it says on what, at least once a second", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  void life.task("receipt 42", never);
  host.signal("SIGTERM");
  await host.advance(3999);
  const said = host.lines.filter((line) => line.includes("1 task (receipt 42"));
  assert.ok(said.length >= 3, host.lines.join("\n"));
});

test("log none writes nothing but the record", async () => {
  const { host } = serving({ ...TIMES, log: "none" });
  host.signal("SIGTERM");
  await host.advance(1000);
  assert.deepEqual(host.lines, []);
  assert.equal(host.recordLines.length, 1);
});

test("E3 the stop signals stay ours until the process is gone, or a late one would end it in place of its exit code", async () => {
  const host = new FakeHost();
  const listening = new Set<string>();
  const listen = host.onSignal.bind(host);
  host.onSignal = (signal, run) => {
    listening.add(signal);
    const undo = listen(signal, run);
    return () => {
      listening.delete(signal);
      undo();
    };
  };
  serving({ ...TIMES, drainDelayMs: 0 }, host);
  host.signal("SIGTERM");
  await host.advance(100);
  assert.equal(host.exitCode, 0);
  assert.deepEqual([...listening], ["SIGTERM", "SIGINT"]);
});

test("await using drains, tears down and gives the signals back, and does not end the process", async () => {
  const host = new FakeHost();
  let closed = false;
  {
    await using life = createLifecycle({ drainDelayMs: 0 }, host);
    life.onTeardown("file", () => {
      closed = true;
    });
    life.ready();
  }
  assert.ok(closed);
  assert.equal(host.exitCode, null);
  const said = host.lines.length;
  host.signal("SIGTERM");
  host.emptyLoop();
  assert.equal(host.throwUncaught(new Error("nobody's any more")), false);
  assert.equal(host.lines.length, said, "what was installed is taken off again");
  assert.equal(createLifecycle({ drainDelayMs: 0, lingerMs: 1 }, host).state, "starting");
});

test("a listener that throws does not break the stop", async () => {
  const { host, life } = serving({ ...TIMES, drainDelayMs: 0 });
  life.events.on("state", () => {
    throw new Error("bad listener");
  });
  host.signal("SIGTERM");
  await host.advance(0);
  assert.equal(host.exitCode, 0);
  assert.match(host.record.errors[0] ?? "", /bad listener/);
});

test("after a stop request any order of events ends in stopped by the deadline plus teardown", async () => {
  const event = fc.record({
    what: fc.constantFrom(
      "SIGTERM",
      "SIGINT",
      "task",
      "task ends",
      "uncaught",
      "hook",
      "hook hangs",
      "shutdown",
      "ready",
    ),
    afterMs: fc.integer({ min: 0, max: 1500 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 12 }), fc.boolean(), async (events, ready) => {
      const host = new FakeHost();
      const life = createLifecycle(TIMES, host);
      const states: string[] = [];
      life.events.on("state", ({ to }) => states.push(to));
      if (ready) {
        life.ready();
      }
      const open: (() => void)[] = [];
      let stoppedAt: number | null = null;
      for (const { what, afterMs } of [
        { what: "none", afterMs: 0 },
        ...events,
        { what: "SIGTERM", afterMs: 300 },
      ]) {
        await host.advance(afterMs);
        if (what === "SIGTERM" || what === "SIGINT") {
          host.signal(what);
        } else if (what === "task") {
          void life.task("task", () => new Promise<void>((resolve) => open.push(resolve))).catch(() => {});
        } else if (what === "task ends") {
          open.shift()?.();
        } else if (what === "uncaught") {
          host.throwUncaught(new Error("uncaught"));
        } else if (what === "hook") {
          life.onTeardown("hook", () => {});
        } else if (what === "hook hangs") {
          life.onTeardown("hangs", never);
        } else if (what === "shutdown") {
          void life.shutdown();
        } else {
          life.ready();
        }
        if (stoppedAt === null && life.state !== "starting" && life.state !== "serving") {
          stoppedAt = host.now();
        }
      }
      const begun = stoppedAt ?? host.now();
      await host.advance(Math.max(0, begun + 6000 - host.now()));
      assert.notEqual(host.exitCode, null);
      assert.equal(host.recordLines.length, 1);
      const { tasks, phases } = host.record;
      assert.ok(phases.totalMs <= 6000);
      assert.ok(tasks.completed >= 0);
      assert.equal(states.filter((state) => state === "serving").length <= 1, true);
    }),
    { numRuns: 200 },
  );
});

test("a stop that `await using` begins leaves the process to its program", async () => {
  const { host, life } = serving();
  const disposed = life[Symbol.asyncDispose]();
  await host.advance(1000);
  await disposed;
  assert.equal(host.record.outcome, "drained");
  assert.equal(host.exitCode, null);
});

test("E3 a stop that a signal has begun ends the process with its exit code, also where `await using` waits for it", async () => {
  const { host, life } = serving();
  void life.task("work", never);
  host.signal("SIGTERM");
  const disposed = life[Symbol.asyncDispose]();
  await host.advance(5000);
  await disposed;
  assert.equal(host.exitCode, 3);
});

test("E3 a signal that comes while `await using` drains ends the process with its exit code", async () => {
  const { host, life } = serving();
  const disposed = life[Symbol.asyncDispose]();
  host.signal("SIGTERM");
  await host.advance(1000);
  await disposed;
  assert.equal(host.record.signal, "SIGTERM");
  assert.equal(host.exitCode, 0);
});
