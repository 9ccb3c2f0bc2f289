/** Ledgers written by hand, at least one for each kind that a run can show: for the tests, and for the pages in docs/kinds. */

import type { LedgerRecord } from "../../src/ledger/records.ts";
import type { KindSlug } from "../../src/verdict/kinds.ts";
import {
  end,
  event,
  executed,
  failure,
  type judgeRestart,
  line,
  request,
  routerError,
  witness,
} from "./ledger.ts";

/** One ledger and what the verdict must say of it. The first of each kind is the example on its page in docs/kinds. */
export interface Case {
  readonly kind: KindSlug;
  readonly title: string;
  readonly records: readonly LedgerRecord[];
  readonly options?: Parameters<typeof judgeRestart>[1];
  readonly says: RegExp;
  /** The copy to which it is attributed. */
  readonly copy?: string | null;
  /** How many of them; 0: a finding without a loss. Default 1. */
  readonly count?: number;
}

const POST = { method: "POST", path: "/orders" } as const;
const acknowledged = request(2100, { ...POST, status: 201 });
const twice = request(2100, { ...POST, status: 201 });

const PLAIN: readonly Case[] = [
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

const accepted = request(2100, { ...POST, status: 202 });
const pooledRun = { run: { parameters: { upstreamKeepAlive: true } } } as const;
const upstreamA = "127.0.0.1:9001";

/** Kinds of the catalogue beyond the plain ones above: by connection, by what the copy's life shows, by who else was there. */
const MORE: readonly Case[] = [
  {
    kind: "idle-timeout",
    title: "an instant reset on a pooled connection while nobody leaves",
    records: [routerError(800, "B"), line(802, "reset", "B")],
    options: pooledRun,
    says: /on a pooled connection at B while no copy was leaving/,
    copy: "B",
  },
  {
    kind: "idle-timeout",
    title: "the same at a leaving copy, when it had happened before the stop too",
    records: [
      routerError(800, "B"),
      line(802, "reset", "B"),
      routerError(2300, "A"),
      line(2302, "reset", "A"),
    ],
    options: pooledRun,
    says: /on a pooled connection/,
    count: 2,
  },
  {
    kind: "idle-burst",
    title: "several pooled connections of one copy that die at one instant",
    records: [
      routerError(2300, "A"),
      routerError(2301, "A"),
      line(2302, "reset", "A"),
      line(2303, "reset", "A"),
    ],
    options: pooledRun,
    says: /2 pooled connections of A died within/,
    copy: "A",
    count: 2,
  },
  {
    kind: "never-ends",
    title: "a copy that is killed though its listener had closed long before",
    records: [],
    options: { exitMs: 5001, killedMs: 5000, notReady: "ECONNREFUSED" },
    says: /A had to be killed 3\.00 s after SIGTERM, 2\.99 s after its listener had closed/,
    count: 0,
  },
  {
    kind: "never-ends",
    title: "a request over a pooled connection that outlived the listener, cut by SIGKILL",
    records: [routerError(4900, "A", { tookMs: 100 }), line(5000, "upstream-closed", "A")],
    options: { exitMs: 5001, killedMs: 5000, notReady: "ECONNREFUSED" },
    says: /over a connection that outlived the listener by 2\.89 s/,
    copy: "A",
  },
  {
    kind: "unread-body",
    title: "a reset while the body is being sent, by a copy that lives on",
    records: [failure(1000, "write", "EPIPE", { ...POST, tookMs: 30, copy: "102" })],
    options: { run: { router: "none" } },
    says: /EPIPE while writing after 30 ms while its body was being sent at B/,
  },
  {
    kind: "ignored-signal",
    title: "a copy that is killed and had stayed ready",
    records: [],
    options: { exitMs: 5001, killedMs: 5000, notReady: null },
    says: /A had to be killed 3\.00 s after SIGTERM, and had stayed ready until then/,
    count: 0,
  },
  {
    kind: "ignored-signal",
    title: "a request that SIGKILL cut at such a copy",
    records: [routerError(4900, "A", { tookMs: 100 }), line(5000, "upstream-closed", "A")],
    options: { exitMs: 5001, killedMs: 5000, notReady: null },
    says: /nothing had changed at A when SIGKILL came/,
    copy: "A",
  },
  {
    kind: "wrapper",
    title: "a shell that dies at the signal and leaves the service behind",
    records: [routerError(1900, "A", { tookMs: 104 }), line(2004, "upstream-closed", "A")],
    options: { exitMs: 2004, notReady: null, program: "sh", below: "node", leftBehind: true },
    says: /sh ended and left node behind/,
    copy: "A",
  },
  {
    kind: "wrapper",
    title: "a package manager that swallows the signal",
    records: [],
    options: { exitMs: 5001, killedMs: 5000, notReady: null, program: "npm start", below: "node" },
    says: /npm start got the signal, and node below it never did/,
    count: 0,
  },
  {
    kind: "liveness-fails",
    title: "liveness that turns with readiness",
    records: [event(2050, "not-live", "A", { seen: 503 })],
    says: /the liveness of A said 503 50 ms after SIGTERM, while it drained/,
    count: 0,
  },
  {
    kind: "readiness-constant",
    title: "readiness that says 200 until the copy is gone",
    records: [],
    options: { notReady: null },
    says: /A said that it was ready for 500 ms after SIGTERM/,
    count: 0,
  },
  {
    kind: "worker-recycling",
    title: "a cut at a copy that nobody stopped, when one worker takes the place of another",
    records: [
      request(300, { copy: "71", upstream: "127.0.0.1:9002" }),
      request(800, { copy: "71", upstream: "127.0.0.1:9002" }),
      routerError(900, "B", { tookMs: 100 }),
      line(1000, "upstream-closed", "B"),
      request(1100, { copy: "72", upstream: "127.0.0.1:9002" }),
      request(8000, { copy: "72", upstream: "127.0.0.1:9002" }),
    ],
    says: /at B, which nobody had stopped; worker 71 fell silent and worker 72 began to answer/,
    copy: "B",
  },
  {
    kind: "goaway-race",
    title: "a stream that ends with its HTTP/2 connection",
    records: [failure(2100, "wait", "ERR_HTTP2_GOAWAY_SESSION")],
    says: /ERR_HTTP2_GOAWAY_SESSION/,
  },
  {
    kind: "too-few-copies",
    title: "a 503 of a copy that stays, while another is away",
    records: [request(3200, { copy: "102", status: 503 })],
    says: /503 .* at B while A was away/,
    copy: "B",
  },
  {
    kind: "too-few-copies",
    title: "a slow answer of a copy that stays, while another is away",
    records: [request(3200, { copy: "102", tookMs: 1500 })],
    says: /200 after 1\.50 s at B while A was away/,
  },
  {
    kind: "passive-mark",
    title: "a new copy in the router's list that gets nothing",
    records: Array.from({ length: 20 }, (_, n) => request(3700 + n * 100, { copy: "102" })),
    says: /A2 was in the router's list for 5\.40 s without a request, while the others were sent 20/,
    count: 0,
  },
  {
    kind: "stale-address",
    title: "a refused connection long after the copy was taken out",
    records: [routerError(4500, "A"), line(4501, "connect-refused", "A")],
    says: /connection refused at A, 1\.50 s after it was taken out/,
  },
  {
    kind: "version-skew",
    title: "a 404 of the new copy, when there was none before",
    records: [request(3700, { copy: "103", status: 404 })],
    says: /404 .* before the first stop there was no such answer/,
    copy: "A2",
  },
  {
    kind: "router-port-reuse",
    title: "a new client connection that is reset at HAProxy's reload",
    records: [event(3000, "reloaded"), failure(3005, "wait", "ECONNRESET")],
    options: { run: { router: "HAProxy 2.6.12" } },
    says: /on a new client connection, 7 ms after the router's reload/,
  },
  {
    kind: "not-retried",
    title: "a POST that is lost where GETs are saved by a retry",
    records: [
      routerError(1900, "A", { ...POST, tookMs: 600 }),
      line(2500, "upstream-closed", "A", "POST /orders"),
      request(2400, { upstream: "127.0.0.1:9001, 127.0.0.1:9002" }),
    ],
    options: { run: { parameters: { retries: true } } },
    says: /1 lost, none of them a GET; the router saved 1 GETs/,
    count: 0,
  },
  {
    kind: "slow-deregistration",
    title: "a leaving copy that still gets requests after its removal",
    records: [request(4500, { copy: null, upstream: upstreamA })],
    options: { exitMs: 5000 },
    says: /A was sent a request 1\.50 s after the router was said to have dropped it/,
    count: 0,
  },
  {
    kind: "black-hole",
    title: "a connection that is neither made nor refused",
    records: [failure(2100, "connect", "TIMEOUT", { tookMs: 1000 })],
    options: { run: { router: "none" } },
    says: /TIMEOUT in connect after 1\.00 s: the connection was neither made nor refused/,
  },
  {
    kind: "job-lost",
    title: "a 202 whose job was never done",
    records: [accepted, end({ rows: 0 })],
    says: /202 for .*, and done never by the end of the run/,
  },
  {
    kind: "crashed",
    title: "a copy that ends by itself, and nothing is lost",
    records: [event(4000, "exited", "B", { code: 1, signal: null })],
    says: /B ended by itself \(exit code 1\)/,
    count: 0,
  },
  {
    kind: "clean-exit-after-cut",
    title: "exit code 0 though a request was cut at the exit",
    records: [routerError(2300, "A", { tookMs: 201 }), line(2501, "upstream-closed", "A")],
    says: /A left with exit code 0 and 1 cut request/,
    count: 0,
  },
  {
    kind: "closed-door",
    title: "a closed door behind a balancer of layer 4, which can only end the client's connection",
    records: [failure(2643, "wait", "EOF"), line(2646, "connect-refused", "A", "")],
    options: { run: { router: "HAProxy 2.6.12 (layer 4)" } },
    says: /EOF before the first byte after 2 ms: connection refused, sent 643 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "closed-door",
    title: "a door that was closed behind a recording shim, which the router saw as a reset",
    records: [
      routerError(2657, "A", { id: "r1-9010" }),
      line(2659, "reset", "A"),
      {
        ...witness("r1-9010", "A", 2658),
        bodyMs: null,
        answeredMs: null,
        status: null,
        closedFirst: "service",
        refused: true,
      },
    ],
    options: { run: { router: "embedded" } },
    says: /connection refused, sent 657 ms after SIGTERM to A/,
    copy: "A",
  },
  {
    kind: "cut-by-router",
    title: "a request that the balancer ends when it drops the copy",
    records: [
      failure(2950, "wait", "EOF", { id: "r1-9001", tookMs: 60 }),
      {
        kind: "router-request",
        id: "r1-9001",
        line: {
          atMs: 3010,
          status: null,
          tries: [],
          retries: 0,
          termination: "K-",
          class: "cut-by-router",
          bytes: 0,
        },
      },
    ],
    options: { exitMs: 5000, run: { router: "HAProxy 2.6.12" } },
    says: /the router ended it when it dropped the copy/,
  },
  {
    kind: "masked-by-retry",
    title: "a good answer of which only the router's log knows that it was the second try",
    records: [
      request(2600, { id: "r1-9002", upstream: "127.0.0.1:9002|200|0|-" }),
      {
        kind: "router-request",
        id: "r1-9002",
        line: { atMs: 2650, status: 200, tries: [], retries: 1, termination: "----", class: null, bytes: 2 },
      },
    ],
    options: { run: { router: "HAProxy 2.6.12" } },
    says: /200, but the router asked more than once/,
  },
  {
    kind: "duplicated",
    title: "a POST that two copies answered well, as the witness saw",
    records: [
      request(2100, { ...POST, id: "r1-9003", status: 201 }),
      witness("r1-9003", "A", 2110),
      witness("r1-9003", "B", 2120),
      end({ arrivals: 2 }),
    ],
    says: /201 for r1-9003, and 2 good answers to it by the copies/,
  },
  {
    kind: "keep-alive-race",
    title: "a request on a pooled connection that the witness never saw",
    records: [routerError(2300, "A", { tookMs: 12 }), line(2312, "reset", "A"), end({ arrivals: 0 })],
    options: pooledRun,
    says: /on a pooled connection, .*; witness: it never came to a handler/,
    copy: "A",
  },
  {
    kind: "in-flight-cut",
    title: "the same where it had come to a handler",
    records: [
      routerError(2300, "A", { id: "r1-9004", tookMs: 12 }),
      line(2312, "reset", "A"),
      { ...witness("r1-9004", "A", 2302), answeredMs: null, status: null, closedFirst: "service" },
      end({ arrivals: 1 }),
    ],
    options: pooledRun,
    says: /the copy cut it; router: reset; witness: it came to a handler once/,
    copy: "A",
  },
  {
    kind: "stream-cut",
    title: "an event stream that ends in the middle",
    records: [failure(2100, "body", "GAP", { status: 200, events: 7, tookMs: 400, copy: "101" })],
    says: /GAP after 7 events, sent 100 ms after SIGTERM to A/,
    copy: "A",
  },
];

export const CASES: readonly Case[] = [...PLAIN, ...MORE];
