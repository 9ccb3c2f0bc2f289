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

export interface Workers {
  /** `worker 12 fell silent, worker 13 began to answer`, if that happened at this copy around that time. */
  turn(copy: string, atMs: RunMs): string | null;
}

export function workersOf(speakers: ReadonlyMap<string, Speaker>, attribution: Attribution): Workers {
  const byCopy = new Map<string, readonly (Speaker & { readonly name: string })[]>();
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
      const nearest = (
        of: readonly (Speaker & { readonly name: string })[],
        side: "firstMs" | "lastMs",
      ): Speaker & { readonly name: string } =>
        of.reduce((best, one) => (distance(one[side]) < distance(best[side]) ? one : best));
      if (all.length < 2) {
        return null;
      }
      const silent = nearest(all, "lastMs");
      const others = all.filter((one) => one !== silent);
      const begun = nearest(others, "firstMs");
      const turned =
        distance(silent.lastMs) <= THRESHOLDS.workerTurnMs &&
        distance(begun.firstMs) <= THRESHOLDS.workerTurnMs &&
        // Of two that answer side by side until the end neither has taken the other's place.
        silent.lastMs < begun.lastMs &&
        silent.firstMs < begun.firstMs;
      return turned ? `worker ${silent.name} fell silent and worker ${begun.name} began to answer` : null;
    },
  };
}
