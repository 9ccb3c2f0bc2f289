import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { KINDS, type KindSlug } from "../../src/verdict/kinds.ts";
import {
  event,
  executed,
  failure,
  judge,
  judgeRestart,
  line,
  request,
  routerError,
  run,
  baseline,
  end,
  restart,
} from "./ledger.ts";

interface Case {
  readonly kind: KindSlug;
  readonly title: string;
  readonly records: readonly LedgerRecord[];
  readonly options?: Parameters<typeof judgeRestart>[1];
  readonly says: RegExp;
  /** The copy to which it is attributed. */
  readonly copy?: string | null;
}

const POST = { method: "POST", path: "/orders" } as const;
const acknowledged = request(2100, { ...POST, status: 201 });
const twice = request(2100, { ...POST, status: 201 });

const CASES: readonly Case[] = [
  {
    kind: "closed-door",
    title: "a refused connection at a copy that was told to stop",
    records: [routerError(2600, "A"), line(2602, "connect-refused", "A")],
    says: /502 after 2 ms: connection refused, sent 600 ms after SIGTERM to A, 398 ms before the router let go/,
    copy: "A",
  },
  {
    kind: "closed-door",
    title: "an instant 502 after the exit, though the router says nothing",
    records: [routerError(2700, "A")],
    says: /200 ms after its exit/,
    copy: "A",
  },
  {
    kind: "closed-door",
    title: "a refused connection without a router",
    records: [failure(2600, "connect", "ECONNREFUSED")],
    options: { run: { router: "none" } },
    says: /ECONNREFUSED in connect/,
    copy: "A",
  },
  {
    kind: "in-flight-cut",
    title: "a request that dies with the exit of its copy",
    records: [routerError(2300, "A", { tookMs: 201 }), line(2501, "upstream-closed", "A")],
    says: /sent 300 ms after SIGTERM to A; it exited at that moment; router: upstream-closed/,
    copy: "A",
  },
  {
    kind: "in-flight-cut",
    title: "one that was in flight at the signal",
    records: [routerError(1900, "A", { tookMs: 101 }), line(2001, "reset", "A")],
    options: { exitMs: 2000, signal: "SIGKILL" },
    says: /in flight at A for 100 ms when SIGKILL came/,
    copy: "A",
  },
  {
    kind: "in-flight-cut",
    title: "one that its copy cuts while it lives on",
    records: [routerError(2000, "A", { tookMs: 200 }), line(2200, "reset", "A")],
    says: /the copy cut it/,
    copy: "A",
  },
  {
    kind: "killed",
    title: "a request that dies with SIGKILL at the end of the grace period",
    records: [routerError(2300, "A", { tookMs: 201 }), line(2501, "upstream-closed", "A")],
    options: { killedMs: 2499 },
    says: /SIGKILL came 499 ms after the stop signal/,
    copy: "A",
  },
  {
    kind: "keep-alive-race",
    title: "an instant reset on the router's pooled connection",
    records: [routerError(2300, "A"), line(2302, "reset", "A")],
    options: { run: { parameters: { upstreamKeepAlive: true } } },
    says: /on a pooled connection, sent 300 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "keep-alive-race",
    title: "an instant reset on a client's own pooled connection, without a router",
    records: [failure(2300, "wait", "ECONNRESET", { reuse: 3 })],
    options: { run: { router: "none" } },
    says: /ECONNRESET before the first byte/,
  },
  {
    kind: "accept-queue",
    title: "an instant reset on a new connection while the copy lives",
    records: [routerError(2200, "A"), line(2202, "reset", "A")],
    says: /on a new connection, sent 200 ms after SIGTERM/,
    copy: "A",
  },
  {
    kind: "truncated",
    title: "a body that ends early",
    records: [
      failure(2300, "body", "EOF", {
        status: 200,
        bytes: { promised: 100, got: 40 },
        upstream: "127.0.0.1:9001",
      }),
    ],
    says: /200, 40 of 100 bytes, then EOF, sent 300 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "refused-by-gate",
    title: "a 503 of the leaving copy",
    records: [request(2200, { status: 503, upstream: "127.0.0.1:9001" })],
    says: /503 .* by the copy itself, sent 200 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "wrong-order",
    title: "a 500 of the leaving copy",
    records: [request(2200, { status: 500, copy: "101" })],
    says: /500 .* by the copy itself/,
    copy: "A",
  },
  {
    kind: "service-error",
    title: "a 500 of a copy that nobody stopped",
    records: [request(2200, { status: 500, copy: "102" })],
    says: /500 .* by the copy itself at B/,
    copy: "B",
  },
  {
    kind: "client-error",
    title: "a 404",
    records: [request(1000, { status: 404, copy: "102" })],
    says: /404 .* to GET .work/,
  },
  {
    kind: "not-ready-yet",
    title: "a refused connection at the new copy",
    records: [routerError(3650, "A2"), line(3651, "connect-refused", "A2")],
    says: /refused by the new copy A2/,
    copy: "A2",
  },
  {
    kind: "not-ready-yet",
    title: "a 503 of the new copy",
    records: [request(3650, { status: 503, copy: "103" })],
    says: /503 .* by the new copy A2/,
    copy: "A2",
  },
  {
    kind: "cold-copy",
    title: "a slow answer of the new copy",
    records: [request(3650, { copy: "103", tookMs: 2000 })],
    says: /200 after 2.00 s at A2, ready 150 ms before/,
    copy: "A2",
  },
  {
    kind: "blocked-loop",
    title: "a slow answer of the leaving copy",
    records: [request(2100, { copy: "101", tookMs: 1200 })],
    options: { exitMs: 3400 },
    says: /200 after 1.20 s, sent 100 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "blocked-loop",
    title: "a 504 at the leaving copy",
    records: [routerError(2100, "A", { status: 504, tookMs: 2000 }), line(4100, "timeout", "A")],
    options: { exitMs: 5000 },
    says: /504 after 2.00 s/,
    copy: "A",
  },
  {
    kind: "timeout",
    title: "a request without an answer while nobody leaves",
    records: [failure(500, "wait", "TIMEOUT", { tookMs: 1000 })],
    says: /TIMEOUT before the first byte after 1.00 s/,
    copy: null,
  },
  {
    kind: "connect-retry",
    title: "a connection that was made at the second try",
    records: [request(1000, { connectedMs: 2003, tookMs: 1050 })],
    says: /the connection took 1.00 s/,
  },
  {
    kind: "slow",
    title: "a slow answer in the quiet",
    records: [request(500, { copy: "102", tookMs: 5000 })],
    says: /200 after 5.00 s at B/,
  },
  {
    kind: "router-reload",
    title: "a pooled client connection that dies with the router's reload",
    records: [event(3000, "reloaded"), failure(3005, "wait", "ECONNRESET", { reuse: 12, ageMs: 2000 })],
    says: /had carried 12, 7 ms after the router's reload/,
  },
  {
    kind: "masked-by-retry",
    title: "a good answer at the router's second try",
    records: [request(2600, { upstream: "127.0.0.1:9001, 127.0.0.1:9002" })],
    says: /200, but the router asked A, then B/,
    copy: "A",
  },
  {
    kind: "duplicated",
    title: "an id that is stored twice",
    records: [twice, executed(twice.id, "A"), executed(twice.id, "B")],
    says: /2 rows under this id/,
  },
  {
    kind: "unstored",
    title: "an id that is acknowledged and not stored",
    records: [acknowledged, end({ rows: 0 })],
    says: /201 for .*, and no row/,
  },
  {
    kind: "outage",
    title: "a refused connection when no copy serves",
    records: [
      event(2100, "exited", "B", { code: 1, signal: null }),
      routerError(2700, "A"),
      line(2701, "connect-refused", "A"),
    ],
    says: /no copy was ready and in rotation/,
  },
  {
    kind: "closed-door",
    title: "the only copy, which still lives and refuses",
    records: [event(1900, "removed", "B"), routerError(2300, "A"), line(2301, "connect-refused", "A")],
    says: /connection refused, sent 300 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "crashed",
    title: "a copy that ended though nobody asked",
    records: [
      event(4000, "exited", "B", { code: 1, signal: null }),
      routerError(4100, "B"),
      line(4101, "connect-refused", "B"),
    ],
    says: /B had ended by itself \(exit code 1\)/,
    copy: "B",
  },
  {
    kind: "garbage",
    title: "an answer that is no HTTP",
    records: [failure(1000, "wait", "PARSE")],
    says: /PARSE/,
  },
  {
    kind: "lab-limit",
    title: "no free port of our own",
    records: [failure(1000, "connect", "EADDRNOTAVAIL")],
    says: /EADDRNOTAVAIL in connect .* to the router/,
  },
  {
    kind: "lab-limit",
    title: "a router that refuses connections",
    records: [failure(1000, "connect", "ECONNREFUSED")],
    says: /to the router/,
  },
  {
    kind: "router-error",
    title: "a 502 that nothing explains",
    records: [request(1000, { status: 502, copy: null })],
    says: /502 after 50 ms/,
  },
  {
    kind: "unexplained",
    title: "a connection that ends on a new connection in the quiet",
    records: [failure(1000, "wait", "EOF")],
    says: /EOF before the first byte/,
  },
];

