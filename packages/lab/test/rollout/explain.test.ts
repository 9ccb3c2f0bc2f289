import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { baselineAnswers } from "../../src/rollout/baseline.ts";
import { controlsFor } from "../../src/rollout/controls.ts";
import { FACTORS, factorsFor, trialOf } from "../../src/rollout/explain.ts";
import type { RolloutPlan } from "../../src/scenario/plan.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import type { RolloutOptions } from "../../src/scenario/rollout-options.ts";
import { blindness, trialInWords, withReruns, type Control } from "../../src/verdict/reruns.ts";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { end, judge, judgeRestart, line, request, restart, routerError, run } from "../verdict/ledger.ts";

function planOf(options: RolloutOptions = { command: ["x"], post: "/orders", get: "/work" }): RolloutPlan {
  const [plan] = planRollout(options);
  assert.ok(plan !== undefined);
  return plan;
}

function factor(name: string): (typeof FACTORS)[number] {
  const found = FACTORS.find((one) => one.name === name);
  assert.ok(found !== undefined);
  return found;
}

function closedDoors(count: number): Verdict {
  return judgeRestart(
    Array.from({ length: count }, (_, n) => [
      routerError(2600 + n * 20, "A"),
      line(2602 + n * 20, "connect-refused", "A"),
    ]).flat(),
  );
}

const clean = judgeRestart([]);

describe("one factor at a time", () => {
  test("a run in which nothing went wrong is not repeated", () => {
    assert.deepEqual(factorsFor(planOf(), clean), []);
  });

  test("each rerun differs from the run in one thing, and is judged strictly", () => {
    const plan = planOf({ command: ["x"], get: "/", post: "/", "upstream-keepalive": true, router: "nginx" });
    const runs = factorsFor(plan, closedDoors(5));
    assert.deepEqual(
      runs.map((one) => one.factor.name),
      ["router-first", "get-only", "no-keep-alive", "no-reload"],
    );
    for (const { plan: changed } of runs) {
      const keys = (Object.keys(plan) as (keyof RolloutPlan)[]).filter((key) => changed[key] !== plan[key]);
      assert.equal(keys.filter((key) => key !== "expectation").length, 1, keys.join(" "));
      assert.equal(changed.expectation, null);
    }
  });

  test("of a mix the POSTs are left out, and a router that cannot be replaced is not", () => {
    const mix = JSON.stringify({ mix: [{ path: "/a" }, { path: "/b", method: "POST" }] });
    const [plan] = planRollout(
      { command: ["x"], load: "mix.json", router: "caddy", removal: "readiness", "max-fails": "1" },
      () => mix,
    );
    assert.ok(plan !== undefined);
    const runs = factorsFor(plan, closedDoors(5));
    assert.deepEqual(
      runs.map((one) => one.factor.name),
      ["router-first", "get-only"],
    );
    assert.deepEqual(
      runs[1]?.plan.load.mix?.map(({ path }) => path),
      ["/a"],
    );
  });

  test("what cannot be changed is not asked", () => {
    const plan = planOf({ command: ["x"], order: "remove-first", router: "embedded" });
    assert.deepEqual(factorsFor(plan, closedDoors(5)), []);
  });

  test("the grace period, the warm-up and one copy more are asked where they could prove something", () => {
    const killed = judgeRestart(
      [routerError(2300, "A", { tookMs: 201 }), line(2501, "upstream-closed", "A")],
      { killedMs: 2499 },
    );
    const cold = judgeRestart([request(3650, { copy: "103", tookMs: 2000 })]);
    const few = judgeRestart([request(3200, { copy: "102", status: 503 })]);
    const names = (verdict: Verdict): readonly string[] =>
      factorsFor(planOf(), verdict).map((one) => one.factor.name);
    assert.ok(names(killed).includes("longer-grace"));
    assert.ok(names(cold).includes("warm-up"));
    assert.ok(names(few).includes("one-more-copy"));
    assert.ok(!names(closedDoors(3)).includes("warm-up"));
  });

  test("what vanishes is said with its numbers, and proven where the factor is the question", () => {
    const before = closedDoors(5);
    const trial = trialOf(factor("router-first"), before, clean, "runs/x");
    assert.match(trialInWords(trial), /^the failures vanish with a drain delay .* \(5 before, 0 after\)$/);
    assert.deepEqual(trial.proves, ["closed-door"]);
    assert.equal(withReruns(before, [trial], []).kinds[0]?.confidence, "proven");
  });

  test("an accident proves nothing: too few to be absent by more than luck, or a factor that is no cure", () => {
    const few = trialOf(factor("router-first"), closedDoors(2), clean, "runs/x");
    assert.deepEqual([few.vanished, few.proves], [["closed-door"], []]);
    const other = trialOf(factor("get-only"), closedDoors(9), clean, "runs/x");
    assert.deepEqual(other.proves, []);
    assert.equal(withReruns(closedDoors(2), [few], []).kinds[0]?.confidence, "certain");
  });

  test("what stays, and a rerun that is invalid, are said so", () => {
    const stays = trialOf(factor("get-only"), closedDoors(5), closedDoors(4), "runs/x");
    assert.match(trialInWords(stays), /^no kind vanishes with GET requests only \(5 before, 4 after\)$/);
    const invalid = trialOf(
      factor("get-only"),
      closedDoors(5),
      judge([run(), ...restart(), request(100), end({ reason: "failed" })]),
      "x",
    );
    assert.match(trialInWords(invalid), /the run was invalid and says nothing/);
    assert.deepEqual(invalid.vanished, []);
  });
});

