import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LedgerRecord, RequestRecord } from "../../src/ledger/records.ts";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { end, event, executed, judge, line, request, restart, run } from "./ledger.ts";

const atMs = fc.integer({ min: 0, max: 8000 });
const copies = fc.constantFrom(null, "101", "102", "103", "A", "B", "A2", "somebody");
const upstreams = fc.constantFrom(
  null,
  "127.0.0.1:9001",
  "127.0.0.1:9002",
  "127.0.0.1:9001, 127.0.0.1:9002",
  "127.0.0.1:9001|502|-|0.001",
  "127.0.0.1:9001|504|0.000|2.000",
  "nonsense",
);

/** Any fate, at any time, of any copy: more than could ever happen in one run. */
const requests: fc.Arbitrary<RequestRecord> = fc
  .record(
    {
      at: atMs,
      tookMs: fc.constantFrom(0, 2, 50, 300, 1600, 4000),
      lateMs: fc.constantFrom(0, 0, 0, 20, 1200),
      status: fc.constantFrom(200, 201, 204, 302, 404, 499, 500, 502, 503, 504),
      failure: fc.constantFrom(
        null,
        null,
        ["connect", "ECONNREFUSED"] as const,
        ["connect", "EADDRNOTAVAIL"] as const,
        ["write", "EPIPE"] as const,
        ["wait", "EOF"] as const,
        ["wait", "ECONNRESET"] as const,
        ["wait", "TIMEOUT"] as const,
        ["wait", "PARSE"] as const,
        ["body", "EOF"] as const,
      ),
      post: fc.boolean(),
      reuse: fc.integer({ min: 0, max: 3 }),
      copy: copies,
      upstream: upstreams,
    },
    { noNullPrototype: true },
  )
  .map(({ at, tookMs, lateMs, status, failure, post, reuse, copy, upstream }) =>
    request(at, {
      tookMs,
      intendedMs: at - lateMs,
      method: post ? "POST" : "GET",
      path: post ? "/orders" : "/work",
      reuse,
      ageMs: reuse * 500,
      copy,
      upstream,
      ...(failure === null
        ? { status }
        : {
            fate: "failed" as const,
            stage: failure[0],
            error: failure[1],
            status: failure[0] === "body" ? 200 : null,
          }),
    }),
  );

const others: fc.Arbitrary<LedgerRecord> = fc.oneof(
  fc
    .tuple(
      atMs,
      fc.constantFrom("connect-refused", "upstream-closed", "reset", "timeout", "no-upstream", "other"),
      fc.constantFrom("A", "B", "A2"),
      fc.constantFrom("GET /work", "POST /orders", "GET /other"),
    )
    .map(([at, kind, copy, about]) => line(at, kind, copy, about)),
  fc.tuple(atMs, fc.constantFrom("reloaded" as const, "note" as const)).map(([at, name]) => event(at, name)),
  fc
    .tuple(atMs, fc.constantFrom("killed" as const, "exited" as const, "removed" as const), copies)
    // Never at the same instant as one of the restart's own: of two at once the first in the file would win.
    .map(([at, name, copy]) => event(at + 0.5, name, copy)),
);

const ledgers = fc
  .record(
    {
      requests: fc.array(requests, { maxLength: 40 }),
      others: fc.array(others, { maxLength: 20 }),
      stored: fc.array(fc.nat({ max: 50 }), { maxLength: 20 }),
      router: fc.constantFrom("none", "embedded", "nginx 1.22.1"),
      upstreamKeepAlive: fc.boolean(),
      whole: fc.boolean(),
    },
    { noNullPrototype: true },
  )
  .map(
    ({
      requests: sent,
      others: around,
      stored,
      router,
      upstreamKeepAlive,
      whole,
    }): readonly LedgerRecord[] => [
      run({ router, parameters: { upstreamKeepAlive } }),
      ...(whole ? restart() : []),
      ...sent,
      ...around,
      ...stored.map((n) => executed(sent[n]?.id ?? "nobody")),
      ...(whole ? [end()] : []),
    ],
  );

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function assertSound(verdict: Verdict, sent: number): void {
  const { requests: all, kinds, store, exposure, restarts, bounds } = verdict;
  assert.equal(all.sent, sent);
  assert.equal(all.good + all.bad, sent);
  assert.equal(all.get.sent + all.post.sent, sent);
  assert.equal(sum(all.byAnswer), sent);
  // Each bad request is in one kind, has one harm, and is charged to one.
  assert.equal(
    kinds.reduce((total, kind) => total + kind.count, 0),
    all.bad,
  );
  assert.equal(sum(all.byHarm), all.bad);
  assert.equal(sum(all.byCharge), all.bad);
  assert.equal(all.get.failed + all.post.failed, all.byHarm.lost + all.byHarm.truncated);
  for (const kind of kinds) {
    assert.equal(kind.get + kind.post, kind.count);
    assert.equal(sum(kind.copies), kind.count);
    assert.equal(kind.examples.length, Math.min(3, kind.count));
    for (const example of kind.examples) {
      assert.equal(example.kind, kind.slug);
      assert.doesNotMatch(example.evidence, /undefined|NaN|null|Infinity/);
    }
  }
  assert.ok(store.unstored.length <= store.acknowledged);
  assert.equal(all.byHarm.unstored, store.unstored.length);
  assert.ok(exposure.sentBad <= exposure.sent && exposure.inFlightBad <= exposure.inFlight);
  assert.equal(
    restarts.reduce((total, one) => total + one.exposure.sent, 0),
    exposure.sent,
  );
  assert.ok(bounds.perRestart.bad <= bounds.perRestart.of);
  if (verdict.outcome === "pass") {
    assert.equal(all.byCharge.service, 0);
  }
  assert.doesNotMatch(JSON.stringify(verdict.advice.steps) + verdict.headline, /undefined|NaN|null|Infinity/);
}

test("whatever happened, the numbers of a verdict add up", () => {
  fc.assert(
    fc.property(ledgers, (records) => {
      assertSound(judge(records), records.filter((record) => record.kind === "request").length);
    }),
    { numRuns: 100 },
  );
});

test("the order of the records changes nothing that is counted", () => {
  fc.assert(
    fc.property(
      ledgers
        // Two requests that end together may swap the line of the log that both could claim.
        .map((records) => records.filter((record) => record.kind !== "router-log"))
        .chain((records) =>
          fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
        ),
      ([inOrder, shuffled]) => {
        const counts = (records: readonly LedgerRecord[]): unknown => {
          const { requests: all, kinds, store, exposure, restarts, outcome } = judge(records);
          const names = kinds.map((kind) => `${kind.slug} ${kind.count}`);
          return {
            all,
            kinds: names.toSorted((a, b) => a.localeCompare(b)),
            rows: store.rows,
            exposure,
            restarts,
            outcome,
          };
        };
        assert.deepEqual(counts(shuffled), counts(inOrder));
      },
    ),
    { numRuns: 60 },
  );
});
