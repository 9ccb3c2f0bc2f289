/** The open loop: sends each request when it is due, whatever became of the earlier ones, until it is told to stop. */

import { createSchedule } from "./arrivals.ts";
import type { LoadPlan } from "./load.ts";

export interface OpenLoop {
  /** Sends no more. */
  stop(): void;
}

export interface OpenLoopOptions {
  readonly plan: LoadPlan;
  readonly send: (n: number, intendedMs: number) => void;
  /** Which share of the arrivals this loop sends: all but `index` of every `count` are those of others. */
  readonly share?: { readonly index: number; readonly count: number };
  readonly now: () => number;
  /** How many could be sent now without a new connection; absent where the client does not tell. */
  readonly free?: () => number;
  /** From when the arrivals count; default: now. */
  readonly startMs?: number;
  /** The first request of this loop has been dispatched. */
  readonly onFirst: () => void;
}

/**
 * Many requests may be due at once, after a stall of ours say. Between slices of them the answers are read: it holds nothing back
 * that a server could notice, and without it each late request would open a new connection while free ones lie unread.
 */
const SLICE = 32;
/**
 * So many new connections in a millisecond, beside those that are free, and so many at once after a while without any. To open one
 * costs either side as much as some requests: a flood of them after a short stall, whoever had it, would be a longer stall, and so on.
 * Up to this rate nothing ever waits for it; above, what waits has its dispatch lag to show for it.
 */
const NEW_PER_MS = 8;
const NEW_AT_ONCE = 64;
/** Who is so late that connections are what keeps it busy opens fewer, and sends on those that come free. */
const LATE_MS = 10;
const NEW_PER_MS_LATE = 2;

export function startOpenLoop(options: OpenLoopOptions): OpenLoop {
  const { plan, send, now, share = { index: 0, count: 1 } } = options;
  const startMs = options.startMs ?? now();
  const schedule = createSchedule(plan.arrivals, plan.seed);
  /** The next arrival of ours. */
  const due = (skipped: number): number => {
    for (let other = 0; other < skipped; other += 1) {
      schedule.next();
    }
    return startMs + schedule.next();
  };
  let n = share.index;
  let dueMs = due(share.index);
  let timer: NodeJS.Timeout | null = null;
  let immediate: NodeJS.Immediate | null = null;
  /** New connections that may be opened now. */
  let openings = NEW_AT_ONCE;
  let lookedMs = startMs;

  const isDue = (currentMs: number): boolean => dueMs <= currentMs && dueMs - startMs < plan.maxDurationMs;

  function tick(): void {
    timer = null;
    immediate = null;
    const currentMs = now();
    const free = options.free?.() ?? SLICE;
    const perMs = currentMs - dueMs > LATE_MS ? NEW_PER_MS_LATE : NEW_PER_MS;
    openings = Math.min(NEW_AT_ONCE, openings + (currentMs - lookedMs) * perMs);
    lookedMs = currentMs;
    const allowed = Math.min(SLICE, free + Math.floor(openings));
    let left = allowed;
    // All that is due goes out, also after a stall of ours: its intended time stays, so that the stall shows as lag.
    while (left > 0 && isDue(currentMs)) {
      send(n, dueMs);
      left -= 1;
      if (n === share.index) {
        options.onFirst();
      }
      n += share.count;
      dueMs = due(share.count - 1);
    }
    openings -= Math.max(0, allowed - left - free);
    if (isDue(currentMs)) {
      if (allowed > 0) {
        immediate = setImmediate(tick);
      } else {
        timer = setTimeout(tick, 1);
      }
    } else if (dueMs - startMs < plan.maxDurationMs) {
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