describe("the baseline", () => {
  test("waits until requests of each method have ended, and not for a rate that sends too few", async () => {
    const plan = planOf();
    const records: LedgerRecord[] = [];
    let looks = 0;
    const sleep = async (): Promise<void> => {
      looks += 1;
      records.push(request(looks), request(looks, { method: "POST" }));
    };
    await baselineAnswers(plan, new Set(["GET", "POST"]), records, sleep);
    assert.equal(looks, 3);
    await baselineAnswers({ ...plan, ratePerSecond: 1 }, new Set(["GET"]), [], sleep);
    assert.equal(looks, 3);
    let waits = 0;
    await baselineAnswers(plan, new Set(["PUT"]), records, async () => void (waits += 1));
    assert.equal(waits, 200);
  });
});

describe("controls", () => {
  const seen = (bad: number, outcome: Verdict["outcome"] = "fail"): Control => ({
    name: "hard-kill",
    words: "SIGKILL instead of the stop signal",
    outcome,
    bad,
    sent: 300,
    folder: "runs/x",
  });

  test("a hard kill, and no delay: told late, once, judged strictly", () => {
    const [kill, none] = controlsFor(planOf({ order: "remove-first", propagation: "200ms" }), clean);
    assert.deepEqual(
      [kill?.plan.signal, kill?.plan.order, kill?.plan.repeat, kill?.plan.propagationMs],
      ["SIGKILL", "parallel", 1, 1000],
    );
    assert.deepEqual(
      [none?.plan.signal, none?.plan.drainDelayMs, none?.plan.expectation],
      ["SIGTERM", 0, null],
    );
  });

  test("a service that takes no delay from us is outlasted by the router's lag", () => {
    const [, none] = controlsFor(planOf({ command: ["x"] }), clean);
    // It left 500 ms after its signal; the lag is 1 s.
    assert.equal(none?.plan.propagationMs, 1500);
  });

  test("a control without a loss makes the verdict invalid, whatever it was, and says why", () => {
    assert.equal(blindness([seen(4), seen(9)]), null);
    const blind = withReruns(clean, [], [seen(4), seen(0, "pass")]);
    assert.equal(blind.outcome, "invalid");
    assert.match(blind.headline, /the lab is blind: the control with SIGKILL .* showed none in 300 requests/);
    assert.match(blindness([seen(0, "invalid")]) ?? "", /was invalid/);
    const seeing = withReruns(clean, [], [seen(4)]);
    assert.deepEqual([seeing.outcome, seeing.headline], [clean.outcome, clean.headline]);
  });
});
