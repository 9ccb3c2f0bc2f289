import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../src/duration.ts";
import { readOptions, unknownVariables } from "../src/options.ts";

test("the environment wins over the options, durations there are written with a unit", () => {
  const read = readOptions(
    { drainDelayMs: 1, admission: "close" },
    { LASTCALL_DRAIN_DELAY: "2.5s", LASTCALL_ADMISSION: "respond", LASTCALL_SIGNALS: "SIGTERM, SIGUSR2" },
  );
  assert.deepEqual(read, { drainDelayMs: 2500, admission: "respond", signals: ["SIGTERM", "SIGUSR2"] });
});

test("a duration is read in ms, s, m and h, and a bare number is refused unless it is 0", () => {
  assert.deepEqual(
    ["0", "250ms", "5s", "1.5s", "2m", "1h"].map((text) => parseDuration(text, "X")),
    [0, 250, 5000, 1500, 120_000, 3_600_000],
  );
  for (const text of ["5", "", "s", "-1s", "5 apples", "1e3s"]) {
    assert.throws(() => parseDuration(text, "LASTCALL_LINGER"), { code: "LASTCALL_ENVIRONMENT" }, text);
  }
});

test("each option out of its range is refused with the value seen and the range", () => {
  const wrong: readonly [object, RegExp][] = [
    [{ drainDelayMs: -1 }, /drainDelayMs is -1, but must be a number of milliseconds from 0/],
    [{ gracePeriodMs: 0 }, /gracePeriodMs is 0/],
    [{ gracefulTimeoutMs: Number.NaN }, /gracefulTimeoutMs/],
    [{ lingerMs: 2 ** 31 }, /lingerMs/],
    [
      { leaveOrder: "first" },
      /leaveOrder is "first", but must be one of auto, announce-first, listener-first/,
    ],
    [{ signals: [] }, /signals/],
    [{ signals: ["SIGKILL"] }, /signals/],
    [{ adminPort: 65_536 }, /adminPort/],
    [{ recordFile: "" }, /recordFile/],
    [{ probePaths: { ready: "ready" } }, /probePaths/],
    [{ probePaths: { health: "/health" } }, /no probe 'health'/],
    [{ drainDelay: 5 }, /no option 'drainDelay'/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(
      () => readOptions(options, {}),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, "LASTCALL_OPTION");
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test("a LASTCALL_ variable that nothing reads is named", () => {
  assert.deepEqual(unknownVariables({ LASTCALL_DRAIN_DELY: "5s", LASTCALL_DRAIN_DELAY: "5s", PATH: "/" }), [
    "LASTCALL_DRAIN_DELY",
  ]);
});
