/** The one deadline: computed once at the first signal on the monotonic clock; it may come earlier, never later. Pure. */

import type { Budget } from "./budget.ts";

/** Instants on the host's monotonic clock, in milliseconds. */
export interface Deadline {
  /** When the stop began. */
  readonly startedAt: number;
  /** When the drain delay is over. */
  readonly gateAt: number;
  /** When abort signals fire. */
  readonly abortAt: number;
  /** When draining ends whatever happens. */
  readonly at: number;
}

type Times = Pick<Budget, "gracefulTimeoutMs" | "abortWindowMs">;

/** The deadline of a stop that begins now with this drain delay. */
export function beginDeadline(now: number, drainDelayMs: number, times: Times): Deadline {
  const at = now + drainDelayMs + times.gracefulTimeoutMs;
  return { startedAt: now, gateAt: now + drainDelayMs, abortAt: at - times.abortWindowMs, at };
}

/** The gate closes now: the deadline becomes the earlier of itself and now + graceful timeout. */
export function closeGateAt(deadline: Deadline, now: number, times: Times): Deadline {
  const at = Math.min(deadline.at, now + times.gracefulTimeoutMs);
  return {
    ...deadline,
    gateAt: Math.min(deadline.gateAt, now),
    abortAt: Math.min(deadline.abortAt, at - times.abortWindowMs),
    at,
  };
}

/** The deadline is now, if it has not been already. */
export function expireAt(deadline: Deadline, now: number): Deadline {
  return { ...deadline, abortAt: Math.min(deadline.abortAt, now), at: Math.min(deadline.at, now) };
}
