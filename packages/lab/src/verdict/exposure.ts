/** How many requests put each stop to the test: those that were at a leaving copy between its signal and its exit (R5). */

import { COLUMN, type RequestTable } from "./request-table.ts";
import type { RestartSpan } from "./timeline.ts";
import type { Exposure } from "./verdict.ts";

/** The requests of a run as the questions of exposure see them. */
export interface Attributed {
  readonly requests: RequestTable;
  /** Index of the copy into the timeline's copies; -1 when unknown. */
  readonly copyOf: (row: number) => number;
  readonly isBad: (row: number) => boolean;
}

type Counts = { -readonly [Key in keyof Exposure]: Exposure[Key] };

function none(): Counts {
  return { sent: 0, sentBad: 0, inFlight: 0, inFlightBad: 0 };
}

/** One pass over the rows for all restarts: a copy leaves at most once. */
export function exposures(
  attributed: Attributed,
  restarts: readonly { readonly span: RestartSpan; readonly copy: number }[],
): readonly Exposure[] {
  const counts = restarts.map(() => none());
  const restartOfCopy = new Map(restarts.map(({ copy }, index) => [copy, index]));
  for (let row = 0; row < attributed.requests.length; row += 1) {
    const index = restartOfCopy.get(attributed.copyOf(row));
    const count = index === undefined ? undefined : counts[index];
    const life = index === undefined ? undefined : restarts[index]?.span.life;
    if (count === undefined || life === undefined) {
      continue;
    }
    const dispatchedMs = attributed.requests.value(row, COLUMN.dispatchedMs);
    const bad = attributed.isBad(row) ? 1 : 0;
    if (dispatchedMs < life.signalMs) {
      if (attributed.requests.value(row, COLUMN.endedMs) > life.signalMs) {
        count.inFlight += 1;
        count.inFlightBad += bad;
      }
    } else if (dispatchedMs < (life.exitMs ?? Number.POSITIVE_INFINITY)) {
      count.sent += 1;
      count.sentBad += bad;
    }
  }
  return counts;
}

export function sumOf(parts: readonly Exposure[]): Exposure {
  const sum = none();
  for (const part of parts) {
    sum.sent += part.sent;
    sum.sentBad += part.sentBad;
    sum.inFlight += part.inFlight;
    sum.inFlightBad += part.inFlightBad;
  }
  return sum;
}

/** How many requests nobody can lay at the door of a copy. */
export function countUnattributed(attributed: Attributed): number {
  let count = 0;
  for (let row = 0; row < attributed.requests.length; row += 1) {
    count += attributed.copyOf(row) < 0 ? 1 : 0;
  }
  return count;
}
