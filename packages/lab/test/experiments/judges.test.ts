/** Each experiment's judge: a run that shows what it must, the same run with one thing wrong, and one that cannot tell. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  judgeAfterResponse,
  type AfterResponseFacts,
  type MailCase,
} from "../../src/experiments/after-response.ts";
import { EXPERIMENTS } from "../../src/experiments/all.ts";
import type { Ending, Fate } from "../../src/experiments/answer.ts";
import { judgeDrain, type DrainFacts } from "../../src/experiments/drain.ts";
import { judgeInDoubt, type InDoubtFacts } from "../../src/experiments/in-doubt.ts";
import { check, judge, timed } from "../../src/experiments/judgement.ts";
import type { ShutdownRecord } from "../../src/experiments/orders.ts";
import { judgePid1, type Pid1Facts } from "../../src/experiments/pid1.ts";
import { judgeProxy, type ProxyFacts } from "../../src/experiments/proxy.ts";
import { judgeRollout, type RolloutFacts } from "../../src/experiments/rollout.ts";
import { judgeSignal, type SignalFacts } from "../../src/experiments/signal.ts";
import { judgeSix, type SixFacts } from "../../src/experiments/six.ts";
import { judgeStuck, type StuckCase, type StuckFacts } from "../../src/experiments/stuck.ts";

function fate(status: number | null, afterMs: number, ending: Ending = "answered", body = ""): Fate {
  return { ending, status, afterMs, body };
}
const cut = (afterMs: number): Fate => fate(null, afterMs, "cut");
const exit = (
  code: number | null,
  afterMs: number,
  signal: string | null = null,
): { code: number | null; signal: string | null; afterMs: number } => ({ code, signal, afterMs });

function record(parts: Partial<ShutdownRecord>): ShutdownRecord {
  return {
    outcome: "incomplete",
    exitCode: 3,
    endedBy: "lastcall",
    requests: { unfinished: 1 },
    unfinished: [],
    tasks: { completed: 0, aborted: 0, abandoned: 0 },
    unfinishedTasks: [],
    ...parts,
  };
}

const signal: SignalFacts = {
  polite: {
    inFlight: fate(200, 3010),
    fresh: fate(null, 1, "refused"),
    exit: exit(0, 2350),
    order: [
      "signal signal=SIGTERM",
      "gate atMs=0",
      "FINISH #1",
      "drained",
      "teardown begins",
      "database closed",
      "record",
      "exit code=0",
    ],
  },
  kill: {
    inFlight: cut(710),
    fresh: fate(null, 1, "refused"),
    exit: exit(null, 5, "SIGKILL"),
    order: ["signal signal=SIGKILL"],
  },
  lateMs: 5,
};

test("signal: a polite stop that answers and a kill that cuts are shown", () => {
  const seen = judgeSignal(signal);
  assert.equal(seen.shows, true, seen.line);
  assert.match(seen.line, /^Shown: SIGTERM lost nothing .* 2\.35 s/);
});

test("signal: a request that SIGTERM cuts is not shown, and named", () => {
  const seen = judgeSignal({ ...signal, polite: { ...signal.polite, inFlight: cut(700) } });
  assert.equal(seen.shows, false);
  assert.match(seen.line, /^Not shown: SIGTERM: the request in flight is answered; seen: cut after 0\.70 s/);
});

test("signal: a database that closes before the answer is out is not shown", () => {
  const order = ["signal", "gate", "database closed", "FINISH", "teardown begins", "exit"];
  assert.equal(judgeSignal({ ...signal, polite: { ...signal.polite, order } }).shows, false);
});

test("signal: a kill that is noted by a handler is not shown", () => {
  assert.equal(
    judgeSignal({ ...signal, kill: { ...signal.kill, order: ["signal", "database closed"] } }).shows,
    false,
  );
});

test("a time outside of its bounds says nothing on a machine that was late itself", () => {
  assert.equal(timed("t", 5000, 0, 1000, 10).holds, false);
  assert.equal(timed("t", 5000, 0, 1000, 900).holds, null);
  assert.equal(timed("t", 500, 0, 1000, 900).holds, true);
  assert.equal(timed("t", null, 0, 1000, 900).holds, false);
});

test("what fails weighs more than what cannot be told, and the line counts the rest", () => {
  const seen = judge(
    [check("a", null, "?"), check("b", false, "1"), check("c", false, "2"), check("d", true, "3")],
    "x",
  );
  assert.deepEqual([seen.shows, seen.line], [false, "Not shown: b; seen: 1 (and 1 more)."]);
  const unknown = judge([check("a", null, "no nginx"), check("d", true, "3")], "x");
  assert.deepEqual([unknown.shows, unknown.line], [null, "Could not judge: a; no nginx."]);
});

const stuckCase = (parts: Partial<StuckCase>): StuckCase => ({
  fate: fate(200, 6000),
  exit: exit(0, 5410),
  record: null,
  threadFinished: false,
  ...parts,
});
const stuck: StuckFacts = {
  six: { naive: stuckCase({}), lastcall: stuckCase({}) },
  minute: {
    naive: stuckCase({ fate: cut(5600), exit: null }),
    lastcall: stuckCase({
      fate: fate(503, 2600),
      exit: exit(3, 2010),
      record: record({ unfinished: [{ route: "GET /work", cut: "503" }] }),
    }),
  },
  thread: stuckCase({
    fate: fate(503, 2600),
    exit: exit(3, 2020),
    record: record({ unfinishedTasks: [{ name: "sync-work 8 s", fate: "abandoned" }] }),
  }),
  spin: {
    naive: stuckCase({ exit: exit(0, 10_120) }),
    lastcall: stuckCase({
      fate: cut(2300),
      exit: exit(3, 2300),
      record: record({ blockedIn: "spin (routes.js:1)" }),
    }),
  },
  lateMs: 3,
};

test("stuck: limits that cut, and a naive service that waits for ever, are shown", () => {
  const seen = judgeStuck(stuck);
  assert.equal(seen.shows, true, seen.line);
});

test("stuck: a naive service that leaves, a late watchdog and a nameless function are not shown", () => {
  const left = { ...stuck.minute, naive: stuckCase({ exit: exit(0, 100) }) };
  assert.equal(judgeStuck({ ...stuck, minute: left }).shows, false);
  const late = { ...stuck.spin, lastcall: { ...stuck.spin.lastcall, exit: exit(3, 4000) } };
  assert.match(judgeStuck({ ...stuck, spin: late }).line, /blocked event loop: the exit comes at the limit/);
  const nameless = { ...stuck.spin, lastcall: { ...stuck.spin.lastcall, record: record({}) } };
  assert.match(judgeStuck({ ...stuck, spin: nameless }).line, /named; seen: no name/);
});

test("stuck: a thread that had finished was not abandoned", () => {
  assert.equal(judgeStuck({ ...stuck, thread: { ...stuck.thread, threadFinished: true } }).shows, false);
});

const mail = (parts: Partial<MailCase>): MailCase => ({
  accepted: true,
  sent: false,
  exit: exit(0, 30),
  unsent: 1,
  record: null,
  ...parts,
});
const mails: AfterResponseFacts = {
  naive: { background: mail({}), task: mail({}), tracked: mail({}) },
  lastcall: {
    background: mail({ sent: true, exit: exit(0, 2010) }),
    task: mail({}),
    tracked: mail({ sent: true, exit: exit(0, 2010) }),
  },
  aborted: mail({
    exit: exit(3, 1010),
    record: record({ tasks: { completed: 0, aborted: 1, abandoned: 0 } }),
  }),
  abandoned: mail({
    exit: exit(3, 1010),
    record: record({ tasks: { completed: 0, aborted: 0, abandoned: 1 } }),
  }),
  lateMs: 3,
};

test("after-response: sent where somebody waits, lost where nobody does", () => {
  assert.equal(judgeAfterResponse(mails).shows, true, judgeAfterResponse(mails).line);
  const lost = { ...mails.lastcall, tracked: mail({ exit: exit(0, 20) }) };
  assert.match(judgeAfterResponse({ ...mails, lastcall: lost }).line, /lastcall, tracked: SENT; seen: LOST/);
  const kept = { ...mails.naive, task: mail({ sent: true }) };
  assert.equal(judgeAfterResponse({ ...mails, naive: kept }).shows, false);
  assert.equal(judgeAfterResponse({ ...mails, aborted: mail({ exit: exit(0, 10) }) }).shows, false);
});

const six: SixFacts = {
  router: "nginx",
  bare: {
    fates: Array.from({ length: 6 }, () => fate(502, 405)),
    started: 6,
    finished: 0,
    upstreamClosed: 6,
  },
  lastcall: {
    fates: Array.from({ length: 6 }, () => fate(200, 1010)),
    started: 6,
    finished: 6,
    upstreamClosed: 0,
  },
  noDelay: { inFlight: [fate(200, 1005), fate(200, 1006)], late: fate(502, 2) },
  notAccepting: fate(null, 2000, "silent"),
  delay: { inFlight: [fate(200, 1005), fate(200, 1006)], late: fate(200, 110) },
  lateMs: 3,
};

test("six: 502s without a handler, 200s with, and the new request by its drain delay", () => {
  assert.equal(judgeSix(six).shows, true, judgeSix(six).line);
  assert.equal(
    judgeSix({
      ...six,
      lastcall: { ...six.lastcall, fates: [fate(502, 400), ...six.lastcall.fates.slice(1)] },
    }).shows,
    false,
  );
  assert.equal(judgeSix({ ...six, bare: { ...six.bare, finished: 1 } }).shows, false);
  assert.equal(judgeSix({ ...six, noDelay: { ...six.noDelay, late: fate(200, 100) } }).shows, false);
  assert.equal(judgeSix({ ...six, delay: { ...six.delay, late: fate(502, 2) } }).shows, false);
});

test("proxy: cut by stop alone; without nginx nothing can be told", () => {
  const whole = Array.from({ length: 4 }, () => fate(200, 1000));
  const facts: ProxyFacts = {
    nginx: "nginx 1",
    fates: { reload: whole, quit: whole, stop: whole.map(() => cut(300)) },
  };
  assert.equal(judgeProxy(facts).shows, true, judgeProxy(facts).line);
  assert.equal(
    judgeProxy({ ...facts, fates: { ...facts.fates, quit: whole.map(() => cut(300)) } }).shows,
    false,
  );
  assert.equal(judgeProxy({ nginx: null, fates: {} }).shows, null);
});

test("pid1: what is ignored and what leaves; without namespaces nothing can be told", () => {
  const one = {
    what: "node",
    seen: "ignored, still serving",
    exitCode: null,
    wanted: "ignored, still serving",
    wantedCode: null,
  } as const;
  const left = { what: "exec", seen: "left", exitCode: 0, wanted: "left", wantedCode: 0 } as const;
  const facts: Pid1Facts = {
    obstacle: null,
    cases: [one, left, left, left, { ...left, what: "tini", seen: "none" }],
  };
  assert.equal(judgePid1(facts).shows, true, judgePid1(facts).line);
  assert.equal(judgePid1({ ...facts, cases: [{ ...one, seen: "left" }, left, left, left] }).shows, false);
  assert.equal(judgePid1({ ...facts, cases: [one, { ...left, exitCode: 137 }, left, left] }).shows, false);
  assert.equal(judgePid1({ obstacle: "not permitted", cases: [] }).shows, null);
  assert.equal(judgePid1({ ...facts, cases: [one] }).shows, null);
});

const refusal = fate(503, 2, "answered", '{"error":"draining"}');
const drain: DrainFacts = {
  completed: {
    ready: fate(503, 1),
    onLive: refusal,
    onNew: refusal,
    counted: 1,
    held: fate(200, 400),
    exit: exit(0, 420),
    record: record({ requests: { unfinished: 0 } }),
  },
  expired: { held: fate(503, 1100), exit: exit(3, 1010), record: record({}), deadlineNoted: true },
  lateMs: 3,
};

test("drain: completed and expired are told apart", () => {
  assert.equal(judgeDrain(drain).shows, true, judgeDrain(drain).line);
  const bad: readonly DrainFacts[] = [
    { ...drain, completed: { ...drain.completed, ready: fate(200, 1) } },
    { ...drain, completed: { ...drain.completed, onNew: fate(null, 1, "refused") } },
    { ...drain, completed: { ...drain.completed, counted: 0 } },
    { ...drain, completed: { ...drain.completed, held: cut(400) } },
    { ...drain, completed: { ...drain.completed, record: null } },
    { ...drain, completed: { ...drain.completed, record: record({}) } },
    { ...drain, expired: { ...drain.expired, record: null } },
    { ...drain, expired: { ...drain.expired, held: fate(200, 1000) } },
    { ...drain, expired: { ...drain.expired, exit: exit(0, 1010) } },
    { ...drain, expired: { ...drain.expired, deadlineNoted: false } },
  ];
  assert.deepEqual(
    bad.map((facts) => judgeDrain(facts).shows),
    bad.map(() => false),
  );
});

test("rollout: each row counts, and an invalid row leaves it open", () => {
  const row = {
    scenario: "stop",
    mustShow: "many fail",
    shown: true,
    why: null,
    sent: 173,
    getFailed: 13,
    postFailed: 6,
    slow: 0,
    acknowledged: 80,
    stored: 80,
  };
  const facts: RolloutFacts = { rows: [row, { ...row, scenario: "drain", getFailed: 0, postFailed: 0 }] };
  assert.match(judgeRollout(facts).line, /^Shown: the usual stop loses 19 of 173/);
  assert.equal(judgeRollout({ rows: [{ ...row, shown: false, why: "3 failed" }] }).shows, false);
  assert.equal(judgeRollout({ rows: [{ ...row, shown: null, why: "invalid" }] }).shows, null);
});

test("in-doubt: orders without an acknowledgement after a kill, none after a drain, and no second row", () => {
  const facts: InDoubtFacts = {
    kill: { acknowledged: 70, stored: 75, inDoubt: ["a", "b", "c", "d", "e"], invalid: false },
    drain: { acknowledged: 90, stored: 90, inDoubt: [], invalid: false },
    killed: cut(300),
    again: fate(409, 5),
  };
  assert.equal(judgeInDoubt(facts).shows, true, judgeInDoubt(facts).line);
  assert.equal(judgeInDoubt({ ...facts, kill: { ...facts.kill, stored: 70, inDoubt: [] } }).shows, false);
  assert.equal(
    judgeInDoubt({ ...facts, drain: { ...facts.drain, stored: 91, inDoubt: ["x"] } }).shows,
    false,
  );
  assert.equal(judgeInDoubt({ ...facts, again: fate(201, 5) }).shows, false);
  assert.equal(judgeInDoubt({ ...facts, kill: { ...facts.kill, invalid: true } }).shows, null);
});

test("the nine classic experiments are there, each with a line", () => {
  assert.deepEqual(EXPERIMENTS.map(({ name }) => name).toSorted(), [
    "after-response",
    "drain",
    "in-doubt",
    "pid1",
    "proxy",
    "rollout",
    "signal",
    "six",
    "stuck",
  ]);
  assert.ok(EXPERIMENTS.every(({ summary }) => summary.length > 20 && summary.length < 80));
});
