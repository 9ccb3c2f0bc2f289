import assert from "node:assert/strict";
import { test } from "node:test";
import { restart } from "../../src/rollout/restart.ts";
import type { Rotation } from "../../src/rollout/rotation.ts";
import { openScope } from "../../src/rollout/scope.ts";
import type { Copy } from "../../src/target/copy.ts";

/** What happened, in order. The copy ends when it is told to by `exit`. */
function stage(): { story: string[]; exit: () => void; copy: Copy; next: Copy; rotation: Rotation } {
  const story: string[] = [];
  let exit = (): void => undefined;
  const exited = new Promise<void>((resolve) => {
    exit = resolve;
  });
  const copy = {
    name: "A",
    port: 1,
    stop: async (signal: string) => {
      story.push(`${signal} A`);
      await exited;
      story.push("A has ended");
      return { code: 0, signal: null, atMs: 0 };
    },
  } as unknown as Copy;
  return {
    story,
    exit: () => exit(),
    copy,
    next: { name: "A2", port: 2 } as unknown as Copy,
    rotation: {
      add: async (upstream) => void story.push(`${upstream.copy} in`),
      remove: async (name) => void story.push(`${name} out`),
      forget: async (name) => void story.push(`${name} forgotten`),
    },
  };
}

const PLAN = {
  propagationMs: 200,
  signal: "SIGTERM",
  gracePeriodMs: 1000,
  warmUpMs: 0,
  router: { removal: "control-plane" },
} as const;

test("parallel: the signal comes first and the router follows after its lag, whatever the copy does", async () => {
  const { story, exit, copy, next, rotation } = stage();
  const scope = openScope(new AbortController().signal);
  const removed = { ...rotation, remove: async (name: string) => rotation.remove(name).then(exit) };
  const done = restart({ ...PLAN, order: "parallel" }, copy, async () => next, removed, scope);
  assert.deepEqual(story, ["SIGTERM A"]);
  assert.equal(await done, next);
  assert.deepEqual(story, ["SIGTERM A", "A out", "A has ended", "A2 in"]);
});

test("parallel: a copy that ends before the router knows is replaced at once, and removed at its time", async () => {
  const { story, exit, copy, next, rotation } = stage();
  const scope = openScope(new AbortController().signal);
  exit();
  await restart({ ...PLAN, order: "parallel" }, copy, async () => next, rotation, scope);
  assert.deepEqual(story, ["SIGTERM A", "A has ended", "A2 in", "A out"]);
});

test("remove-first: the router has dropped the copy before the signal is sent", async () => {
  const { story, exit, copy, next, rotation } = stage();
  const scope = openScope(new AbortController().signal);
  exit();
  await restart({ ...PLAN, order: "remove-first" }, copy, async () => next, rotation, scope);
  assert.deepEqual(story, ["A out", "SIGTERM A", "A has ended", "A2 in"]);
});

test("a replacement that fails is the restart's failure", async () => {
  const { exit, copy, rotation } = stage();
  const scope = openScope(new AbortController().signal);
  exit();
  await assert.rejects(
    restart(
      { ...PLAN, order: "parallel" },
      copy,
      () => Promise.reject(new Error("A2 died")),
      rotation,
      scope,
    ),
    /A2 died/,
  );
});

test("a router that asks for readiness is told nothing, and forgets the copy when its replacement is in", async () => {
  const { story, exit, copy, next, rotation } = stage();
  const scope = openScope(new AbortController().signal);
  exit();
  const plan = { ...PLAN, order: "parallel", router: { removal: "readiness" } } as const;
  await restart(plan, copy, async () => next, rotation, scope);
  assert.deepEqual(story, ["SIGTERM A", "A has ended", "A2 in", "A forgotten"]);
});
