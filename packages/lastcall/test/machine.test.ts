import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diagram, isReady, MACHINE, transition, type LifeEvent, type State } from "../src/machine.ts";

const EVENTS = Object.keys(MACHINE.starting) as LifeEvent[];
const ORDER: readonly State[] = ["starting", "serving", "lame-duck", "draining", "teardown", "stopped"];

test("A1 whatever happens, the state only moves forward, so a service that was not ready any more never is again", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
      let state: State = "starting";
      for (const event of events) {
        const next: State = transition(state, event).to;
        assert.ok(ORDER.indexOf(next) >= ORDER.indexOf(state), `${state} --${event}--> ${next}`);
        state = next;
      }
    }),
  );
});

test("D4 on every way to the end, teardown and the record are begun exactly once", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
      let state: State = "starting";
      const effects: string[] = [];
      for (const event of [...events, "stop", "delay-over", "deadline", "torn-down"] as LifeEvent[]) {
        const step = transition(state, event);
        effects.push(...step.effects);
        state = step.to;
      }
      assert.equal(state, "stopped");
      for (const once of ["begin", "tear-down", "finish"]) {
        assert.equal(effects.filter((effect) => effect === once).length, 1, once);
      }
      assert.ok(effects.indexOf("begin") < effects.indexOf("tear-down"));
      assert.ok(effects.indexOf("tear-down") < effects.indexOf("finish"));
    }),
  );
});

test("A7 any second signal ends the drain delay; in draining only SIGINT forces", () => {
  assert.equal(transition("lame-duck", "hurry").to, "draining");
  assert.equal(transition("lame-duck", "force").to, "draining");
  assert.deepEqual(transition("draining", "hurry"), { to: "draining", effects: [] });
  assert.deepEqual(transition("draining", "force"), {
    to: "teardown",
    effects: ["mark-forced", "cut", "tear-down"],
  });
});

test("readiness is 200 in serving alone, or until the gate where the service keeps it", () => {
  assert.deepEqual(
    ORDER.filter((state) => isReady(state, "fail")),
    ["serving"],
  );
  assert.deepEqual(
    ORDER.filter((state) => isReady(state, "keep")),
    ["serving", "lame-duck"],
  );
});

test("C1 a deadline in lame duck cuts as one in draining does", () => {
  const cut = { to: "teardown", effects: ["cut", "tear-down"] };
  assert.deepEqual(transition("lame-duck", "deadline"), cut);
  assert.deepEqual(transition("draining", "deadline"), cut);
});

test("the diagram shows every cell that changes the state, and no other", () => {
  assert.deepEqual(diagram().split("\n"), [
    "stateDiagram-v2",
    "  [*] --> starting",
    "  starting --> serving: ready",
    "  starting --> draining: stop",
    "  starting --> teardown: empty-loop",
    "  serving --> lame_duck: stop",
    "  serving --> teardown: empty-loop",
    "  lame_duck --> draining: hurry, force, delay-over",
    "  lame_duck --> teardown: deadline, crash",
    "  draining --> teardown: force, drained, deadline, crash",
    "  teardown --> stopped: torn-down",
    "  stopped --> [*]",
  ]);
});
