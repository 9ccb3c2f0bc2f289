import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { judgeStream } from "../../src/verdict/judge.ts";
import {
  baseline,
  end,
  event,
  executed,
  failure,
  judge,
  judgeRestart,
  line,
  request,
  restart,
  routerError,
  run,
} from "./ledger.ts";

const POST = { method: "POST", path: "/orders", status: 201 } as const;

describe("a run without a loss", () => {
  const verdict = judgeRestart([
    request(2100, { copy: "101" }),
    request(2200, { copy: "101" }),
    request(1990, { copy: "101" }),
    request(2100, { copy: "102" }),
  ]);

  test("passes and says so in one line", () => {
    assert.equal(verdict.outcome, "pass");
    assert.equal(verdict.headline, "0 of 24 requests lost, duplicated, truncated or slowed in 1 restart");
    assert.deepEqual([verdict.requests.sent, verdict.requests.good, verdict.requests.bad], [24, 24, 0]);
    assert.deepEqual(verdict.kinds, []);
    assert.deepEqual(verdict.invalid, []);
  });

  test("R5 counts as exposed only what was at the leaving copy", () => {
    assert.deepEqual(verdict.exposure, {
      sent: 2,
      sentBad: 0,
      inFlight: 1,
      inFlightBad: 0,
      unattributed: 0,
    });
    assert.deepEqual(verdict.bounds, {
      perRestart: { bad: 0, of: 1, upper95: 1 },
      perExposed: { bad: 0, of: 2, upper95: 1 },
    });
  });

  test("is plain JSON", () => {
    assert.deepEqual(JSON.parse(JSON.stringify(verdict)), verdict);
  });

  test("tells the restart: signal, exit, removal and replacement", () => {
    const [one] = verdict.restarts;
    assert.deepEqual(
      [one?.copy, one?.signal, one?.signalMs, one?.exitMs, one?.exitCode, one?.removedMs, one?.bad],
      ["A", "SIGTERM", 2000, 2500, 0, 3000, 0],
    );
    assert.deepEqual(one?.replacement, { copy: "A2", startedMs: 2600, readyMs: 3500, addedMs: 3600 });
    // B and A2 were stopped when the load had ended: the end of the run is no restart.
    assert.equal(verdict.restarts.length, 1);
  });
});

describe("counts of the classic table", () => {
  const verdict = judgeRestart([
    routerError(2600, "A"),
    routerError(2700, "A", { method: "POST", path: "/orders" }),
    line(2602, "connect-refused", "A"),
    line(2702, "connect-refused", "A", "POST /orders"),
    failure(2300, "body", "EOF", { status: 200 }),
    request(3000, { ...POST, tookMs: 1600 }),
    request(3000, { tookMs: 1400 }),
  ]);

  test("sent and failed by method, slow by the absolute limit, answers by status", () => {
    assert.deepEqual(verdict.requests.get, { sent: 23, failed: 2 });
    assert.deepEqual(verdict.requests.post, { sent: 2, failed: 1 });
    assert.deepEqual([verdict.latency.slowAbsolute, verdict.latency.slowAbsoluteLimitMs], [1, 1500]);
    assert.deepEqual(verdict.requests.byAnswer, { "200": 21, "201": 1, "502": 2, "body EOF": 1 });
    assert.equal(verdict.store.acknowledged, 1);
    assert.deepEqual(verdict.routerLog, { "connect-refused": 2 });
  });

  test("the slow rule counts from the baseline's p99.9", () => {
    assert.deepEqual([verdict.latency.baselineP999, verdict.latency.slowLimitMs], [50, 1050]);
    // Both are slow by the rule, one by the absolute limit.
    assert.equal(verdict.requests.byHarm.slowed, 2);
  });

  test("the verdict fails and names the kinds, most frequent first", () => {
    assert.equal(verdict.outcome, "fail");
    assert.match(verdict.headline, /^5 of 25 requests went wrong in 1 restart: 2 closed door \(K01\), /);
    assert.deepEqual(verdict.requests.byHarm, {
      truncated: 1,
      lost: 2,
      duplicated: 0,
      unstored: 0,
      masked: 0,
      slowed: 2,
    });
  });
});

