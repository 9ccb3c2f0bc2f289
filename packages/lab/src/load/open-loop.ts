/** The open loop: sends each request when it is due, whatever became of the earlier ones, until it is told to stop. */

import { createSchedule } from "./arrivals.ts";
import type { HttpClient } from "./http-client.ts";
import type { LoadPlan } from "./load.ts";
import type { Mix } from "./mix.ts";

export interface OpenLoop {
  /** Sends no more. */
  stop(): void;
}

export interface OpenLoopOptions {
  readonly plan: LoadPlan;
  readonly mix: Mix;
  readonly client: Pick<HttpClient, "send">;
  readonly now: () => number;
  /** The first request has been dispatched. */
  readonly onFirst: () => void;
}

/**
 * After a stall of ours many requests are due at once. Between slices of them the answers are read: it holds nothing back
 * that a server could notice, and without it each late request would open a new connection while free ones lie unread.
 */
const SLICE = 32;

export function startOpenLoop(options: OpenLoopOptions): OpenLoop {
  const { plan, mix, client, now } = options;
  const startMs = now();
  const schedule = createSchedule(plan.arrivals, plan.seed);
  let n = 0;
  let dueMs = startMs + schedule.next();
  let timer: NodeJS.Timeout | null = null;
  let immediate: NodeJS.Immediate | null = null;

  function tick(): void {
    timer = null;
    immediate = null;
    const currentMs = now();
    const sliceEnd = n + SLICE;
    // All that is due goes out, also after a stall of ours: its intended time stays, so that the stall shows as lag.
    while (dueMs <= currentMs && dueMs - startMs < plan.maxDurationMs) {
      if (n === sliceEnd) {
        immediate = setImmediate(tick);
        return;
      }
      client.send(n, dueMs, mix.wire(n));
      if (n === 0) {
        options.onFirst();
      }
      n += 1;
      dueMs = startMs + schedule.next();
    }
    if (dueMs - startMs < plan.maxDurationMs) {
      timer = setTimeout(tick, Math.max(1, Math.floor(dueMs - now())));
    }
  }

  timer = setTimeout(tick, 0);
  return {
    stop: () => {
      if (timer !== null) {
        clearTimeout(timer);
      }
      if (immediate !== null) {
        clearImmediate(immediate);
      }
    },
  };
}