describe("each bad request has exactly one kind", () => {
  for (const { kind, title, records, options, says, copy } of CASES) {
    test(`${kind}: ${title}`, () => {
      const verdict = judgeRestart(records, options);
      assert.deepEqual(
        verdict.kinds.map((one) => [one.slug, one.count]),
        [[kind, 1]],
        verdict.headline,
      );
      assert.equal(verdict.requests.bad, 1);
      const [example] = verdict.kinds[0]?.examples ?? [];
      assert.match(example?.evidence ?? "", says);
      if (copy !== undefined) {
        assert.equal(example?.copy, copy);
      }
    });
  }

  test("every kind has a case", () => {
    const covered = new Set(CASES.map((one) => one.kind));
    assert.deepEqual(
      Object.keys(KINDS).filter((kind) => !covered.has(kind as KindSlug)),
      [],
    );
  });

  test("the sum over the kinds is the total, whatever the order of the records", () => {
    const mixed = CASES.filter((one) => one.options === undefined && one.kind !== "outage").flatMap(
      (one) => one.records,
    );
    const whole = [run(), ...restart(), ...baseline(), ...mixed, end()];
    const [forwards, backwards] = [judge(whole), judge(whole.toReversed())];
    const sum = forwards.kinds.reduce((total, kind) => total + kind.count, 0);
    assert.ok(sum > 15);
    assert.equal(sum, forwards.requests.bad);
    assert.equal(
      Object.values(forwards.requests.byHarm).reduce((total, n) => total + n, 0),
      sum,
    );
    assert.equal(
      Object.values(forwards.requests.byCharge).reduce((total, n) => total + n, 0),
      sum,
    );
    assert.deepEqual(
      backwards.kinds.map((kind) => `${kind.slug} ${kind.count}`).toSorted(),
      forwards.kinds.map((kind) => `${kind.slug} ${kind.count}`).toSorted(),
    );
    assert.equal(forwards.requests.good + forwards.requests.bad, forwards.requests.sent);
  });
});
