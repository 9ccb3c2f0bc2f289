import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { logPieces } from "../../src/router/log-pieces.ts";
import { makeFolder } from "../folder.ts";

test("a log comes in pieces of whole lines, but for the one that is still being written; one that is not there is empty", async () => {
  const file = path.join(makeFolder("log"), "access.log");
  const lines = Array.from(
    { length: 100_000 },
    (_, n) => `line ${n} of a log that is larger than one piece of it`,
  );
  writeFileSync(file, `${lines.join("\n")}\nnot whole`);
  const pieces: string[] = [];
  for await (const piece of logPieces(file)) {
    assert.ok(piece.endsWith("\n"));
    pieces.push(piece);
  }
  assert.ok(pieces.length > 2, String(pieces.length));
  assert.deepEqual(pieces.join("").trimEnd().split("\n"), lines);
  for await (const piece of logPieces(`${file}.gone`)) {
    assert.fail(piece);
  }
});
