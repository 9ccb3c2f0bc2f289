/** The run's clock: milliseconds since time zero, the same in every thread of the process, never stepped by the wall clock. */

import type { RunMs } from "./records.ts";

export interface RunClock {
  /** Time zero on the system's monotonic clock, in milliseconds: a plain number that another thread can be given. */
  readonly baseMs: number;
  now(): RunMs;
}

function monotonicMs(): number {
  // hrtime has one origin for all threads; performance.now() counts from the start of each thread.
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A clock that starts now, or that agrees with another whose `baseMs` is given. */
export function startRunClock(baseMs: number = monotonicMs()): RunClock {
  // performance.now() makes no bigint; both clocks run at the same rate, so one offset is enough.
  const offsetMs = monotonicMs() - performance.now() - baseMs;
  return { baseMs, now: () => performance.now() + offsetMs };
}
