// What the witness saw, joined with what the clients got.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LedgerRecord, WitnessRecord } from "../../src/ledger/records.ts";
import { end, failure, judgeRestart, request, witness } from "./ledger.ts";

const POST = { method: "POST", path: "/orders", status: 201 } as const;
const seen = (
  id: string,
  copy: string,
  atMs: number,
  change: Partial<WitnessRecord> = {},
): WitnessRecord => ({
  ...witness(id, copy, atMs),
  ...change,
});

test("without a witness nothing is said of what arrived; one who saw nothing says so", () => {
  assert.equal(judgeRestart([failure(2300, "wait", "EOF")]).witness, null);
  assert.deepEqual(judgeRestart([failure(2300, "wait", "EOF"), end({ arrivals: 0 })]).witness, {
    arrivals: 0,
    lostBeforeWork: 1,
    lostDuringWork: 0,
    lostAfterWork: 0,
    begunTwice: 0,
    executedTwice: [],
  });
});

test("lost requests are told apart by how far a service had come with them", () => {
  const unanswered = { answeredMs: null, status: null } as const;
  const records: LedgerRecord[] = [
    failure(2300, "wait", "EOF", { id: "r1-9101" }),
    failure(2310, "wait", "EOF", { id: "r1-9102" }),
    seen("r1-9102", "A", 2311, { ...unanswered, bodyMs: null, refused: true, closedFirst: "service" }),
    failure(2320, "wait", "EOF", { id: "r1-9103", tookMs: 100 }),
    seen("r1-9103", "A", 2321, unanswered),
    failure(2330, "body", "EOF", { id: "r1-9104", status: 200, tookMs: 100 }),
    seen("r1-9104", "A", 2331),
    // An answer that says no is no work that was done.
    request(2340, { id: "r1-9105", status: 500, copy: "A" }),
    seen("r1-9105", "A", 2341, { status: 500 }),
    request(2350, { id: "r1-9106" }),
    seen("r1-9106", "B", 2351),
  ];
  assert.deepEqual(judgeRestart(records).witness, {
    arrivals: 5,
    lostBeforeWork: 2,
    lostDuringWork: 2,
    lostAfterWork: 1,
    begunTwice: 0,
    executedTwice: [],
  });
});

test("a POST that was answered well twice was executed twice, and a GET may be", () => {
  const records: LedgerRecord[] = [
    request(2300, { ...POST, id: "r1-9201" }),
    seen("r1-9201", "A", 2301),
    seen("r1-9201", "B", 2310),
    request(2300, { id: "r1-9202" }),
    seen("r1-9202", "A", 2301),
    seen("r1-9202", "B", 2310),
  ];
  const verdict = judgeRestart(records);
  assert.deepEqual(verdict.witness?.executedTwice, ["r1-9201"]);
  assert.equal(verdict.witness.begunTwice, 2);
  assert.deepEqual([verdict.requests.byHarm.duplicated, verdict.requests.bad], [1, 1]);
});
