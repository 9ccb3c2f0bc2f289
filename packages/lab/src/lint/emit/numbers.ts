/** From four measured numbers to the four that are set, with a margin. */

import { marginOf } from "../budget.ts";

export interface Measured {
  /** The time in which routers go on sending after they are told. */
  readonly routerLagMs: number;
  readonly longestRequestMs: number;
  readonly teardownMs: number;
  /** From start to ready. */
  readonly startMs: number;
  readonly name: string;
  readonly image: string;
  readonly port: number;
}

export interface Sized extends Measured {
  readonly drainDelayMs: number;
  readonly gracefulTimeoutMs: number;
  readonly teardownTimeoutMs: number;
  readonly gracePeriodMs: number;
}

/** Whole seconds, rounded up: every platform can write them. */
export function size(measured: Measured): Sized {
  // Every router takes a moment: a delay of 0 would promise that none does.
  const drainDelayMs = Math.max(1000, upToSecond(measured.routerLagMs));
  const gracefulTimeoutMs = Math.max(1000, upToSecond(measured.longestRequestMs));
  const teardownTimeoutMs = Math.max(1000, upToSecond(measured.teardownMs));
  const sum = drainDelayMs + gracefulTimeoutMs + teardownTimeoutMs;
  // The margin is a part of the whole it is a tenth of. 10 s is the least that a service behind routers should have.
  let gracePeriodMs = Math.max(10_000, upToSecond(sum + 2000));
  while (gracePeriodMs - sum < marginOf(gracePeriodMs)) {
    gracePeriodMs += 1000;
  }
  return { ...measured, drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs };
}

function upToSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** `15s`, as manifests and the environment write it. */
export function short(ms: number): string {
  return `${ms / 1000}s`;
}

/** The library's environment for these numbers. */
export function environment(sized: Sized): readonly (readonly [string, string])[] {
  return [
    ["LASTCALL_GRACE_PERIOD", short(sized.gracePeriodMs)],
    ["LASTCALL_DRAIN_DELAY", short(sized.drainDelayMs)],
    ["LASTCALL_GRACEFUL_TIMEOUT", short(sized.gracefulTimeoutMs)],
    ["LASTCALL_TEARDOWN_TIMEOUT", short(sized.teardownTimeoutMs)],
  ];
}

/** The sum in one line, for a comment at the top of each snippet. */
export function sumText(sized: Sized): string {
  const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs } = sized;
  const spare = gracePeriodMs - drainDelayMs - gracefulTimeoutMs - teardownTimeoutMs;
  return `drain delay ${short(drainDelayMs)} + graceful timeout ${short(gracefulTimeoutMs)} + teardown ${short(teardownTimeoutMs)} + spare ${short(spare)} = ${short(gracePeriodMs)}`;
}
