/** Durations as each platform writes them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  goDuration,
  haproxyDuration,
  nginxDuration,
  seconds,
  sleepDuration,
  systemdDuration,
} from "../../src/lint/time.ts";

test("a bare number is seconds for systemd, nginx and sleep, milliseconds for HAProxy, and nothing for Go", () => {
  assert.deepEqual(
    [
      systemdDuration("30"),
      nginxDuration("30"),
      sleepDuration("30"),
      haproxyDuration("30"),
      goDuration("30"),
    ],
    [30_000, 30_000, 30_000, 30, undefined],
  );
});

test("units add up where the grammar lets them", () => {
  assert.equal(systemdDuration("1min 30s"), 90_000);
  assert.equal(systemdDuration("1.5 min"), 90_000);
  assert.equal(goDuration("1m30s"), 90_000);
  assert.equal(goDuration("1.5s"), 1500);
  assert.equal(nginxDuration("1m 5s"), 65_000);
  assert.equal(haproxyDuration("1m"), 60_000);
});

test("infinity is systemd's and sleep's own word", () => {
  assert.deepEqual(
    [
      systemdDuration("infinity"),
      sleepDuration("infinity"),
      goDuration("infinity"),
      seconds(Number.POSITIVE_INFINITY),
    ],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, undefined, "no limit"],
  );
});

test("what is not a duration is not one", () => {
  for (const text of ["", " ", "-5s", "5x", "s", "5s5", "1e3s", "5 s s"]) {
    assert.equal(goDuration(text), undefined, text);
  }
});
