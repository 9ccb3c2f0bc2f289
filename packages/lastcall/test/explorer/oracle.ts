/** What must be true of a life after every event, and what its record must say in the end. Knows nothing of the code. */

import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ShutdownRecord } from "../../src/record.ts";
import type { World } from "./world.ts";

const ORDER = ["starting", "serving", "lame-duck", "draining", "teardown", "stopped"];

function probe(world: World, path: string): number {
  let status = 0;
  const response = {
    writeHead: (code: number) => {
      status = code;
    },
    end: () => {},
  };
  world.life.probes({ method: "GET", url: path } as IncomingMessage, response as unknown as ServerResponse);
  return status;
}

/** Throws where a promise is broken. */
export function checkNow(world: World): void {
  const { life, host, changes } = world;
  const { state } = life;
  const now = host.now();
  assert.deepEqual(world.breaches, []);
  changes.forEach(({ from, to }) => {
    assert.ok(ORDER.indexOf(to) > ORDER.indexOf(from), `the state went from ${from} to ${to}`);
  });
  assert.equal(probe(world, "/readyz"), state === "serving" ? 200 : 503, `readiness in ${state}`);
  assert.equal(probe(world, "/livez"), 200, "a draining service is alive");
  assert.equal(
    life.signal.aborted,
    world.changes.some(({ to }) => to !== "serving"),
  );
  assert.ok(changes.filter(({ to }) => to === "teardown").length <= 1, "teardown twice");
  assert.ok(host.exits <= 1, "two exits");
  if (world.appExit === null && world.t0 !== null) {
    assert.equal(life.remainingMs(), Math.max(0, world.deadline - now), "the deadline moved");
  }
  checkGate(world);
  checkDrain(world);
  if (world.over) {
    checkEnd(world);
  } else {
    assert.equal(host.recordLines.length, 0, "a record before the end");
  }
}

function checkGate(world: World): void {
  const { drainDelayMs } = world.life.budget;
  const early = world.changes.find(({ from, to }) => from === "lame-duck" && to === "draining");
  if (early !== undefined && world.others.every(({ effect }) => effect !== "ended the drain delay")) {
    const skips = world.signalName === "SIGINT" && world.setup.terminal;
    assert.ok(skips || early.atMs >= drainDelayMs, `the gate closed after ${early.atMs} ms`);
  }
  const announceFirst = world.setup.options.leaveOrder === "announce-first";
  for (const one of world.asked) {
    const { response } = one;
    if (one.mayRun !== null) {
      const answered = one.ran || (one.isProbe && response.headersSent);
      assert.equal(one.ran, one.isProbe ? one.ran : one.mayRun, one.mayRun ? "refused too early" : "let in");
      assert.ok(answered || response.headersSent || response.destroyed, "neither run nor refused");
    }
    if (!one.ran && response.headersSent && one.isCounted) {
      assert.equal(response.statusCode, 503);
      assert.ok(response.announced, "a refusal without Connection: close");
    }
  }
  if (!announceFirst && world.life.state === "lame-duck") {
    const told = world.asked.some(({ response }) => response.announced);
    assert.ok(!told, "clients were told before the listener had closed");
  }
  if (announceFirst && world.stopping && world.appExit === null) {
    const unannounced = world.asked.filter(({ response }) => response.headersSent && !response.announced);
    assert.ok(
      unannounced.every((one) => world.headsBeforeStop.has(one)),
      "a head after t0 without Connection: close",
    );
  }
}