describe("slow", () => {
  test("a service whose work is long is not slow by the rule", () => {
    const long = Array.from({ length: 10 }, (_, n) => request(n * 10, { tookMs: 1600 }));
    const verdict = judge([run(), ...restart(), ...long, request(2100, { tookMs: 2500 }), end()]);
    assert.equal(verdict.requests.bad, 0);
    assert.equal(verdict.latency.slowAbsolute, 11);
    assert.equal(verdict.latency.slowLimitMs, 2600);
  });

  test("without a baseline the absolute limit holds", () => {
    const verdict = judge([run(), ...restart(), request(2100, { tookMs: 1501 }), end()]);
    assert.deepEqual([verdict.latency.baselineP999, verdict.latency.slowLimitMs], [null, 1500]);
    assert.equal(verdict.requests.byHarm.slowed, 1);
  });

  test("a stream is as quick as its first byte, and the time of an upload was the client's", () => {
    const verdict = judgeRestart([
      request(2100, { tookMs: 5000, firstByteMs: 2150, events: 40 }),
      request(2100, { ...POST, tookMs: 5000, writtenMs: 7000, uploaded: 8_000_000 }),
      request(2100, { tookMs: 2000, firstByteMs: 4100, events: 1 }),
    ]);
    assert.equal(verdict.requests.byHarm.slowed, 1);
    assert.deepEqual([verdict.latency.max, verdict.latency.slowAbsolute], [2000, 1]);
  });

  test("latency counts from the intended time, also where we were late", () => {
    const verdict = judgeRestart([request(2100, { intendedMs: 600, copy: "102" })]);
    assert.deepEqual([verdict.latency.max, verdict.latency.slowAbsolute], [1550, 1]);
    assert.equal(verdict.requests.byHarm.slowed, 1);
  });
});

describe("the store", () => {
  const good = request(1000, POST);
  const lost = routerError(2600, "A", { method: "POST", path: "/orders" });
  const never = routerError(2650, "A", { method: "POST", path: "/orders" });
  const twice = request(1100, POST);

  test("R4 every 201 has one row: equal", () => {
    const { store } = judgeRestart([good, never, executed(good.id), end({ rows: 1 })]);
    assert.deepEqual(store, {
      checked: true,
      acknowledged: 1,
      rows: 1,
      equal: true,
      unstored: [],
      inDoubt: [],
      duplicated: [],
      foreign: 0,
    });
  });

  test("R4 stored and not acknowledged is in doubt, and named", () => {
    const { store, kinds } = judgeRestart([good, lost, never, executed(good.id), executed(lost.id)]);
    assert.deepEqual([store.equal, store.rows, store.inDoubt], [false, 2, [lost.id]]);
    assert.equal(kinds[0]?.examples.find((one) => one.request.id === lost.id)?.stored, 1);
    assert.equal(kinds[0]?.examples.find((one) => one.request.id === never.id)?.stored, 0);
  });

  test("R4 acknowledged and not stored, and stored twice, are named and bad", () => {
    const { store, requests } = judgeRestart([good, twice, executed(twice.id, "A"), executed(twice.id, "B")]);
    assert.deepEqual(store.unstored, [good.id]);
    assert.deepEqual(store.duplicated, [{ id: twice.id, times: 2 }]);
    assert.deepEqual([requests.byHarm.unstored, requests.byHarm.duplicated], [1, 1]);
    // As many rows as 201s, and yet not equal.
    assert.deepEqual([store.acknowledged, store.rows, store.equal], [2, 2, false]);
  });

  test("nobody looked: nothing is claimed", () => {
    const { store, requests } = judgeRestart([good]);
    assert.deepEqual([store.checked, store.equal, store.unstored, requests.bad], [false, false, [], 0]);
  });

  test("a store that was read and is empty contradicts every 201", () => {
    const { store } = judge([run(), ...restart(), ...baseline(), good, end({ rows: 0 })]);
    assert.deepEqual([store.checked, store.unstored], [true, [good.id]]);
  });

  test("rows of other runs are counted apart", () => {
    const { store } = judgeRestart([good, executed(good.id), executed("r9-000001")]);
    assert.deepEqual([store.foreign, store.rows, store.equal], [1, 1, true]);
  });
});

