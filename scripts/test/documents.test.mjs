// The documents name every error code, and no code that does not exist.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

test("docs/errors.md has one heading for each error code of the library and of the lab", async () => {
  const { ERROR_CODES } = await import(path.join(root, "packages/lastcall/dist/src/errors.js"));
  const { LAB_CODES } = await import(path.join(root, "packages/lab/dist/src/errors.js"));
  const page = readFileSync(path.join(root, "docs/errors.md"), "utf8");
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  assert.deepEqual(
    headings.toSorted(),
    [...ERROR_CODES, ...Object.keys(LAB_CODES)].toSorted((a, b) => (a < b ? -1 : 1)),
  );
});
