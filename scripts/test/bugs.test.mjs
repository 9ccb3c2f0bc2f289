// Planted bugs must follow the sources: whoever moves a text that one of them replaces moves the bug as well.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { BUGS } from "../../bugs/index.mjs";
import { plant } from "../../bugs/plant.mjs";

const root = new URL("../../", import.meta.url);

test("every planted bug applies to the sources, has its own name, and names tests that exist", () => {
  const wrong = [];
  for (const { name, file, find, replace, tests } of BUGS) {
    const at = new URL(file, root);
    if (!existsSync(at) || plant(readFileSync(at, "utf8"), find, replace) === null) {
      wrong.push(`${name}: ${file} does not have its text exactly once; see bugs/`);
    }
    for (const one of tests) {
      const [owner, ...rest] = one.split("#")[0].split("/");
      const source = `packages/${owner}/test/${rest.join("/")}.test.ts`;
      if (!existsSync(new URL(source, root))) {
        wrong.push(`${name}: there is no ${source}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.equal(new Set(BUGS.map(({ name }) => name)).size, BUGS.length, "two bugs have one name");
});

test("a text is found whatever its spaces and line breaks, and refused when it is there twice or not at all", () => {
  assert.equal(plant("a(\n  b,  c);", "b, c", "d"), "a(\n  d);");
  assert.equal(plant("if (x) {\n  y();\n}", "if (x) { y(); }", "z();"), "z();");
  assert.equal(plant("b, c; b, c", "b, c", "d"), null);
  assert.equal(plant("b", "c", "d"), null);
});
