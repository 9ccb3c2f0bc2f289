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
 * So many new connections in a millisecond, beside those that are free. To open one costs either side as much as some requests: a
 * flood of them after a short stall, whoever had it, would be a longer stall, and so on. Up to this rate nothing ever waits for it;
 * above, what waits has its dispatch lag to show for it.
 */
const NEW_PER_MS = 4;

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
  let sent = 0;
  let dueMs = due(share.index);
  let timer: NodeJS.Timeout | null = null;
  let immediate: NodeJS.Immediate | null = null;
  let openedMs = Number.NEGATIVE_INFINITY;

  function slice(currentMs: number): number {
    if (options.free === undefined) {
      return SLICE;
    }
    const free = Math.min(SLICE, options.free());
    if (currentMs - openedMs < 1) {
      return free;
    }
    openedMs = currentMs;
    return free + NEW_PER_MS;
  }

  function tick(): void {
    timer = null;
    immediate = null;
    const currentMs = now();
    const allowed = slice(currentMs);
    if (allowed === 0) {
      timer = setTimeout(tick, 1);
      return;
    }
    const sliceEnd = sent + allowed;
    // All that is due goes out, also after a stall of ours: its intended time stays, so that the stall shows as lag.
    while (dueMs <= currentMs && dueMs - startMs < plan.maxDurationMs) {
      if (sent === sliceEnd) {
        immediate = setImmediate(tick);
        return;
      }
      send(n, dueMs);
      sent += 1;
      if (sent === 1) {
        options.onFirst();
      }
      n += share.count;
      dueMs = due(share.count - 1);
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
