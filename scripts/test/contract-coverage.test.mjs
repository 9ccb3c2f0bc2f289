// The contract, its checks and its tests are one list: nothing is promised without a test, and no contract test is about nothing.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const page = readFileSync(path.join(root, "docs/contract.md"), "utf8");
const contract = page.slice(0, page.indexOf("## Not yet"));
const notYetSection = page.slice(page.indexOf("## Not yet"));

/** The ids of the table rows. */
const clauses = [...contract.matchAll(/^\| ([A-G]\d+) \|/gm)].map((match) => match[1]);
/** The clauses of R are the verdict's over many services, not one service's: they have tests and no check. */
const verdicts = [...contract.matchAll(/^\| (R\d+) \|/gm)].map((match) => match[1]);
const notYet = [...notYetSection.matchAll(/^- ([A-G]\d+):/gm)].map((match) => match[1]);

const folder = path.join(root, "packages/lab/test/contract");
/** Tests of the machinery, not of a clause. */
const MACHINERY = new Set(["answer.test.ts", "header-block.test.ts", "wire.test.ts"]);
const titles = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts") && !MACHINERY.has(name))
  .flatMap((name) => {
    const source = readFileSync(path.join(folder, name), "utf8");
    return [...source.matchAll(/\btest\(\s*"([^"]*)"/g)].map((match) => ({ name, title: match[1] }));
  });
const tested = new Set(titles.map(({ title }) => title.split(" ", 1)[0]));

test("the page names every clause once", () => {
  assert.ok(clauses.length >= 54, `${clauses.length} clauses were found`);
  assert.equal(new Set(clauses).size, clauses.length);
});

test("every clause has a check and a test, or a line under Not yet, and not both", () => {
  const checked = (id) => existsSync(path.join(root, `packages/lab/src/contract/${id.toLowerCase()}.ts`));
  const wanting = clauses.filter((id) => !notYet.includes(id) && !(checked(id) && tested.has(id)));
  assert.deepEqual(wanting, [], "without a check and a test, and not under Not yet");
  const done = notYet.filter((id) => checked(id) || tested.has(id));
  assert.deepEqual(done, [], "under Not yet although there is a check or a test");
  assert.deepEqual(
    notYet.filter((id) => !clauses.includes(id)),
    [],
    "under Not yet and no clause",
  );
});

test("every contract test begins with the number of a clause", () => {
  assert.ok(titles.length > 0);
  const idle = titles.filter(({ title }) => !clauses.includes(title.split(" ", 1)[0]));
  assert.deepEqual(idle, []);
});

test("every clause about a rolling restart is cited by a test of the lab", () => {
  assert.ok(verdicts.length >= 5, `${verdicts.length} clauses were found`);
  const lab = path.join(root, "packages/lab/test");
  const cited = readdirSync(lab, { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .flatMap((name) => [...readFileSync(path.join(lab, name), "utf8").matchAll(/\btest\(\s*"(R\d+) /g)])
    .map((match) => match[1]);
  assert.deepEqual(
    verdicts.filter((id) => !cited.includes(id)),
    [],
  );
});
