/** Whether a run proves anything at all, in either direction. */

import type { EndRecord, EventRecord, RunRecord } from "../ledger/records.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { RestartSpan } from "./timeline.ts";

export interface ValidityFacts {
  readonly end: EndRecord | null;
  readonly sent: number;
  readonly restarts: number;
  readonly dispatchLagP99Ms: number | null;
  /** How late the lab's own timers were: 95 % of them, and the latest; null where nobody looked. */
  readonly stalls: { readonly p95Ms: number; readonly maxMs: number } | null;
  /** The most by which the router dropped a copy later than the lab meant it to; null where nobody set the time. */
  readonly removalLateMs: number | null;
  /** Bad requests that are charged to the lab. */
  readonly labFailures: number;
}

/** As the lab has measured them while the load ran. */
export function stallsIn(events: readonly EventRecord[]): ValidityFacts["stalls"] {
  const told = events.find((one) => one.event === "load-ended")?.detail;
  const worst = (...names: readonly string[]): number | null => {
    const known = names.map((name) => told?.[name]).filter((value) => typeof value === "number");
    return known.length === 0 ? null : Math.max(...known);
  };
  // All requests go through the router: one that could not get at a processor makes every service look slow.
  const p95Ms = worst("stallP95Ms", "routerStallP95Ms");
  const maxMs = worst("stallMaxMs", "routerStallMaxMs");
  return p95Ms === null || maxMs === null ? null : { p95Ms, maxMs };
}

/** How much later than planned the router let go, at its worst: a lag that nobody asked for proves nothing about a delay. */
export function latestRemovalMs(run: RunRecord | null, restarts: readonly RestartSpan[]): number | null {
  const { order, propagationMs, removal } = run?.parameters ?? {};
  if (order !== "parallel" || typeof propagationMs !== "number" || removal === "readiness") {
    return null;
  }
  const late = restarts.flatMap(({ life }) =>
    life.removedMs === null ? [] : [life.removedMs - life.signalMs - propagationMs],
  );
  return late.length === 0 ? null : Math.max(...late);
}

/** Why it proves nothing; empty when it is valid. */
export function reasonsToDoubt(facts: ValidityFacts): readonly string[] {
  const { end, sent, restarts, dispatchLagP99Ms, removalLateMs, labFailures, stalls } = facts;
  const limitMs = THRESHOLDS.dispatchLagP99Ms;
  const reasons: string[] = [];
  if (end === null) {
    reasons.push("the ledger has no end: the run was cut off");
  } else if (end.reason !== "finished") {
    reasons.push(end.reason === "interrupted" ? "the run was interrupted" : "the run failed before its end");
  }
  if (sent === 0) {
    reasons.push("no request was sent");
  } else if (restarts === 0) {
    reasons.push("no copy was told to stop while the load ran: nothing was put to the test");
  }
  if (dispatchLagP99Ms !== null && dispatchLagP99Ms > limitMs) {
    reasons.push(
      `requests were sent late: the dispatch lag's p99 was ${Math.round(dispatchLagP99Ms)} ms (limit ${limitMs} ms); lower the rate or free the machine`,
    );
  }
  const [p95LimitMs, maxLimitMs] = [THRESHOLDS.stallP95Ms, THRESHOLDS.stallMaxMs];
  if (stalls !== null && (stalls.p95Ms > p95LimitMs || stalls.maxMs > maxLimitMs)) {
    reasons.push(
      `the machine was too busy for the services: timers beside them, or of the router before them, were ${stalls.p95Ms} ms late in one case of twenty and ${stalls.maxMs} ms at most (limits ${p95LimitMs} and ${maxLimitMs} ms)`,
    );
  }
  if (removalLateMs !== null && removalLateMs > THRESHOLDS.removalLateMs) {
    reasons.push(
      `the machine was too busy: a copy was dropped by the router ${Math.round(removalLateMs)} ms later than the plan says (limit ${THRESHOLDS.removalLateMs} ms)`,
    );
  }
  if (labFailures > 0) {
    reasons.push(
      `${labFailures} requests failed or came late for want of the lab's own ports, files or router`,
    );
  }
  return reasons;
}
