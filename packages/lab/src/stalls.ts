/**
 * How late the timers of a thread fire. The lab's own, at the priority that the copies have too, since the load engine goes before
 * others and would never notice that the services cannot get at a processor; and those of its router, which all requests go through.
 */

import type { RunClock } from "./ledger/clock.ts";

const EVERY_MS = 50;

export interface Stalls {
  /** Null before the first timer. */
  readonly stallP95Ms: number | null;
  readonly stallMaxMs: number | null;
}

export interface StallWatch {
  stop(): Stalls;
}

export function watchStalls(clock: RunClock): StallWatch {
  const late: number[] = [];
  let dueMs = clock.now() + EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = clock.now();
    late.push(Math.max(0, nowMs - dueMs));
    dueMs = nowMs + EVERY_MS;
  }, EVERY_MS);
  // The run ends when its own waits are over.
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      const sorted = late.toSorted((a, b) => a - b);
      const round = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms));
      return {
        stallP95Ms: round(sorted[Math.ceil(sorted.length * 0.95) - 1]),
        stallMaxMs: round(sorted.at(-1)),
      };
    },
  };
}
