/**
 * A second look over all keep-alive races: those that one copy has at one instant were closed by one hand (K05), and those of a run
 * that had them before the first stop are a matter of idle timeouts (K04).
 */

import { THRESHOLDS } from "./thresholds.ts";
import type { BadRequest } from "./verdict.ts";

/** How many races the copy has at this instant; the list is in the order of their ends. */
function neighbours(races: readonly (readonly [number, BadRequest])[], index: number): number {
  const one = races[index]?.[1];
  const near = (at: number): boolean => {
    const other = races[at]?.[1];
    return (
      one !== undefined &&
      other !== undefined &&
      Math.abs(other.request.endedMs - one.request.endedMs) <= THRESHOLDS.burstMs
    );
  };
  let count = 1;
  for (const step of [-1, 1]) {
    for (let at = index + step; near(at); at += step) {
      count += races[at]?.[1].copy === one?.copy ? 1 : 0;
    }
  }
  return count;
}

/** Keyed by row, as given; only the kind of some changes. */
export function withBursts(
  bad: ReadonlyMap<number, BadRequest>,
  firstSignalMs: number,
): ReadonlyMap<number, BadRequest> {
  const races = [...bad]
    .filter(([, one]) => one.kind === "keep-alive-race")
    .toSorted(([, a], [, b]) => a.request.endedMs - b.request.endedMs);
  const idles = [...bad.values()].filter((one) => one.kind === "idle-timeout");
  // Before the first stop nobody's leaving can be the cause; and if most come where nobody leaves, so it is with the others.
  const idle =
    idles.find((one) => one.request.endedMs < firstSignalMs) ??
    (idles.length > races.length ? idles[0] : undefined);
  const out = new Map(bad);
  for (const [index, [row, one]] of races.entries()) {
    const together = neighbours(races, index);
    if (idle !== undefined) {
      out.set(row, {
        ...one,
        kind: "idle-timeout",
        confidence: "likely",
        evidence: `${one.evidence}; the same happened where nobody was leaving (${idle.evidence})`,
      });
    } else if (together > 1 && one.copy !== null) {
      out.set(row, {
        ...one,
        kind: "idle-burst",
        confidence: "likely",
        evidence: `${one.evidence}; ${together} pooled connections of ${one.copy} died within ${THRESHOLDS.burstMs} ms`,
      });
    }
  }
  return out;
}
