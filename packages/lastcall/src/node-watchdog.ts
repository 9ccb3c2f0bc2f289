/** Starts the thread of `watchdog-worker.ts`. */

import { getHeapStatistics } from "node:v8";
import { isMainThread, Worker } from "node:worker_threads";
import type { Watchdog, WatchdogPlan } from "./watchdog.ts";
import { PulseMemory } from "./watchdog-memory.ts";

/** What the thread is started with. */
export interface WatchdogData extends WatchdogPlan {
  readonly buffer: SharedArrayBuffer;
}

/**
 * The limit that Node tells holds the space for young objects, which lasting ones do not get: 48 MiB in Node 20 and 22, 192 in
 * 24, 96 in 26. What is taken off too much makes small heaps count as full early, which costs next to nothing.
 */
const YOUNG_BYTES = 192 * 1024 * 1024;
const SMALLEST_BYTES = 32 * 1024 * 1024;

/** How much of its heap this thread uses, from 0 to 1. */
function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / Math.max(limit - YOUNG_BYTES, SMALLEST_BYTES);
}

export function startWatchdog(plan: WatchdogPlan, failed: (why: string) => void): Watchdog {
  if (!isMainThread) {
    // It would pause the main thread. A thread that is blocked is ended with the process, at the main thread's deadline.
    return { beat() {}, limit() {}, stop() {} };
  }
  const memory = new PulseMemory();
  startThread({ ...plan, buffer: memory.buffer }, failed);
  const instant = (limitMs: number): bigint =>
    process.hrtime.bigint() + BigInt(Math.ceil(Math.max(0, limitMs) * 1e6));
  return {
    beat: (limitMs, record) => memory.write(instant(limitMs), record, heapShare()),
    limit: (limitMs) => memory.limit(instant(limitMs)),
    stop: () => memory.stop(),
  };
}

/** Without it the deadline is held by the main thread alone, as long as that is not blocked. */
function startThread(workerData: WatchdogData, failed: (why: string) => void): void {
  try {
    // Without the program's own flags and environment: `--import` of whatever must not run here as well.
    const worker = new Worker(new URL("watchdog-worker.js", import.meta.url), {
      workerData,
      execArgv: [],
      env: {},
      name: "lastcall-watchdog",
    });
    worker.unref();
    worker.on("error", (error: Error) => failed(error.message));
  } catch (error) {
    // Node's permission model without `--allow-worker`, or a limit on threads: no reason to cut what is in flight.
    failed(error instanceof Error ? error.message : String(error));
  }
}
