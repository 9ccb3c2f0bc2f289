/** The folders of `fixtures/lint`: what is found is exactly what is expected. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { lint } from "../../src/lint/run.ts";
import { lineOf } from "../../src/lint/source.ts";

const FIXTURES = path.resolve(import.meta.dirname, "../../../../../fixtures/lint");

interface Expected {
  readonly rule: string;
  readonly severity: string;
  readonly file: string;
  readonly line: number;
}

function inOrder(list: readonly Expected[]): readonly Expected[] {
  return list.toSorted((left, right) =>
    `${left.file} ${left.rule} ${left.line}`.localeCompare(`${right.file} ${right.rule} ${right.line}`),
  );
}

for (const folder of readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  test(`fixtures/lint/${folder.name} gives exactly the expected findings`, () => {
    const cwd = path.join(FIXTURES, folder.name);
    const expected = JSON.parse(readFileSync(path.join(cwd, "expected.json"), "utf8")) as Expected[];
    const found = lint({ cwd, paths: ["."] }).findings.map(({ rule, severity, at }) => ({
      rule,
      severity,
      file: at.source.path,
      line: lineOf(at),
    }));
    assert.deepEqual(inOrder(found), inOrder(expected));
  });
}
