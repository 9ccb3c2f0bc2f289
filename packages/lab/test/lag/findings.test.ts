import assert from "node:assert/strict";
import { test } from "node:test";
import { findingsOf, lossOf, type LagRun } from "../../src/lag/findings.ts";
import { renderLag } from "../../src/render/lag.ts";
import { PLAIN } from "../../src/render/style.ts";
import type { Look } from "../../src/lag/look.ts";

function look(sentMs: number, parts: Partial<Look> = {}): Look {
  return {
    dueMs: sentMs,
    sentMs,
    endedMs: sentMs + 5,
    status: 200,
    error: null,
    connectMs: 1,
    instance: null,
    ...parts,
  };
}

/** Ten a second for ten seconds, A and B in turn. */
function steady(change: (ms: number) => Partial<Look> | null): readonly Look[] {
  return Array.from({ length: 100 }, (_, n) => {
    const ms = n * 100;
    return look(ms, { instance: n % 2 === 0 ? "A" : "B", ...change(ms) });
  });
}

const run = (parts: Partial<LagRun>): LagRun => ({
  looks: [],
  marks: [],
  ratePerSecond: 10,
  heldBack: 0,
  endMs: 10_000,
  ...parts,
});

test("each loss has its kind, and what is no loss has none", () => {
  const kinds = [
    look(0),
    look(0, { status: 404 }),
    look(0, { status: 502 }),
    look(0, { status: 502, endedMs: 400 }),
    look(0, { status: 503 }),
    look(0, { status: 504 }),
    look(0, { status: 500 }),
    look(0, { status: null, error: "ECONNREFUSED", connectMs: null }),
    look(0, { status: null, error: "ENOTFOUND", connectMs: null }),
    look(0, { status: null, error: "ECONNRESET" }),
    look(0, { status: 200, error: "EOF" }),
    look(0, { status: null, error: "TIMEOUT" }),
  ].map(lossOf);
  assert.deepEqual(kinds, [
    null,
    null,
    "bad-gateway-at-once",
    "bad-gateway-late",
    "unavailable",
    "gateway-timeout",
    "server-error",
    "refused",
    "no-connection",
    "cut",
    "truncated",
    "timeout",
  ]);
});

test("after a mark the lag ends with the last loss", () => {
  const looks = steady((ms) =>
    ms >= 2100 && ms <= 3100 && ms % 200 === 100 ? { status: 502, instance: null } : null,
  );
  const found = findingsOf(run({ looks, marks: [{ atMs: 2000, what: "Enter" }] }));
  assert.equal(found.lost, 6);
  assert.deepEqual([found.lagIs, found.lagMs], ["measured", 1100]);
  assert.equal(found.resolutionMs, 200);
  // (1100 + 200) x 1.25 + 250, to the next quarter of a second.
  assert.equal(found.drainDelayMs, 2000);
});

test("a drain that loses nothing still shows the lag, by the last answer of the instance that left", () => {
  const looks = steady((ms) => (ms > 2900 && (ms / 100) % 2 === 1 ? { instance: "C" } : null));
  const found = findingsOf(run({ looks, marks: [{ atMs: 2000, what: "Enter" }] }));
  assert.deepEqual([found.lost, found.lagIs, found.lagMs], [0, "measured", 900]);
  assert.equal(found.marks[0]?.sign, "its last answer");
});

test("without a mark the lag is at least the window of losses", () => {
  const looks = steady((ms) => (ms >= 2000 && ms <= 2900 && (ms / 100) % 2 === 0 ? { status: 502 } : null));
  const found = findingsOf(run({ looks }));
  assert.deepEqual([found.lagIs, found.lagMs, found.restartSeen], ["at least", 800, true]);
});

test("where nobody listens for a while there is no router, and no drain delay that would help", () => {
  const refused = { status: null, error: "ECONNREFUSED", connectMs: null, instance: null };
  const gone = steady((ms) => (ms >= 2100 && ms <= 3100 ? refused : null));
  const found = findingsOf(run({ looks: gone, marks: [{ atMs: 2000, what: "the restart" }] }));
  assert.deepEqual([found.nobodyListened, found.drainDelayMs], [true, null]);
  const text = renderLag(found, "http://x/", 10_000, PLAIN);
  assert.match(text, /router's lag +none: nobody listened for 1\.00 s/);
  assert.doesNotMatch(text, /would set|the router still sent/);
  // Behind a balancer of layer 4 the other instance answers meanwhile.
  const every = steady((ms) => (ms >= 2100 && ms <= 3100 && (ms / 100) % 2 === 0 ? refused : null));
  const behind = findingsOf(run({ looks: every, marks: [{ atMs: 2000, what: "the restart" }] }));
  assert.deepEqual([behind.nobodyListened, behind.lagMs], [false, 1000]);
});

test("two restarts are two windows", () => {
  const looks = steady((ms) =>
    (ms >= 1000 && ms < 1500) || (ms >= 7000 && ms < 7300) ? { status: 502 } : null,
  );
  const found = findingsOf(run({ looks }));
  assert.deepEqual(
    found.windows.map(({ count }) => count),
    [5, 3],
  );
});

test("a loop in which nothing changed says that it saw no restart", () => {
  const found = findingsOf(run({ looks: steady(() => null) }));
  assert.deepEqual([found.restartSeen, found.lagIs, found.drainDelayMs], [false, "unknown", null]);
});

test("an answer a second later than usual is slow, and no loss", () => {
  const looks = steady((ms) => (ms === 5000 ? { endedMs: 6200 } : null));
  const found = findingsOf(run({ looks, marks: [{ atMs: 4000, what: "Enter" }] }));
  assert.deepEqual([found.lost, found.slow], [0, 1]);
});
