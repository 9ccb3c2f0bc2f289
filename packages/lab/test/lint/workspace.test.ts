import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openWorkspace } from "../../src/lint/workspace.ts";
import { makeFolder } from "../folder.ts";

function folderWith(files: readonly string[]): string {
  const folder = makeFolder("workspace");
  for (const file of files) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), "FROM scratch\n");
  }
  return folder;
}

const read = (folder: string, paths: readonly string[], ignore: readonly string[]): readonly string[] =>
  openWorkspace(folder, paths, ignore).files.map(({ source }) => source.path);

test("what the configuration ignores is left out of a walk", () => {
  const folder = folderWith(["Dockerfile", "fixtures/a/Dockerfile"]);
  assert.deepEqual(read(folder, ["."], ["fixtures"]), ["Dockerfile"]);
});

test("a path that is named on the command line is read although the configuration ignores it", () => {
  const folder = folderWith(["Dockerfile", "fixtures/a/Dockerfile"]);
  assert.deepEqual(read(folder, ["fixtures/a"], ["fixtures"]), ["fixtures/a/Dockerfile"]);
  assert.deepEqual(read(folder, ["fixtures/a/Dockerfile"], ["fixtures"]), ["fixtures/a/Dockerfile"]);
});
