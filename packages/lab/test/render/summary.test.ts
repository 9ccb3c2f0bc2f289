import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { summaryOf } from "../../src/render/summary.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");
const recorded = (name: string): string =>
  readFileSync(path.join(ROOT, "packages/lab/test/render/recorded", name), "utf8");

test("a recorded rolling restart that lost requests is summed up with its kinds and what to change", () => {
  assert.equal(summaryOf(recorded("rollout-stop.json")), recorded("rollout-stop.md"));
});

test("a recorded one that lost nothing says with which bound", () => {
  const summary = summaryOf(recorded("rollout-drain.json"));
  assert.match(summary, /^### ✅ lastcall rollout: 0 of \d+ requests lost/);
  assert.match(summary, /None in 2 restarts proves little/);
});

test("a recorded proof shows what is broken first, and all clauses on demand", () => {
  const summary = summaryOf(recorded("prove-naive.json"));
  assert.match(summary, /^### ❌ lastcall prove: \d+ kept, [1-9]\d* broken/);
  assert.match(summary, /\| clause \| what it promises \| seen \| what to do \|/);
  assert.match(summary, /<details><summary>\d+ clauses<\/summary>/);
});

test("text from a service cannot become Markdown", () => {
  const document = {
    schema: "lastcall.lab/1",
    experiment: "x",
    shows: false,
    line: "a|b <img>\n# c",
    checks: [],
  };
  assert.match(summaryOf(JSON.stringify(document)), /^a\\\|b \\<img\\> # c$/m);
});

test("what is no document of ours is refused by name", () => {
  for (const [text, words] of [
    ["", /no JSON/],
    ['{"schema":"other/1"}', /"other\/1"/],
    ["{}", /null/],
  ] as const) {
    assert.throws(
      () => summaryOf(text),
      (error) => error instanceof LabError && words.test(error.message),
    );
  }
});
