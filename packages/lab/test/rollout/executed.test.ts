import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { executedOffset, idsIn, jobsDone, readExecuted } from "../../src/rollout/executed.ts";
import type { RolloutPlan } from "../../src/scenario/plan.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import { request } from "../verdict/ledger.ts";
import { makeFolder } from "../folder.ts";

test("ids are read a line each, bare or as JSON; a torn last line counts as nothing", () => {
  assert.deepEqual(idsIn('r1-1\n\n{"id":"r1-2","at":5}\n{"id":3}\n{"x":1}\n{torn\nr1-4'), [
    "r1-1",
    "r1-2",
    "3",
  ]);
  assert.deepEqual(idsIn(""), []);
});

const stranger = (executed: string | undefined): RolloutPlan => {
  const [plan] = planRollout({ command: ["x"], post: "/p", ...(executed === undefined ? {} : { executed }) });
  assert.ok(plan !== undefined);
  return plan;
};

test("only what a service appends during the run belongs to the run, duplicates included", async () => {
  const folder = makeFolder("executed");
  const file = path.join(folder, "done.txt");
  writeFileSync(file, "old-1\nold-2\n");
  const plan = stranger("done.txt");
  const offset = await executedOffset(plan, folder);
  writeFileSync(file, "new-1\nnew-2\nnew-1\n", { flag: "a" });
  const { rows } = await readExecuted(plan, folder, folder, offset, ["A"]);
  assert.deepEqual(
    rows?.map((row) => row.id),
    ["new-1", "new-2", "new-1"],
  );
});

test("without a file nobody can tell, which is not the same as none; a file that never came holds none", async () => {
  const folder = makeFolder("executed");
  assert.equal((await readExecuted(stranger(undefined), folder, folder, 0, ["A"])).rows, null);
  const plan = stranger("never-written.txt");
  assert.equal(await executedOffset(plan, folder), 0);
  assert.deepEqual((await readExecuted(plan, folder, folder, 0, ["A"])).rows, []);
});

test("jobs that were accepted are waited for as long as any is being done, and nothing else is", async () => {
  const accepted = ["a", "b", "c"].map((id) => request(1, { id, method: "POST", status: 202 }));
  let waits = 0;
  const sleep = async (): Promise<void> => void (waits += 1);
  const steps = [["a"], ["a"], ["a", "b"], ["a", "b", "c"]];
  await jobsDone(accepted, async () => steps.shift() ?? [], sleep);
  assert.equal(waits, 3);
  waits = 0;
  await jobsDone(accepted, async () => ["a"], sleep);
  assert.equal(waits, 17);
  waits = 0;
  await jobsDone([request(1, { method: "POST", status: 201 })], async () => [], sleep);
  assert.equal(waits, 0);
});
