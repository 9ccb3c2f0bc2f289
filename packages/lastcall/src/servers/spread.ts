/** Many things over a window instead of at once, so that those who come back do not all come back together. */

import type { Host, Undo } from "../host.ts";

/** Of the drain delay, for telling; the rest is for the last ones to answer and to come back elsewhere (A4). */
export const SPREAD_SHARE: number = 2 / 3;

/** The instants, in order: one in each of `count` equal slots of the window, at a random place in it. */
export function spreadOver(
  count: number,
  windowMs: number,
  random: () => number = Math.random,
): readonly number[] {
  const slot = windowMs / Math.max(1, count);
  return Array.from({ length: count }, (_, at) => (at + random()) * slot);
}

/** Calls `run` for each entry at its instant, with one timer for all of them. Returns what calls the rest at once. */
export function runSpread<T>(
  host: Pick<Host, "now" | "setTimer">,
  entries: readonly T[],
  windowMs: number,
  run: (entry: T) => void,
): { readonly hurry: Undo; readonly cancel: Undo } {
  const times = spreadOver(entries.length, windowMs);
  const startedAt = host.now();
  let next = 0;
  let cancel: Undo = () => {};
  const go = (until: number): void => {
    cancel();
    while (next < entries.length && (times[next] ?? 0) <= until) {
      run(entries[next] as T);
      next += 1;
    }
    if (next < entries.length) {
      cancel = host.setTimer(Math.max(1, (times[next] ?? 0) - until), () => go(host.now() - startedAt));
    }
  };
  if (windowMs > 0) {
    go(0);
  } else {
    go(Number.POSITIVE_INFINITY);
  }
  return { hurry: () => go(Number.POSITIVE_INFINITY), cancel: () => cancel() };
}
