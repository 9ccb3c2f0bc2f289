/** The bad requests of a run, each with its harm, kind, copy and restart. */

import type { RequestRecord, RouterLine, RouterLogRecord } from "../ledger/records.ts";
import type { Arrivals } from "./arrivals.ts";
import { classify } from "./classify.ts";
import type { Collection, Suspect } from "./collection.ts";
import { answeredAtMs, isConnectRetry } from "./suspicion.ts";
import { factsOf, type Quiet, type Scene } from "./facts.ts";
import { KINDS } from "./kinds.ts";
import { createRouterWords } from "./router-words.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { BadRequest } from "./verdict.ts";
import { workersOf } from "./workers.ts";

interface Convicted extends Suspect {
  readonly request: RequestRecord;
}

/** The suspects that are bad indeed, in the order of their ends. */
function convicted(all: Collection, slowLimitMs: number): readonly Convicted[] {
  const byRow = new Map<number, Convicted>();
  for (const { row, harm } of all.suspects) {
    const request = all.requests.record(row);
    const late = answeredAtMs(request) - request.intendedMs > slowLimitMs;
    if (harm !== "slowed" || late || isConnectRetry(request)) {
      byRow.set(row, { row, harm, request });
    }
  }
  const good = (row: number): boolean => !byRow.has(row) || byRow.get(row)?.harm === "slowed";
  for (const row of all.requests.rowsOf(all.witnesses.triedAgain())) {
    if (good(row)) {
      byRow.set(row, { row, harm: "masked", request: all.requests.record(row) });
    }
  }
  // The store knows better, where it was read: a handler may have noticed that it had done it before.
  for (const row of all.store.wasChecked() ? [] : all.requests.rowsOf(all.witnesses.answeredTwice())) {
    const request = all.requests.record(row);
    if (
      request.method !== "GET" &&
      request.fate === "answered" &&
      (request.status ?? 0) < THRESHOLDS.failedFromStatus
    ) {
      byRow.set(row, { row, harm: "duplicated", request });
    }
  }
  for (const { row, times } of all.store.contradictions()) {
    // A stronger word than masked or slowed; the request was answered well, so it is neither lost nor truncated.
    byRow.set(row, { row, harm: times > 1 ? "duplicated" : "unstored", request: all.requests.record(row) });
  }
  return [...byRow.values()].toSorted((a, b) => a.request.endedMs - b.request.endedMs);
}

const NEVER_CAME: Arrivals = { worked: 0, answered: 0, refused: false, closedFirst: null, copy: "" };

/** A line of the access log in the form of one of the error log. */
function wordsOf(line: RouterLine | null | undefined): RouterLogRecord | null {
  if (line === null || line === undefined || line.class === null) {
    return null;
  }
  const tries = line.tries.map(({ address }) => address).join(", ");
  const termination = line.termination === null ? "" : ` (${line.termination})`;
  return {
    kind: "router-log",
    atMs: line.atMs,
    class: line.class,
    text: `${line.class}${termination}, upstream: ${tries}`,
  };
}

/** What the copies themselves answered badly before anybody was told to stop. */
function quietOf(suspects: readonly Convicted[], firstSignalMs: number): Quiet {
  const early = suspects.filter(({ request }) => request.endedMs < firstSignalMs);
  const anyOf = (statuses: (status: number) => boolean): boolean =>
    early.some(({ request }) => request.fate === "answered" && statuses(request.status ?? 0));
  return {
    clientErrors: anyOf((status) => status >= 400 && status < 500 && status !== 429),
    overload: anyOf((status) => status === 429 || status === 503),
  };
}

/** Keyed by row. */
export function badRequests(
  all: Collection,
  given: Omit<Scene, "quiet" | "workers" | "quickestMs">,
  slowLimitMs: number,
): ReadonlyMap<number, BadRequest> {
  const words = createRouterWords(all.log);
  const bad = new Map<number, BadRequest>();
  const suspects = convicted(all, slowLimitMs);
  const firstSignalMs = given.timeline.restarts[0]?.life.signalMs ?? Number.POSITIVE_INFINITY;
  const scene: Scene = {
    ...given,
    quiet: quietOf(suspects, firstSignalMs),
    quickestMs: all.quickestMs,
    workers: workersOf(all.speakers, given.attribution),
  };
  for (const { row, request, harm } of suspects) {
    // Only of these the router may have written a line; the others would take those of somebody else.
    const asksRouter = harm === "lost" || harm === "truncated" || harm === "masked";
    const logged = all.witnesses.line(request.id);
    const line = asksRouter ? (wordsOf(logged) ?? words.take(request)) : null;
    // The witnesses of the lab see no WebSocket.
    const seen =
      !all.witnessed || request.webSocket !== undefined
        ? null
        : (all.witnesses.arrivals(request.id) ?? NEVER_CAME);
    const stored = all.store.timesStored(request.id);
    const facts = factsOf(scene, { request, harm, line, stored, seen, unlogged: logged === null });
    const { kind, confidence, evidence } = classify(facts);
    const signalMs =
      facts.restart === null ? undefined : scene.timeline.restarts[facts.restart]?.life.signalMs;
    bad.set(row, {
      request,
      harm,
      kind,
      // What the router dropped never came to a copy.
      copy: KINDS[kind].chargedTo === "service" ? facts.copy : null,
      restart: facts.restart,
      sinceSignalMs: signalMs === undefined ? null : request.dispatchedMs - signalMs,
      stored: facts.stored,
      worked: facts.worked,
      confidence,
      evidence,
    });
  }
  return bad;
}
