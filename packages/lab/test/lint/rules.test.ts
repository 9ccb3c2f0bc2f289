/** Every rule fires on one fixture and is silent on another; rules, pages and fixtures are the same list. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { lint } from "../../src/lint/run.ts";
import { RULES } from "../../src/lint/rules/all.ts";
import { where } from "../../src/lint/source.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");
const FIXTURES = path.join(ROOT, "packages/lab/test/lint/fixtures");
const PAGES = path.join(ROOT, "docs/rules");

/** Rules whose finding needs more than a folder: what to give on the command line. */
const PATHS: Readonly<Record<string, readonly string[]>> = { "file/not-recognised": ["notes.txt"] };

function found(cwd: string, paths: readonly string[] = ["."]): readonly string[] {
  return lint({ cwd, paths }).findings.map(
    ({ rule, severity, at, message }) => `${rule} ${severity} ${where(at)} ${message}`,
  );
}

for (const { id } of RULES.filter((rule) => rule.id !== "file/too-large")) {
  test(`${id} fires`, () => {
    const all = found(path.join(FIXTURES, id, "fires"), PATHS[id]);
    assert.ok(
      all.some((line) => line.startsWith(`${id} `)),
      `not found among:\n${all.join("\n")}`,
    );
  });

  test(`${id} stays silent, and so does every other rule above a note`, () => {
    const all = found(path.join(FIXTURES, id, "stays-silent"));
    assert.deepEqual(
      all.filter((line) => line.startsWith(`${id} `) || !line.includes(" info ")),
      [],
    );
  });
}

test("file/too-large fires for a file over 5 MB, and for nothing smaller", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "lastcall-large-"));
  try {
    writeFileSync(path.join(cwd, "large.yaml"), "kind: x # ".padEnd(5_100_000, "x"));
    writeFileSync(path.join(cwd, "small.yaml"), "kind: x # ".padEnd(100_000, "x"));
    assert.deepEqual(
      found(cwd).map((line) => line.split(" ").slice(0, 3).join(" ")),
      ["file/too-large warning large.yaml:1"],
    );
  } finally {
    rmSync(cwd, { recursive: true });
  }
});

function foldersBelow(root: string): readonly string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((area) => area.isDirectory())
    .flatMap((area) =>
      readdirSync(path.join(root, area.name)).map((name) => `${area.name}/${name.replace(/\.md$/, "")}`),
    );
}

test("rules, pages and fixtures are the same list", () => {
  const ids = RULES.map(({ id }) => id).toSorted();
  assert.deepEqual(new Set(ids).size, ids.length);
  assert.ok(ids.length >= 60);
  assert.deepEqual(foldersBelow(FIXTURES).toSorted(), ids);
  assert.deepEqual(foldersBelow(PAGES).toSorted(), ids);
  for (const id of ids) {
    assert.ok(
      existsSync(path.join(FIXTURES, id, "fires")) && existsSync(path.join(FIXTURES, id, "stays-silent")),
      id,
    );
  }
});

test("every page has the same sections and names its severity", () => {
  for (const { id, severity, summary } of RULES) {
    const page = readFileSync(path.join(PAGES, `${id}.md`), "utf8");
    assert.deepEqual(
      page.split("\n").filter((line) => line.startsWith("## ")),
      ["## Why", "## Fix", "## When to ignore", "## Known false alarms", "## Sources"],
      id,
    );
    assert.ok(page.startsWith(`# ${id}\n\n**${severity}**: ${summary}\n`), `${id} begins otherwise`);
  }
});
