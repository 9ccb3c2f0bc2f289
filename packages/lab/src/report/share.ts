/** Who answered how much: requests of each place over time, and each place's share of the whole. */

import { msOf, type Columns } from "./columns.ts";
import type { Window } from "./window.ts";

export interface Share {
  readonly name: string;
  readonly count: number;
  /** Of the requests that say who answered; 0 to 1. */
  readonly share: number;
  /** Requests in each slice of the window. */
  readonly slices: readonly number[];
}

export interface Shares {
  readonly places: readonly Share[];
  /** Requests that nobody can lay at the door of a copy. */
  readonly unknown: number;
  /** The largest sum over the places in one slice. */
  readonly most: number;
  readonly sliceMs: number;
}

/** As many slices as the window has restful pixels, and none so short that it holds a handful of requests. */
function sliceCount(columns: Columns): number {
  return Math.max(12, Math.min(240, Math.floor(columns.count / 40)));
}

export function sharesOf(columns: Columns, window: Window, places: readonly string[]): Shares {
  const slices = sliceCount(columns);
  const lengthMs = window.toMs - window.fromMs;
  const counts = places.map(() => Array.from({ length: slices }, () => 0));
  let unknown = 0;
  for (let index = 0; index < columns.count; index += 1) {
    const place = counts[(columns.place[index] ?? 0) - 1];
    if (place === undefined) {
      unknown += 1;
    } else {
      const slice = Math.min(slices - 1, Math.floor((msOf(columns, index) / lengthMs) * slices));
      place[slice] = (place[slice] ?? 0) + 1;
    }
  }
  const known = Math.max(1, columns.count - unknown);
  const sums = Array.from({ length: slices }, (_, slice) =>
    counts.reduce((sum, place) => sum + (place[slice] ?? 0), 0),
  );
  return {
    places: places.map((name, index) => {
      const own = counts[index] ?? [];
      const count = own.reduce((sum, one) => sum + one, 0);
      return { name, count, share: count / known, slices: own };
    }),
    unknown,
    most: Math.max(1, ...sums),
    sliceMs: lengthMs / slices,
  };
}
