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
  /** The plan's longest duration is over: no more is sent. */
  readonly onOver: () => void;
}

export function startOpenLoop(options: OpenLoopOptions): OpenLoop {
  const { plan, mix, client, now } = options;
  const startMs = now();
  const schedule = createSchedule(plan.arrivals, plan.seed);
  let n = 0;
  let dueMs = startMs + schedule.next();
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    const currentMs = now();
    // Everything that is due goes out now, also after a stall of ours: its intended time stays, so the stall shows as lag.
    while (dueMs <= currentMs && dueMs - startMs < plan.maxDurationMs) {
      client.send(n, dueMs, mix.wire(n));
      if (n === 0) {
        options.onFirst();
      }
      n += 1;
      dueMs = startMs + schedule.next();
    }
    if (dueMs - startMs >= plan.maxDurationMs) {
      timer = null;
      options.onOver();
      return;
    }
    timer = setTimeout(tick, Math.max(1, Math.floor(dueMs - now())));
  }

  timer = setTimeout(tick, 0);
  return {
    stop: () => {
      if (timer !== null) {
        clearTimeout(timer);
        timer = null;
      }
    },
  };
}
