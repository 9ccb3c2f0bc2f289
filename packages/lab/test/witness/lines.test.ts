import assert from "node:assert/strict";
import { test } from "node:test";
import { isWatched, readWitness } from "../../src/witness/lines.ts";

const LINES = [
  '{"on":"watch","pid":7,"t":900}',
  '{"on":"arrival","n":1,"id":"r1-000001","method":"POST","pid":7,"t":1000}',
  '{"on":"arrival","n":1,"id":"r1-000002","method":"GET","pid":8,"t":1001}',
  '{"on":"answer","n":1,"status":201,"body":true,"pid":7,"t":1050}',
  '{"on":"arrival","n":2,"id":"r1-000003","method":"GET","pid":7,"t":1060}',
  '{"on":"cut","n":2,"status":0,"body":true,"by":"peer","pid":7,"t":1070}',
  '{"on":"answ',
];

test("arrivals and answers of a copy's processes are joined, each with its own count", () => {
  const records = readWitness(LINES.join("\n"), "A", 500);
  assert.deepEqual(records[0], {
    kind: "witness",
    id: "r1-000001",
    copy: "A",
    by: "import",
    method: "POST",
    arrivedMs: 500,
    bodyMs: 550,
    answeredMs: 550,
    status: 201,
    closedFirst: null,
  });
  // It died without a word: only its arrival was seen.
  assert.deepEqual(
    [records[1]?.id, records[1]?.answeredMs, records[1]?.closedFirst],
    ["r1-000002", null, null],
  );
  assert.deepEqual(
    [records[2]?.id, records[2]?.answeredMs, records[2]?.closedFirst],
    ["r1-000003", null, "peer"],
  );
});

test("whether a copy has loaded the witness is told by its first line", () => {
  assert.equal(isWatched(LINES.join("\n")), true);
  assert.equal(isWatched(""), false);
  assert.equal(isWatched("npm warn something\n"), false);
});
