/**
 * The time, read at most once in 50 ms: for the ages of requests, which are told in tenths of a second. Reading the clock
 * costs 100 ns on a virtual machine, a quarter of all that a request may cost; Node caches its Date header the same way.
 */

import type { Host } from "./host.ts";

const FRESH_MS = 50;

/** Never ahead of the host's clock; behind it by 50 ms, or by as long as the event loop was blocked. */
export function coarseClock(host: Pick<Host, "now" | "setTimer">): () => number {
  let at: number | null = null;
  const forget = (): void => {
    at = null;
  };
  return () => {
    if (at === null) {
      at = host.now();
      host.setTimer(FRESH_MS, forget, true);
    }
    return at;
  };
}
