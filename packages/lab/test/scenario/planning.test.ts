import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import type { RolloutPlan } from "../../src/scenario/plan.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import type { RolloutOptions } from "../../src/scenario/rollout-options.ts";
import { SCENARIO_NAMES } from "../../src/scenario/scenarios.ts";

const one = (options: RolloutOptions): RolloutPlan => {
  const [plan, ...others] = planRollout(options);
  assert.ok(plan !== undefined && others.length === 0);
  return plan;
};

test("without any option the drain row is run on the orders service, and must show that nothing fails", () => {
  const plan = one({});
  assert.equal(plan.scenario, "drain");
  assert.deepEqual(plan.service, { kind: "orders", build: "lastcall" });
  assert.equal(plan.drainDelayMs, 2500);
  assert.equal(plan.propagationMs, 1000);
  assert.equal(plan.router.name, "auto");
  assert.deepEqual(plan.expectation, { kind: "none" });
});

test("--all runs the six rows in their order, each with its own build, signal and retries", () => {
  const plans = planRollout({ all: true });
  assert.deepEqual(
    plans.map((plan) => plan.scenario),
    SCENARIO_NAMES,
  );
  assert.deepEqual(
    plans.map((plan) => [plan.signal, plan.router.retries, plan.drainDelayMs]),
    [
      ["SIGKILL", true, 0],
      ["SIGKILL", false, 0],
      ["SIGTERM", true, 0],
      ["SIGTERM", false, 0],
      ["SIGTERM", false, 500],
      ["SIGTERM", false, 2500],
    ],
  );
  assert.ok(plans.every((plan) => plan.expectation !== null));
});

test("a stranger's command is judged strictly and meets only the rows that say something about it", () => {
  const plans = planRollout({ all: true, command: ["node", "app.js"] });
  assert.deepEqual(
    plans.map((plan) => plan.scenario),
    ["stop-retries", "stop", "drain"],
  );
  assert.ok(plans.every((plan) => plan.expectation === null));
  assert.deepEqual(
    plans.map((plan) => plan.drainDelayMs),
    [null, null, 2500],
    "only the drain row tells it a delay",
  );
});

test("a run that is invalid on a busy machine is run again for the classic rows, and for a command on request", () => {
  assert.deepEqual(
    [one({}), one({ command: ["x"] }), one({ command: ["x"], attempts: "2" })].map((plan) => plan.attempts),
    [3, 1, 2],
  );
});

test("a row whose subject is changed by a flag is judged strictly", () => {
  for (const options of [
    { build: "naive" },
    { "client-keepalive": true },
    { order: "remove-first" },
    { propagation: "2s" },
    { "drain-delay": "3s" },
    { retries: true },
  ]) {
    assert.equal(one(options).expectation, null, JSON.stringify(options));
  }
  for (const options of [{ rate: "50" }, { repeat: "3" }, { build: "lastcall" }, { "drain-delay": "2.5s" }]) {
    assert.deepEqual(one(options).expectation, { kind: "none" }, JSON.stringify(options));
  }
});

test("a stranger without routes gets GET / and no POST; with a POST alone only that", () => {
  assert.deepEqual(one({ command: ["x"] }).routes, {
    ready: "/ready",
    live: null,
    get: "/",
    post: null,
    postBody: null,
  });
  assert.deepEqual(one({ command: ["x"], post: "/things/{id}" }).routes, {
    ready: "/ready",
    live: null,
    get: null,
    post: "/things/{id}",
    postBody: '{"id":"{id}"}',
  });
});

