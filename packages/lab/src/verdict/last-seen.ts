/** When each copy was first and last sent a request, and when the last of them ended. */

import type { Attributed } from "./exposure.ts";
import { COLUMN } from "./request-table.ts";

export interface Seen {
  /** Dispatch of the first; -1: it got none. */
  firstMs: number;
  /** Dispatch of the last; -1: it got none. */
  sentMs: number;
  endedMs: number;
}

/** By the copies' places in the timeline. */
export function firstAndLast(attributed: Attributed, copies: number): readonly Seen[] {
  const seen = Array.from({ length: copies }, (): Seen => ({ firstMs: -1, sentMs: -1, endedMs: -1 }));
  for (let row = 0; row < attributed.requests.length; row += 1) {
    const one = seen[attributed.copyOf(row)];
    if (one !== undefined) {
      const sentMs = attributed.requests.value(row, COLUMN.dispatchedMs);
      one.firstMs = one.firstMs < 0 ? sentMs : Math.min(one.firstMs, sentMs);
      one.sentMs = Math.max(one.sentMs, sentMs);
      one.endedMs = Math.max(one.endedMs, attributed.requests.value(row, COLUMN.endedMs));
    }
  }
  return seen;
}
