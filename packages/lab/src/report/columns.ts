/** All requests of a run as four columns in the order of their intended times: what every picture over time is made of. */

import { COLUMN } from "../verdict/request-table.ts";
import type { Judged } from "../verdict/judge.ts";
import type { Window } from "./window.ts";

/** Steps of the latency scale: 1024 over at most seven decades are finer than any screen. */
export const LEVELS = 1024;

export interface LatencyScale {
  /** The lower end, as a power of ten in milliseconds: -1 is 0.1 ms. */
  readonly fromPower: number;
  readonly toPower: number;
}

export interface Columns {
  readonly count: number;
  readonly scale: LatencyScale;
  /** Intended times in tenths of a millisecond since the window's start, ascending. */
  readonly at: Uint32Array;
  /** Latency, as a step of the scale: 0 to 1023. */
  readonly level: Uint16Array;
  /** 0: good; else 1 + index into the verdict's kinds. */
  readonly kind: Uint8Array;
  /** 0: nobody knows; else 1 + index of the place (`A`, with A2 and A3). */
  readonly place: Uint8Array;
}

const TICKS_PER_MS = 10;

export function levelOf(latencyMs: number, { fromPower, toPower }: LatencyScale): number {
  const share = (Math.log10(Math.max(latencyMs, 1e-6)) - fromPower) / (toPower - fromPower);
  return Math.round(Math.min(1, Math.max(0, share)) * (LEVELS - 1));
}

function scaleOf(judged: Judged): LatencyScale {
  let [least, most] = [Number.POSITIVE_INFINITY, 10];
  for (const latencyMs of judged.latenciesMs) {
    least = Math.min(least, latencyMs);
    most = Math.max(most, latencyMs);
  }
  const fromPower = Math.max(-1, Math.min(0, Math.floor(Math.log10(Math.max(0.1, least)))));
  return { fromPower, toPower: Math.min(6, Math.max(1, Math.ceil(Math.log10(most)))) };
}

/** Rows by intended time: keys that hold both are sorted as plain numbers, which is ten times faster than comparing. */
function rowsInOrder(judged: Judged, window: Window): Float64Array {
  const { requests } = judged;
  const keys = requests.map((row) => {
    const sinceMs = Math.max(0, requests.value(row, COLUMN.intendedMs) - window.fromMs);
    return Math.round(sinceMs * TICKS_PER_MS) * requests.length + row;
  });
  // In place: a copy would be eight more megabytes for a million.
  // oxlint-disable-next-line unicorn/no-array-sort -- See above.
  return keys.sort();
}

/** `placeOfCopy`: for each copy of the timeline the index of its place. */
export function columnsOf(judged: Judged, window: Window, placeOfCopy: readonly number[]): Columns {
  const { requests, bad, verdict } = judged;
  const count = requests.length;
  const scale = scaleOf(judged);
  const kindIndex = new Map(verdict.kinds.map(({ slug }, index) => [slug, index + 1]));
  const columns = {
    count,
    scale,
    at: new Uint32Array(count),
    level: new Uint16Array(count),
    kind: new Uint8Array(count),
    place: new Uint8Array(count),
  };
  const keys = rowsInOrder(judged, window);
  for (let index = 0; index < count; index += 1) {
    const key = keys[index] ?? 0;
    const row = key % count;
    columns.at[index] = Math.floor(key / count);
    columns.level[index] = levelOf(judged.latenciesMs[row] ?? 0, scale);
    const copy = judged.copyOf(row);
    columns.place[index] = copy < 0 ? 0 : Math.min(255, (placeOfCopy[copy] ?? -1) + 1);
  }
  if (bad.size > 0) {
    for (let index = 0; index < count; index += 1) {
      const one = bad.get((keys[index] ?? 0) % count);
      columns.kind[index] = one === undefined ? 0 : (kindIndex.get(one.kind) ?? 0);
    }
  }
  return columns;
}

export function msOf(columns: Columns, index: number): number {
  return (columns.at[index] ?? 0) / TICKS_PER_MS;
}