function checkDrain(world: World): void {
  const { life, host } = world;
  const now = host.now();
  const { abortWindowMs } = life.budget;
  const waitsFor = world.inFlight().length + world.openTasks().length;
  if (life.state === "lame-duck" || life.state === "draining") {
    assert.equal(world.hooksRun.length, 0, "a hook ran before teardown");
    assert.ok(world.late || now < world.deadline, "it outlived its deadline");
    assert.ok(!world.forced, "it was forced and did not end");
  }
  if (life.state === "draining") {
    assert.ok(
      waitsFor > 0 || world.server.sockets.size > 0 || world.server.listening,
      "nothing is left to wait for, and it waits",
    );
    if (!world.late) {
      const near = now >= world.deadline - abortWindowMs;
      assert.equal(world.nearDeadline, near, "the abort signal fires abortWindowMs before the deadline");
      for (const task of world.tasks) {
        if (task.end === null && task.signal !== null) {
          assert.equal(task.signal.aborted, near && task.kind !== "abandon", `the signal of ${task.name}`);
        }
      }
    }
  }
  const { fates, teardownAt } = world;
  if (fates !== null && teardownAt !== null && !world.cutShort && teardownAt < world.deadline) {
    const { aborted, abandoned } = fates.tasks;
    const givenUp = world.tasks.filter(({ end }) => end === "gave up").length;
    assert.equal(fates.unfinished + aborted + abandoned - givenUp, 0, "teardown began before the last work");
    assert.equal(world.openAtTeardown, 0, "teardown began before the last connection had ended");
  }
}

/** The end: one record, and it is true. */
function checkEnd(world: World): void {
  const { host, life } = world;
  if (world.t0 === null) {
    assert.equal(host.recordLines.length, 0, "an exit in start-up is the app's own affair");
    return;
  }
  assert.equal(host.recordLines.length, 1, "exactly one record");
  const record = host.record;
  const fates = world.fates;
  assert.ok(fates !== null);
  const { requests, tasks } = record;
  assert.deepEqual(
    {
      accepted: requests.accepted,
      completed: requests.completed,
      clientGone: requests.clientGone,
      unfinished: requests.unfinished,
      tasks,
    },
    fates,
  );
  assert.equal(requests.accepted, requests.completed + requests.unfinished);
  assert.equal(record.unfinished.length, fates.unfinished);
  assert.equal(record.unfinishedTasks.length, tasks.aborted + tasks.abandoned);
  const refused = world.asked.filter((one) => !one.ran && one.isCounted && one.response.statusCode === 503);
  assert.equal(requests.refused["503"], refused.length, "the refusals");
  assert.deepEqual(
    record.teardown.map(({ name, outcome }) => `${name} ${outcome}`),
    world.hooksRun.filter(({ outcome }) => outcome !== null).map(({ name, outcome }) => `${name} ${outcome}`),
  );
  assert.deepEqual(record.others, world.others);
  assert.equal(record.signal, world.signalName);
  assert.equal(record.reason, world.reason);
  assert.equal(record.errors.length, world.uncaught);
  checkPhases(world, record);

  const hooksFailed = world.hooksRun.some(({ outcome }) => outcome !== null && outcome !== "done");
  const unfinished = fates.unfinished + tasks.aborted + tasks.abandoned > 0;
  const early = world.appExit !== null && world.teardownAt === null;
  const outcome = world.failed
    ? "failed"
    : world.forced || unfinished || hooksFailed || early
      ? "incomplete"
      : "drained";
  assert.equal(record.outcome, outcome);
  const code = world.appExit ?? { failed: 1, incomplete: 3, drained: 0 }[outcome];
  assert.equal(record.exitCode, code);
  assert.equal(host.exitCode, code);
  assert.equal(record.endedBy, world.appExit === null ? "lastcall" : "app");
  if (world.appExit === null) {
    assert.equal(world.hookStack.length, 0, "a hook was skipped");
    const { teardownTimeoutMs, settleMs } = life.budget;
    const latest = world.deadline + teardownTimeoutMs + settleMs + world.stalledMs;
    assert.ok(host.exitedAt <= latest, `stopped at ${host.exitedAt}, which is after ${latest}`);
  }
}

function checkPhases(world: World, record: ShutdownRecord): void {
  const t0 = world.t0 ?? 0;
  const end = world.host.exitedAt;
  const { lameDuckMs, drainingMs, teardownMs, totalMs } = record.phases;
  assert.equal(totalMs, end - t0);
  assert.equal(lameDuckMs, (world.drainingAt ?? world.teardownAt ?? end) - t0);
  assert.equal(drainingMs, world.drainingAt === null ? 0 : (world.teardownAt ?? end) - world.drainingAt);
  assert.equal(teardownMs, world.teardownAt === null ? 0 : end - world.teardownAt);
}
