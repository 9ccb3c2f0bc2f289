/**
 * A copy that lives on and cuts one request on a pooled connection while the others that it works on go on has not cut its work: it
 * has closed that connection, and the request came at the wrong moment (K03), however long a busy machine took to tell.
 */

import type { RunRecord } from "../ledger/records.ts";
import { COLUMN, type RequestTable } from "./request-table.ts";
import { countBy } from "./tally.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { CopyLife, Timeline } from "./timeline.ts";
import type { BadRequest } from "./verdict.ts";

interface Rows {
  readonly requests: RequestTable;
  /** Index of the copy into the timeline's copies; -1 when unknown. */
  readonly copyOf: (row: number) => number;
}

function livesOn(life: CopyLife | undefined, atMs: number): boolean {
  return life !== undefined && (life.exitMs === null || life.exitMs > atMs + THRESHOLDS.exitJitterMs);
}

/** The first that lies after this time, by halving: the list is in order. */
function firstAfter(suspects: readonly { readonly atMs: number }[], ms: number): number {
  let [low, high] = [0, suspects.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((suspects[middle]?.atMs ?? Number.POSITIVE_INFINITY) > ms) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** Keyed by row, as given; only the kind of some changes. */
export function withSingledOut(
  bad: ReadonlyMap<number, BadRequest>,
  run: RunRecord | null,
  timeline: Timeline,
  rows: Rows,
): ReadonlyMap<number, BadRequest> {
  const pooled = ({ request }: BadRequest): boolean =>
    run?.parameters["upstreamKeepAlive"] === true || (run?.router === "none" && request.connection.reuse > 0);
  const suspects = [...bad].flatMap(([row, one]) => {
    const copy = timeline.copies.findIndex(({ name }) => name === one.copy);
    const atMs = one.request.endedMs;
    // A handler that had begun was cut, whatever the others did.
    const unclear = one.kind === "in-flight-cut" && (one.worked === null || one.worked === 0) && pooled(one);
    return unclear && livesOn(timeline.copies[copy], atMs) ? [{ row, one, copy, atMs, spared: 0 }] : [];
  });
  if (suspects.length === 0) {
    return bad;
  }
  suspects.sort((a, b) => a.atMs - b.atMs);
  for (let row = 0; row < rows.requests.length; row += 1) {
    if (!bad.has(row)) {
      const fromMs = rows.requests.value(row, COLUMN.dispatchedMs);
      const toMs = rows.requests.value(row, COLUMN.endedMs);
      // Those that were cut while this one was there: it had come before, and was answered well after.
      for (let at = firstAfter(suspects, fromMs); at < suspects.length; at += 1) {
        const suspect = suspects[at];
        if (suspect === undefined || suspect.atMs >= toMs) {
          break;
        }
        suspect.spared += rows.copyOf(row) === suspect.copy ? 1 : 0;
      }
    }
  }
  const out = new Map(bad);
  const races = countBy(
    [
      ...[...bad.values()].filter((one) => one.kind === "keep-alive-race"),
      ...suspects.filter(({ spared }) => spared > 0).map(({ one }) => one),
    ],
    (one) => one.copy ?? "?",
  );
  const alone = countBy(
    suspects.filter(({ spared }) => spared === 0),
    ({ one }) => one.copy ?? "?",
  );
  for (const { row, one, spared } of suspects) {
    const others = races[one.copy ?? "?"] ?? 0;
    if (spared === 0 && others > (alone[one.copy ?? "?"] ?? 0)) {
      out.set(row, {
        ...one,
        kind: "keep-alive-race",
        confidence: "possible",
        evidence: `${one.evidence}, on a pooled connection, as ${others} others there were`,
      });
    }
    if (spared > 0) {
      out.set(row, {
        ...one,
        kind: "keep-alive-race",
        confidence: "likely",
        evidence: `${one.evidence}, on a pooled connection, while ${spared} other ${spared === 1 ? "request" : "requests"} there went on and were answered`,
      });
    }
  }
  return out;
}
