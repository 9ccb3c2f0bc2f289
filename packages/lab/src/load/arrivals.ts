/** When each request is due. The n-th arrival is a pure function of the plan, never of how fast answers come. */

import type { Arrivals, ArrivalStep } from "./load.ts";
import { uniform } from "./random.ts";

/** Milliseconds from the start of the load to the n-th arrival (n counts from 0), given the one before it. */
function arrivalAfter(
  arrivals: Exclude<Arrivals, { kind: "steps" }>,
  seed: number,
  n: number,
  beforeMs: number,
): number {
  if (arrivals.kind === "constant") {
    // Not a sum of gaps: a million roundings would drift.
    return (n * 1000) / arrivals.ratePerSecond;
  }
  // 1 - u is in (0, 1], so the logarithm is finite.
  return beforeMs - (Math.log(1 - uniform(seed, "arrivals", n)) * 1000) / arrivals.ratePerSecond;
}

/** Each step begins with an arrival, and has as many as fit into it; the last one never ends. */
function arrivalInSteps(steps: readonly ArrivalStep[], n: number): number {
  let left = n;
  let startMs = 0;
  for (const [index, { ratePerSecond, forMs }] of steps.entries()) {
    const fit = Math.ceil((forMs * ratePerSecond) / 1000);
    if (left < fit || (index === steps.length - 1 && ratePerSecond > 0)) {
      return startMs + (left * 1000) / ratePerSecond;
    }
    left -= fit;
    startMs += forMs;
  }
  return Number.POSITIVE_INFINITY;
}

/** The most that is ever asked for in a second. */
export function highestRate(arrivals: Arrivals): number {
  return arrivals.kind === "steps"
    ? Math.max(...arrivals.steps.map(({ ratePerSecond }) => ratePerSecond))
    : arrivals.ratePerSecond;
}

/** The arrivals one after the other. */
export interface Schedule {
  /** The time of the next arrival, in milliseconds since the start of the load. */
  next(): number;
}

export function createSchedule(arrivals: Arrivals, seed: number): Schedule {
  let n = 0;
  let lastMs = 0;
  return {
    next: () => {
      lastMs =
        arrivals.kind === "steps"
          ? arrivalInSteps(arrivals.steps, n)
          : arrivalAfter(arrivals, seed, n, lastMs);
      n += 1;
      return lastMs;
    },
  };
}

/** The n-th arrival alone; for a Poisson process it costs n steps. */
export function nthArrivalMs(arrivals: Arrivals, seed: number, n: number): number {
  if (arrivals.kind === "constant") {
    return arrivalAfter(arrivals, seed, n, 0);
  }
  if (arrivals.kind === "steps") {
    return arrivalInSteps(arrivals.steps, n);
  }
  const schedule = createSchedule(arrivals, seed);
  for (let before = 0; before < n; before += 1) {
    schedule.next();
  }
  return schedule.next();
}
