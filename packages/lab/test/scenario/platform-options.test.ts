import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import type { RolloutPlan } from "../../src/scenario/plan.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import type { RolloutOptions } from "../../src/scenario/rollout-options.ts";

function planned(options: RolloutOptions): RolloutPlan {
  const plans = planRollout(options);
  assert.equal(plans.length, 1);
  return plans[0]!;
}

function refused(options: RolloutOptions): string {
  try {
    planRollout(options);
  } catch (error) {
    assert.ok(error instanceof LabError);
    assert.equal(error.code, "LAB_OPTION");
    return `${error.message} ${error.next}`;
  }
  return assert.fail("it was taken");
}

test("--platform compose without a command runs a compose file, judged strictly and with its own delay", () => {
  const plan = planned({ platform: "compose", get: "/items" });
  assert.deepEqual(plan.service, { kind: "compose", file: "compose.yaml", name: null, containerPort: null });
  assert.deepEqual(
    [plan.scenario, plan.expectation, plan.drainDelayMs, plan.attempts],
    ["stop", null, null, 1],
  );
  const more = planned({
    platform: "compose",
    "compose-file": "a.yaml",
    service: "web",
    "container-port": "80",
  });
  assert.deepEqual(more.service, { kind: "compose", file: "a.yaml", name: "web", containerPort: 80 });
});

test("with a command Compose lends its words alone", () => {
  const plan = planned({ platform: "compose", command: ["node", "app.js"] });
  assert.equal(plan.service.kind, "command");
  assert.equal(plan.platform, "compose");
});

test("--platform swarm follows a service behind a router, with Compose's words", () => {
  const plan = planned({
    platform: "swarm",
    service: "web",
    url: "http://127.0.0.1:8080",
    engines: "a,b",
    "drain-node": "n2",
  });
  assert.ok(plan.service.kind === "swarm");
  const { name, url, engines, drainNode } = plan.service;
  assert.deepEqual([name, url.host, engines, drainNode], ["web", "127.0.0.1:8080", ["a", "b"], "n2"]);
  assert.equal(plan.platform, "compose");
});

test("what a platform says itself, and flags that belong to the other one, are refused by name", () => {
  const swarm = { platform: "swarm", service: "web", url: "http://127.0.0.1:1" } as const;
  assert.match(refused({ platform: "compose", grace: "5s" }), /--grace and --platform compose exclude/);
  assert.match(refused({ platform: "compose", scenario: "drain" }), /--scenario and --platform compose/);
  assert.match(refused({ platform: "compose", explain: true }), /--explain and --platform compose/);
  assert.match(refused({ platform: "compose", witness: "shim" }), /--witness shim[\s\S]*--executed FILE/);
  assert.match(refused({ ...swarm, command: ["x"] }), /A command after -- and --platform swarm/);
  assert.match(refused({ ...swarm, router: "nginx" }), /--router and --platform swarm/);
  assert.match(refused({ ...swarm, "compose-file": "a" }), /--compose-file belongs to --platform compose/);
  assert.match(
    refused({ platform: "compose", url: "http://127.0.0.1:1" }),
    /--url belongs to --platform swarm/,
  );
  assert.match(
    refused({ service: "web", command: ["x"] }),
    /--service belongs to --platform compose or swarm/,
  );
  assert.match(refused({ platform: "swarm", url: "http://127.0.0.1:1" }), /needs the name of a service/);
  assert.match(refused({ platform: "swarm", service: "web" }), /needs the address of the router/);
  assert.match(refused({ ...swarm, url: "https://x/" }), /no address of a router/);
  assert.match(refused({ platform: "nomad" }), /--platform knows no 'nomad'[\s\S]*swarm/);
});
