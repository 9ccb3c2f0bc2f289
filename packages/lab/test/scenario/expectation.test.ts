import assert from "node:assert/strict";
import { test } from "node:test";
import { gapOf, missed, type RowCounts } from "../../src/scenario/expectation.ts";
import { SCENARIOS, type ScenarioName } from "../../src/scenario/scenarios.ts";

const FACTS = { ratePerSecond: 20, propagationMs: 1000, repeat: 1 };
const CLEAN: RowCounts = {
  getFailed: 0,
  postFailed: 0,
  slow: 0,
  acknowledged: 90,
  rows: 90,
  inDoubt: 0,
  refused: 0,
  notRefused: 0,
};
const judged = (name: ScenarioName, counts: Partial<RowCounts>, facts = FACTS): string | null =>
  missed(SCENARIOS[name].expectation, { ...CLEAN, ...counts }, facts);

test("the gap is what arrives for a copy that is gone and still listed", () => {
  assert.equal(gapOf(FACTS), 20);
  assert.equal(gapOf({ ratePerSecond: 50, propagationMs: 500, repeat: 3 }), 75);
});

test("kill-retries shows that a POST fails and no GET does, and that acknowledged is stored", () => {
  assert.equal(judged("kill-retries", { postFailed: 1, notRefused: 1 }), null);
  assert.match(judged("kill-retries", {}) ?? "", /no POST failed/);
  assert.match(judged("kill-retries", { postFailed: 3, getFailed: 1 }) ?? "", /1 GETs failed/);
  assert.match(judged("kill-retries", { postFailed: 3, rows: 91 }) ?? "", /90 acknowledged, 91 rows/);
});

test("a kill may leave a row that nobody heard of, a stop signal may not; a lost row never passes", () => {
  assert.equal(judged("kill-retries", { postFailed: 2, rows: 91, inDoubt: 1 }), null);
  assert.equal(judged("kill", { getFailed: 9, postFailed: 9, rows: 91, inDoubt: 1 }), null);
  assert.match(judged("kill", { getFailed: 9, postFailed: 9, rows: 89 }) ?? "", /90 acknowledged, 89 rows/);
  assert.match(judged("drain", { rows: 91, inDoubt: 1 }) ?? "", /90 acknowledged, 91 rows/);
});

test("R2 kill shows at least five of both", () => {
  assert.equal(judged("kill", { getFailed: 5, postFailed: 5 }), null);
  assert.match(judged("kill", { getFailed: 4, postFailed: 20 }) ?? "", /fewer than 5 of each/);
  assert.match(judged("kill", { getFailed: 20, postFailed: 4 }) ?? "", /fewer than 5 of each/);
});

test("stop-retries shows at most one failure", () => {
  assert.equal(judged("stop-retries", { getFailed: 1 }), null);
  assert.match(judged("stop-retries", { getFailed: 2 }) ?? "", /2 failed/);
});

test("R2 stop shows 10 to 30 failures, all of them refused", () => {
  assert.equal(judged("stop", { getFailed: 5, postFailed: 5, refused: 10 }), null);
  assert.equal(judged("stop", { getFailed: 15, postFailed: 15, refused: 30 }), null);
  assert.match(judged("stop", { getFailed: 9 }) ?? "", /10 to 30 expected/);
  assert.match(judged("stop", { getFailed: 31 }) ?? "", /10 to 30 expected/);
  assert.match(judged("stop", { getFailed: 20, refused: 19, notRefused: 1 }) ?? "", /not refused/);
});

test("drain-short shows some failures and fewer than the whole gap", () => {
  assert.equal(judged("drain-short", { getFailed: 10 }), null);
  assert.match(judged("drain-short", {}) ?? "", /0 failed/);
  assert.match(judged("drain-short", { getFailed: 20 }) ?? "", /20 failed/);
});

test("drain shows none failed and none slow", () => {
  assert.equal(judged("drain", {}), null);
  assert.equal(judged("drain", { rows: null }), null);
  assert.match(judged("drain", { postFailed: 1 }) ?? "", /1 failed/);
  assert.match(judged("drain", { slow: 1 }) ?? "", /1 slow/);
  assert.match(judged("drain", { rows: 89 }) ?? "", /90 acknowledged, 89 rows/);
});

test("the bounds follow the rate and the number of restarts", () => {
  const thrice = { ...FACTS, repeat: 3 };
  assert.equal(judged("stop", { getFailed: 60, refused: 60 }, thrice), null);
  assert.match(judged("stop", { getFailed: 20, refused: 20 }, thrice) ?? "", /30 to 90 expected/);
  assert.equal(judged("stop-retries", { getFailed: 3 }, thrice), null);
});
