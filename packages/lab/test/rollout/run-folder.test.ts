import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { runFolders } from "../../src/rollout/run-folder.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import { makeFolder } from "../folder.ts";

const cwd = (): string => makeFolder("folder");
const code = (error: unknown): boolean => error instanceof LabError && error.code === "LAB_RUN_FOLDER";

test("without --out each row gets a folder of its own, also when two labs start at once", () => {
  const at = cwd();
  const folders = [
    ...runFolders(planRollout({ all: true }), undefined, at),
    ...runFolders(planRollout({}), undefined, at),
  ];
  assert.equal(new Set(folders).size, 7);
  for (const folder of folders) {
    assert.match(folder, /^\.lastcall\/runs\/\d{8}T\d{6}-[a-z-]+(\.\d+)?$/);
    assert.ok(existsSync(path.join(at, folder)));
  }
  assert.equal(readFileSync(path.join(at, ".lastcall/.gitignore"), "utf8"), "*\n");
});

test("with --out one row gets the folder, and several get one each below it", () => {
  const at = cwd();
  assert.deepEqual(runFolders(planRollout({}), "x/y", at), ["x/y"]);
  assert.deepEqual(runFolders(planRollout({ all: true }), "z", at).slice(0, 2), ["z/kill-retries", "z/kill"]);
  assert.ok(existsSync(path.join(at, "z/drain")));
});

test("a folder that holds a run is never written over, and one that cannot be made is named", () => {
  const at = cwd();
  runFolders(planRollout({}), "x", at);
  writeFileSync(path.join(at, "x/ledger.ndjson"), "");
  assert.throws(() => runFolders(planRollout({}), "x", at), code);
  assert.throws(() => runFolders(planRollout({}), "x/ledger.ndjson/y", at), code);
  writeFileSync(path.join(at, ".lastcall"), "");
  assert.throws(() => runFolders(planRollout({}), undefined, at), code);
});