describe("exposure and bounds", () => {
  test("a lost request counts against its restart and among the exposed", () => {
    const verdict = judgeRestart([
      request(2050, { copy: "101" }),
      routerError(2300, "A"),
      line(2302, "connect-refused", "A"),
      routerError(2700, "A"),
      line(2702, "connect-refused", "A"),
    ]);
    // The second one came after the exit: it was lost, and not exposed.
    assert.deepEqual([verdict.exposure.sent, verdict.exposure.sentBad], [2, 1]);
    assert.equal(verdict.restarts[0]?.bad, 2);
    assert.deepEqual(verdict.bounds.perRestart, { bad: 1, of: 1, upper95: 1 });
    const { bad, of, upper95 } = verdict.bounds.perExposed;
    assert.deepEqual([bad, of], [1, 2]);
    assert.ok((upper95 ?? 0) > 0.97);
  });

  test("answers that say nothing of their copy are counted apart", () => {
    assert.equal(judgeRestart([request(2100, { copy: null })]).exposure.unattributed, 1);
  });

  test("a port that passes from one copy to the next is told apart by time", () => {
    const events = [
      event(0, "started", "A", { pid: 1, port: 9001 }),
      event(2000, "signal", "A", { signal: "SIGTERM" }),
      event(2500, "exited", "A", { code: 0, signal: null }),
      event(2600, "started", "A2", { pid: 2, port: 9001 }),
      event(3000, "ready", "A2"),
      event(6000, "signal", "A2", { signal: "SIGTERM" }),
      event(6500, "exited", "A2", { code: 0, signal: null }),
    ];
    const at = (ms: number): LedgerRecord => request(ms, { upstream: "127.0.0.1:9001" });
    const verdict = judge([run(), ...events, at(1000), at(2100), at(2200), at(4000), at(6100), end()]);
    assert.deepEqual(
      verdict.restarts.map((one) => [one.copy, one.exposure.sent]),
      [
        ["A", 2],
        ["A2", 1],
      ],
    );
  });

  test("what the router drops at its own reload is shown, and the service passes", () => {
    const verdict = judgeRestart([
      event(3000, "reloaded"),
      failure(3001, "wait", "ECONNRESET", { reuse: 4, ageMs: 500 }),
    ]);
    assert.equal(verdict.outcome, "pass");
    assert.deepEqual(verdict.requests.byCharge, { service: 0, router: 1, lab: 0 });
    assert.deepEqual([verdict.kinds[0]?.id, verdict.kinds[0]?.count], ["K31", 1]);
    assert.match(verdict.headline, /charged to the router: 1 dropped by the router's reload \(K31\)$/);
    assert.deepEqual([verdict.bounds.perRestart.bad, verdict.exposure.sentBad], [0, 0]);
  });

  test("a reload excuses neither a new connection nor one that came after it, nor a late one", () => {
    const verdict = judgeRestart([
      event(3000, "reloaded"),
      failure(3001, "wait", "ECONNRESET", { reuse: 0, ageMs: 0 }),
      failure(3100, "wait", "ECONNRESET", { reuse: 1, ageMs: 50 }),
      failure(5500, "wait", "ECONNRESET", { reuse: 9, ageMs: 4000 }),
    ]);
    assert.deepEqual(verdict.requests.byCharge, { service: 3, router: 0, lab: 0 });
  });
});

describe("advice", () => {
  test("the lag is that of the last request for the leaving copy, and the settings have a margin", () => {
    const { advice } = judgeRestart([
      request(2400, { copy: "101" }),
      routerError(2900, "A"),
      line(2902, "connect-refused", "A"),
      request(4000, { tookMs: 400 }),
    ]);
    assert.deepEqual([advice.routerLagMs, advice.longestRequestMs, advice.startMs], [900, 400, 900]);
    assert.deepEqual(advice.settings, {
      drainDelayMs: 1500,
      gracefulTimeoutMs: 750,
      teardownTimeoutMs: 1000,
      gracePeriodMs: 4000,
    });
    assert.match(advice.steps[0] ?? "", /Set a drain delay of 1\.50 s: .* 0\.90 s after its stop signal/);
  });

  test("a drain delay that was told and not kept is named, one that was kept is not", () => {
    const step = (drainDelayMs: number | null, exitMs = 2500): string =>
      judgeRestart(
        [request(2400, { copy: "101" }), routerError(2900, "A"), line(2902, "connect-refused", "A")],
        {
          run: { parameters: { drainDelayMs } },
          exitMs,
        },
      ).advice.steps[0] ?? "";
    assert.match(step(3000), /The 3\.00 s that it was told here .* it was gone 0\.50 s after the signal/);
    assert.match(step(450), /Set a drain delay of 1\.50 s/);
    assert.doesNotMatch(step(450), /told here/);
    assert.doesNotMatch(step(null), /told here/);
  });

  test("a router that asks for readiness and is told 200 to the end has no lag that a drain delay could cover", () => {
    const losses = [
      request(2400, { copy: "101" }),
      routerError(2900, "A"),
      line(2902, "connect-refused", "A"),
    ];
    const asked = (notReady: number | null, removal: string): ReturnType<typeof judgeRestart>["advice"] =>
      judgeRestart(losses, { notReady, run: { parameters: { removal } } }).advice;
    const untold = asked(null, "readiness");
    assert.match(untold.steps[0] ?? "", /^Turn readiness to 503 .* LASTCALL_PROBE_PATHS/);
    assert.deepEqual(
      [untold.routerLagMs, untold.settings.drainDelayMs, untold.settings.gracePeriodMs],
      [null, null, null],
    );
    assert.match(asked(503, "readiness").steps[0] ?? "", /^Set a drain delay/);
    assert.match(asked(null, "control-plane").steps[0] ?? "", /^Set a drain delay/);
  });

  test("what the router's retry masked shows the lag too", () => {
    const verdict = judgeRestart([request(2700, { upstream: "127.0.0.1:9001, 127.0.0.1:9002" })]);
    assert.equal(verdict.advice.routerLagMs, 700);
    assert.equal(verdict.restarts[0]?.bad, 1);
  });

  test("the teardown begins when the drain delay is over and the last request has ended", () => {
    const teardown = (records: readonly LedgerRecord[], drainDelayMs: number | null): number | null =>
      judgeRestart(records, { run: { parameters: { drainDelayMs } } }).advice.teardownMs;
    assert.equal(teardown([request(2300, { copy: "101", tookMs: 100 })], null), 100);
    assert.equal(teardown([request(2300, { copy: "101", tookMs: 100 })], 450), 50);
    assert.equal(teardown([], 0), 500);
  });

  test("a killed copy shows no teardown, and a copy that nobody met no lag", () => {
    const killed = judgeRestart([], { signal: "SIGKILL" });
    assert.equal(killed.advice.teardownMs, null);
    const unseen = judge([run(), ...restart(), request(100, { copy: "102" }), end()]);
    assert.equal(unseen.advice.routerLagMs, null);
    assert.deepEqual(unseen.advice.settings.gracePeriodMs, null);
  });

  test("all is well: no step", () => {
    assert.deepEqual(judgeRestart([]).advice.steps, []);
  });
});

describe("runs that prove nothing", () => {
  const cases: readonly (readonly [string, readonly LedgerRecord[], RegExp])[] = [
    ["cut off", [run(), ...restart(), ...baseline()], /has no end/],
    ["interrupted", [run(), ...restart(), ...baseline(), end({ reason: "interrupted" })], /interrupted/],
    ["failed", [run(), ...restart(), ...baseline(), end({ reason: "failed" })], /failed before its end/],
    ["nothing sent", [run(), ...restart(), end()], /no request was sent/],
    ["no restart", [run(), event(0, "load-started"), ...baseline(), end()], /no copy was told to stop/],
    [
      "our own ports ran out",
      [run(), ...restart(), ...baseline(), failure(1000, "connect", "EADDRNOTAVAIL"), end()],
      /1 requests failed or came late for want of the lab's own/,
    ],
    [
      "a load engine that is late",
      [run(), ...restart(), ...baseline(), request(1000, { intendedMs: 899 }), end()],
      /dispatch lag's p99 was 101 ms \(limit 100 ms\)/,
    ],
  ];
  test("timers of the lab that were late mean services that could not get at a processor", () => {
    const stalled = (stallP95Ms: number, stallMaxMs: number, routerStallMaxMs = 0): readonly string[] =>
      judge([
        run(),
        ...restart().filter((one) => one.event !== "load-ended"),
        event(9000, "load-ended", null, { stallP95Ms, stallMaxMs, routerStallP95Ms: 0, routerStallMaxMs }),
        ...baseline(),
        end(),
      ]).invalid;
    assert.match(stalled(200, 300)[0] ?? "", /too busy for the services: .* 200 ms late .* 300 ms at most/);
    assert.match(stalled(10, 800)[0] ?? "", /too busy/);
    assert.match(stalled(10, 20, 800)[0] ?? "", /too busy .* of the router before them, .* 800 ms at most/);
    assert.deepEqual(stalled(150, 750, 750), []);
  });

  test("a router that let go much later than the plan says had a lag that nobody asked for", () => {
    const late = (propagationMs: number): readonly string[] =>
      judgeRestart([], { run: { parameters: { order: "parallel", propagationMs } } }).invalid;
    // It let go 1000 ms after the signal.
    assert.match(
      late(400)[0] ?? "",
      /dropped by the router 600 ms later than the plan says \(limit 500 ms\)/,
    );
    assert.deepEqual(late(500), []);
    assert.deepEqual(
      judgeRestart([], { run: { parameters: { order: "remove-first", propagationMs: 0 } } }).invalid,
      [],
    );
  });

  for (const [name, records, reason] of cases) {
    test(name, () => {
      const verdict = judge(records);
      assert.equal(verdict.outcome, "invalid");
      assert.match(verdict.invalid.join("\n"), reason);
      assert.match(verdict.headline, /^invalid run: /);
    });
  }

  test("one late request of many is no reason", () => {
    const many = Array.from({ length: 200 }, (_, n) => request(n * 5));
    const verdict = judge([run(), ...restart(), ...many, request(1000, { intendedMs: 500 }), end()]);
    assert.equal(verdict.outcome, "pass");
    assert.deepEqual([verdict.dispatchLag.p99, verdict.dispatchLag.max], [0, 500]);
  });

  test("nothing at all is judged without an exception", () => {
    assert.equal(judge([]).outcome, "invalid");
  });
});

describe("the router's log", () => {
  test("a line serves one request, the nearest in time with the same request line and copy", () => {
    const verdict = judgeRestart([
      routerError(2600, "A"),
      routerError(2300, "A", { tookMs: 201 }),
      line(2501, "upstream-closed", "A"),
      line(2602, "connect-refused", "A"),
      line(2602, "timeout", "B"),
      line(2602, "timeout", "A", "GET /other"),
    ]);
    assert.deepEqual(verdict.kinds.flatMap(({ slug, count }) => (count > 0 ? [slug] : [])).toSorted(), [
      "closed-door",
      "in-flight-cut",
    ]);
  });

  test("a line that has served one request says nothing about the next", () => {
    const verdict = judgeRestart([
      routerError(2300, "A"),
      routerError(2301, "A"),
      line(2302, "connect-refused", "A"),
    ]);
    assert.deepEqual(
      verdict.kinds.map((kind) => kind.slug).toSorted((a, b) => a.localeCompare(b)),
      ["closed-door", "router-error"],
    );
  });

  test("a thousand failures with the same request line are joined one to one", () => {
    const records = Array.from({ length: 1000 }, (_, n) => [
      routerError(2501 + n / 2.1, "A"),
      line(2503 + n / 2.1, "connect-refused", "A"),
    ]).flat();
    const verdict = judgeRestart(records);
    assert.deepEqual(
      verdict.kinds.map((kind) => [kind.slug, kind.count]),
      [["closed-door", 1000]],
    );
  });
});

test("a stream is judged as the records are", async () => {
  const records = [run(), ...restart(), ...baseline(), end()];
  assert.deepEqual(await judgeStream(records), judge(records));
});

test("examples are the first three of a kind", () => {
  const verdict = judgeRestart(
    [2600, 2650, 2700, 2750].flatMap((at) => [routerError(at, "A"), line(at + 2, "connect-refused", "A")]),
  );
  const [kind] = verdict.kinds;
  assert.deepEqual(
    kind?.examples.map((one) => one.request.dispatchedMs),
    [2600, 2650, 2700],
  );
  assert.deepEqual([kind?.firstMs, kind?.lastMs, kind?.copies], [2600, 2750, { A: 4 }]);
  assert.deepEqual(kind?.restarts, [0]);
  assert.equal(kind?.examples[0]?.sinceSignalMs, 600);
});