const REFUSED: readonly (readonly [RolloutOptions, RegExp])[] = [
  [{ scenario: "drian" }, /'drian'.*Did you mean drain\?/],
  [{ scenario: "drain", all: true }, /exclude each other/],
  [{ router: "ngnix" }, /Did you mean nginx\?/],
  [{ order: "removefirst" }, /Did you mean remove-first\?/],
  [{ rate: "0" }, /--rate 0 is out of range.*0\.1 to 2000/],
  [{ rate: "fast" }, /'fast' is no number/],
  [{ copies: "0" }, /--copies 0 is out of range.*2 to 16/],
  [{ copies: "1" }, /2 to 16/],
  [{ copies: "2.5" }, /no whole number/],
  [{ repeat: "-1" }, /--repeat -1 is out of range/],
  [{ seed: "x" }, /--seed 'x'/],
  [{ propagation: "5" }, /'5' is no duration.*unit/],
  [{ propagation: "2m" }, /out of range.*0 to 1m/],
  [{ grace: "10ms" }, /--grace 10ms is out of range/],
  [{ "ready-timeout": "1ms" }, /--ready-timeout 1ms is out of range/],
  [{ "drain-delay": "30s" }, /does not fit a grace period of 30s/],
  [{ "drain-delay": "3s", grace: "2s" }, /does not fit/],
  [{ build: "lastcal" }, /Did you mean lastcall\?/],
  [{ build: "naive", command: ["node"] }, /--build chooses a build of the orders service/],
  [{ command: [] }, /no command after --/],
  [{ ready: "/up" }, /--ready belongs to a service of yours/],
  [{ executed: "x.txt" }, /--executed belongs to a service of yours/],
  [{ command: ["x"], get: "things" }, /'things' is no path/],
  [{ command: ["x"], get: "/a b" }, /white space/],
  [{ command: ["x"], "post-body": "{}" }, /--post-body has no --post/],
  [{ command: ["x"], executed: "f" }, /--executed has no --post/],
];
for (const [options, words] of REFUSED) {
  test(`refused with what was seen and what to do: ${JSON.stringify(options)}`, () => {
    assert.throws(
      () => planRollout(options),
      (error) => {
        assert.ok(error instanceof LabError);
        assert.equal(error.code, "LAB_OPTION");
        assert.match(`${error.message} ${error.next}`, words);
        return true;
      },
    );
  });
}

test("the router's flags are one record of behaviour, and contradictions among them are refused", () => {
  const plain = one({});
  assert.deepEqual(
    [plain.router.removal, plain.router.pooledAtRemoval, plain.router.passive, plain.witness],
    ["control-plane", "closed-when-idle", null, "none"],
  );
  const asked = one({
    router: "haproxy",
    removal: "readiness",
    "health-interval": "200ms",
    "health-fall": "3",
    "max-fails": "2",
    "fail-timeout": "4s",
  });
  assert.deepEqual(asked.router.health, { path: "/ready", intervalMs: 200, fall: 3, rise: null });
  assert.deepEqual(asked.router.passive, { maxFails: 2, failTimeoutMs: 4000 });
  assert.equal(asked.propagationMs, 600, "the lag that its checks make at the least");
  assert.equal(asked.expectation, null);
  for (const [options, words] of [
    [{ removal: "readiness", propagation: "1s" }, /--propagation .* has none/],
    [{ removal: "readiness", order: "remove-first" }, /remove-first/],
    [{ "health-fall": "2" }, /--health-fall belongs to a router that asks for readiness/],
    [{ "fail-timeout": "2s" }, /--fail-timeout has no --max-fails/],
    [{ "retry-posts": true }, /--retry-posts goes beyond --retries/],
    [{ removal: "magic" }, /--removal knows no 'magic'/],
    [{ "pooled-at-removal": "pined" }, /--pooled-at-removal knows no 'pined'/],
    [{ router: "envoy" }, /--router knows no 'envoy'/],
  ] as const) {
    assert.throws(() => planRollout(options), words, JSON.stringify(options));
  }
});

test("a witness is code in the copy, a shim in front of it, or the service's own file", () => {
  const stranger = { command: ["x"], post: "/orders" };
  assert.equal(one({ witness: "shim" }).witness, "shim");
  assert.equal(one({ witness: "import" }).witness, "import");
  const file = one({ ...stranger, witness: "./done.txt" });
  assert.deepEqual([file.witness, file.executedFile], ["none", "./done.txt"]);
  for (const [options, words] of [
    [{ witness: "shimm" }, /--witness knows no 'shimm'/],
    [{ witness: "./done.txt" }, /--witness FILE has no --post/],
    [{ ...stranger, witness: "./done.txt", executed: "x" }, /both name a file/],
  ] as const) {
    assert.throws(() => planRollout(options), words, JSON.stringify(options));
  }
});

test("load that is not the rows' own is judged strictly, and a file of it is read by whoever can", () => {
  const mix = JSON.stringify({ mix: [{ path: "/work" }] });
  const [plan] = planRollout({ load: "mix.json", arrivals: "poisson" }, () => mix);
  assert.equal(plan?.expectation, null);
  assert.equal(plan.load.mix?.length, 1);
  assert.throws(() => planRollout({ load: "mix.json" }), /--load mix\.json cannot be read/);
});
