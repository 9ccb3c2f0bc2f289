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

/** What a loop that stood still for longer did not get to is no longer told at once. */
const MOST_AT_ONCE_MS = 100;

/**
 * Calls `run` for each entry at its instant, with one timer for all of them. After a loop that stood still the rest is spread
 * over what is left of the window, instead of all that were due being called at once. Returns what calls the rest at once.
 */
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
  /** How far the plan was when the loop last stood still, and when it went on: from there it has less time. */
  let planned = 0;
  let from = 0;
  let looked = 0;
  const pace = (): number => (planned < windowMs ? (windowMs - from) / (windowMs - planned) : 1);
  const due = (): number => from + ((times[next] ?? 0) - planned) * pace();
  const go = (until: number): void => {
    cancel();
    const since = Math.max(looked, due());
    if (until < windowMs && until - since > MOST_AT_ONCE_MS) {
      planned += (since - from) / pace();
      from = until - MOST_AT_ONCE_MS;
    }
    looked = until;
    while (next < entries.length && due() <= until) {
      run(entries[next] as T);
      next += 1;
    }
    if (next < entries.length) {
      cancel = host.setTimer(Math.max(1, due() - until), () => go(host.now() - startedAt));
    }
  };
  go(windowMs > 0 ? 0 : Number.POSITIVE_INFINITY);
  return { hurry: () => go(Number.POSITIVE_INFINITY), cancel: () => cancel() };
}
