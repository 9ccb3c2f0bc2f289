import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describeBudget, lingerOf, planBudget } from "../src/budget.ts";
import { detectPlatform, platformOf } from "../src/platform.ts";
import { FakeHost } from "../src/testing.ts";

const kubernetes = detectPlatform({ KUBERNETES_SERVICE_HOST: "10.0.0.1" }, () => false);
const nowhere = detectPlatform({}, () => false);

test("C6 under Kubernetes the 30 s are split into 7.5 s delay, 15 s graceful timeout, 7 s teardown, 0.5 s reserve", () => {
  const { budget } = planBudget({}, kubernetes);
  assert.deepEqual(
    [
      budget.gracePeriodMs,
      budget.drainDelayMs,
      budget.gracefulTimeoutMs,
      budget.teardownTimeoutMs,
      budget.reserveMs,
    ],
    [30_000, 7500, 15_000, 7000, 500],
  );
});

test("C6 without a known router there is no drain delay, and three quarters go to the work", () => {
  const { budget } = planBudget({}, nowhere);
  assert.deepEqual(
    [budget.gracePeriodMs, budget.drainDelayMs, budget.gracefulTimeoutMs, budget.teardownTimeoutMs],
    [10_000, 0, 7500, 2000],
  );
});

test("C6 parts that are set and do not fit are refused with the sum spelled out", () => {
  assert.throws(
    () => planBudget({ drainDelayMs: 20_000, gracefulTimeoutMs: 10_000 }, kubernetes),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, "LASTCALL_BUDGET");
      assert.match(
        error.message,
        /drainDelayMs 20 s \+ gracefulTimeoutMs 10 s = 30 s, which must be less than the grace period of 30 s \(default of Kubernetes\)/,
      );
      return true;
    },
  );
});

test("C6 one part that is longer than the grace period is named without a sum", () => {
  assert.throws(
    () => planBudget({ drainDelayMs: 60_000 }, nowhere),
    /^LastcallError: drainDelayMs 60 s, which must be less than/,
  );
});

test("C6 derived parts shrink until everything fits", () => {
  const { budget, sources } = planBudget({ drainDelayMs: 25_000 }, kubernetes);
  assert.equal(budget.drainDelayMs, 25_000);
  assert.ok(
    budget.drainDelayMs + budget.gracefulTimeoutMs + budget.teardownTimeoutMs + budget.reserveMs <= 30_000,
  );
  assert.ok(budget.gracefulTimeoutMs > budget.teardownTimeoutMs);
  assert.match(sources.gracefulTimeoutMs, /shrunk to fit/);
});

test("C6 whatever is set either fits into the grace period or is refused", () => {
  const part = fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined });
  const anyOptions = fc.record({
    gracePeriodMs: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined }),
    drainDelayMs: part,
    gracefulTimeoutMs: part,
    teardownTimeoutMs: part,
    settleMs: part,
  });
  fc.assert(
    fc.property(anyOptions, fc.boolean(), (options, router) => {
      const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      let planned;
      try {
        planned = planBudget(given, router ? kubernetes : nowhere);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "LASTCALL_BUDGET");
        return;
      }
      const { budget } = planned;
      const sum =
        budget.drainDelayMs +
        budget.gracefulTimeoutMs +
        budget.teardownTimeoutMs +
        budget.settleMs +
        budget.reserveMs;
      assert.ok(sum <= budget.gracePeriodMs, `${sum} > ${budget.gracePeriodMs}`);
      for (const value of Object.values(budget)) {
        assert.ok(value >= 0);
      }
      for (const [name, value] of Object.entries(given)) {
        assert.equal(budget[name as keyof typeof budget], value);
      }
    }),
  );
});

test("an abort window longer than the graceful timeout is refused", () => {
  assert.throws(() => planBudget({ gracefulTimeoutMs: 100, abortWindowMs: 250 }, nowhere), {
    code: "LASTCALL_BUDGET",
  });
});

test("the start-up line names each part with its source", () => {
  const { budget, sources } = planBudget({ drainDelayMs: 5000 }, kubernetes);
  assert.equal(
    describeBudget(budget, sources),
    "grace period 30 s (default of Kubernetes) >= drain delay 5 s (set) + graceful timeout 15 s (50 % of the grace period) + teardown 7 s (25 % less the reserve) + reserve 500 ms",
  );
});

test("each platform grants what it documents", () => {
  const grants = (env: Record<string, string>, files: readonly string[] = []): unknown => {
    const platform = detectPlatform(env, (path) => files.includes(path));
    return [platform.name, platform.gracePeriodMs, platform.router];
  };
  assert.deepEqual(grants({ K_SERVICE: "a", K_REVISION: "b" }), ["Cloud Run", 10_000, true]);
  assert.deepEqual(grants({ pm_id: "0" }), ["pm2", 1600, false]);
  assert.deepEqual(grants({}, ["/.dockerenv"]), ["a container", 10_000, false]);
  assert.deepEqual(grants({}), ["no known platform", 10_000, false]);
});

test("the grace period is what systemd tells of the unit, and the line says so", () => {
  const told = (timeoutStop: string | null): unknown => {
    const host = new FakeHost({ facts: { systemdUnit: () => ({ name: "app.service", timeoutStop }) } });
    const { budget, sources } = planBudget({}, platformOf(host));
    return [budget.gracePeriodMs, sources.gracePeriodMs];
  };
  assert.deepEqual(told("1min 30s"), [90_000, "TimeoutStopSec of app.service"]);
  assert.deepEqual(told("500ms"), [500, "TimeoutStopSec of app.service"]);
  assert.deepEqual(told("infinity"), [
    90_000,
    "systemd's default; TimeoutStopSec of app.service is infinity",
  ]);
  for (const unreadable of [null, "", "soon", "0"]) {
    assert.deepEqual(told(unreadable), [
      10_000,
      "default; systemd did not tell TimeoutStopSec of app.service",
    ]);
  }
});

test("A5 a copy that has been replaced lingers longer, unless a length was set", () => {
  const { budget } = planBudget({}, nowhere);
  assert.deepEqual([lingerOf(budget, {}, false), lingerOf(budget, {}, true)], [250, 1875]);
  const set = planBudget({ lingerMs: 100 }, nowhere);
  assert.equal(lingerOf(set.budget, { lingerMs: 100 }, true), 100);
});
