/** The processes that answered for a copy, by the pid in their answers: when one fell silent and another began. */

import type { RequestRecord, RunMs } from "../ledger/records.ts";
import type { Attribution } from "./attribution.ts";
import { THRESHOLDS } from "./thresholds.ts";

/** One answerer by its own word (a copy's name or a pid), from its first answer to its last. */
export interface Speaker {
  readonly first: RequestRecord;
  firstMs: RunMs;
  lastMs: RunMs;
}

/** So many workers of a copy that have come and gone are no accident. */
const A_HABIT = 2;

type Worker = Speaker & { readonly name: string };

export interface Workers {
  /** `worker 12 fell silent, worker 13 began to answer`, if that happened at this copy around that time. */
  turn(copy: string, atMs: RunMs): string | null;
}

export function workersOf(speakers: ReadonlyMap<string, Speaker>, attribution: Attribution): Workers {
  const byCopy = new Map<string, readonly Worker[]>();
  for (const [name, speaker] of speakers) {
    const copy = attribution.copyOf(speaker.first);
    // Who is known by its own word is a whole copy, and no worker of one.
    if (copy !== null && attribution.copyOf({ ...speaker.first, upstream: null }) === null) {
      byCopy.set(copy, [...(byCopy.get(copy) ?? []), { ...speaker, name }]);
    }
  }
  return {
    turn: (copy, atMs) => {
      const all = byCopy.get(copy) ?? [];
      const distance = (ms: number): number => Math.abs(ms - atMs);
      const nearest = (of: readonly Worker[], side: "firstMs" | "lastMs"): Worker | undefined =>
        of.toSorted((one, other) => distance(one[side]) - distance(other[side]))[0];
      const silent = nearest(all, "lastMs");
      if (silent === undefined) {
        return null;
      }
      // Of two that answer side by side until the end neither has taken the other's place, nor has who was there before.
      const later = all.filter(({ firstMs, lastMs }) => firstMs > silent.firstMs && lastMs > silent.lastMs);
      const begun = nearest(later, "firstMs");
      if (distance(silent.lastMs) > THRESHOLDS.workerTurnMs) {
        return null;
      }
      // At the end of the load nobody is asked any more: then it is told by those before it, one after the other.
      const before = all.filter(({ lastMs }) => lastMs < silent.firstMs).length;
      if (begun === undefined && before >= A_HABIT && silent.lastMs <= atMs) {
        return `worker ${silent.name} fell silent, as ${before} had before it`;
      }
      const turned = begun !== undefined && distance(begun.firstMs) <= THRESHOLDS.workerTurnMs;
      return turned ? `worker ${silent.name} fell silent and worker ${begun.name} began to answer` : null;
    },
  };
}
