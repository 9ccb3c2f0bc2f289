/** One row judged: the verdict, the counts of the classic table, and whether the row shows what it must. Pure. */

import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { missed, type RowCounts } from "../scenario/expectation.ts";
import type { Verdict } from "../verdict/verdict.ts";

export interface Row {
  readonly plan: RolloutPlan;
  readonly verdict: Verdict;
  readonly counts: RowCounts;
  /** The row shows what it must; a row that is judged strictly: nothing is charged to the service. */
  readonly shown: boolean;
  /** Why not, one phrase. */
  readonly why: string | null;
  /** Failures that are the router's own doing (a reload closes idle client connections): shown apart. */
  readonly routerLost: number;
  readonly folder: string;
}

/** The kind of a request that met a port at which nobody listens any more. */
const REFUSED_KINDS = new Set(["closed-door"]);

export function countsOf(verdict: Verdict): RowCounts {
  const { get, post } = verdict.requests;
  const refused = verdict.kinds
    .filter((kind) => REFUSED_KINDS.has(kind.slug))
    .reduce((sum, kind) => sum + kind.count, 0);
  return {
    getFailed: get.failed,
    postFailed: post.failed,
    slow: verdict.latency.slowAbsolute,
    acknowledged: verdict.store.acknowledged,
    rows: verdict.store.checked ? verdict.store.rows : null,
    inDoubt: verdict.store.inDoubt.length,
    refused,
    notRefused: Math.max(0, get.failed + post.failed - refused),
  };
}

/** Exits that nobody had asked for. */
export function unasked(verdict: Verdict): readonly EventRecord[] {
  return verdict.timeline.filter((event) => event.event === "exited" && event.detail["asked"] === false);
}

/** What a strict judge finds: a loss that is charged to the service, a copy that had to be killed or ended by itself. */
function strictly(verdict: Verdict): string | null {
  const fallen = unasked(verdict).map(({ copy }) => copy);
  if (fallen.length > 0) {
    return `${fallen.join(", ")} ended though nobody had told it to`;
  }
  const killed = verdict.restarts.filter((restart) => restart.killedMs !== null).map(({ copy }) => copy);
  if (killed.length > 0) {
    return `${killed.join(", ")} did not stop and had to be killed`;
  }
  const bad = verdict.requests.byCharge.service;
  const found = verdict.kinds.find((kind) => kind.fails && kind.count === 0);
  if (bad === 0 && found !== undefined) {
    return found.evidence;
  }
  return bad > 0 ? `${bad} ${bad === 1 ? "request" : "requests"} harmed by the service` : null;
}

export function judgeRow(plan: RolloutPlan, verdict: Verdict, folder: string): Row {
  const counts = countsOf(verdict);
  const why =
    verdict.outcome === "invalid"
      ? `invalid run: ${verdict.invalid.join("; ")}`
      : plan.expectation === null
        ? strictly(verdict)
        : missed(plan.expectation, counts, plan);
  return {
    plan,
    verdict,
    counts,
    shown: why === null,
    why,
    routerLost: verdict.requests.byCharge.router,
    folder,
  };
}

/** A run that proves nothing is neither a pass nor a finding. */
export function exitCodeOf(rows: readonly Row[]): ExitCode {
  if (rows.some((row) => row.verdict.outcome === "invalid")) {
    return EXIT.invalidRun;
  }
  return rows.every((row) => row.shown) ? EXIT.pass : EXIT.failed;
}
