import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDuration } from "../src/duration.ts";

test("a duration needs its unit, but for 0", () => {
  assert.deepEqual(
    ["500ms", "2.5s", "1m", "0", "0.0", "1.5h"].map(parseDuration),
    [500, 2500, 60_000, 0, 0, 5_400_000],
  );
  for (const text of ["5", "", "s", "-1s", "1 s", "1d", "1e3s", "0x1s", " 1s"]) {
    assert.equal(parseDuration(text), null, text);
  }
});

test("a duration is printed in a form that is read back as the same", () => {
  for (const ms of [0, 1, 250, 999, 1000, 1005, 2500, 60_000, 61_000, 90_500, 123_456]) {
    assert.equal(parseDuration(formatDuration(ms)), ms, formatDuration(ms));
  }
  assert.equal(formatDuration(2500), "2.5s");
});
