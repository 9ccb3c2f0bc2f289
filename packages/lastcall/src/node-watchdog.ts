/** Starts the thread of `watchdog-worker.ts`. */

import { Worker } from "node:worker_threads";
import { PulseMemory, type Watchdog, type WatchdogPlan } from "./watchdog.ts";

/** What the thread is started with. */
export interface WatchdogData extends WatchdogPlan {
  readonly buffer: SharedArrayBuffer;
}

export function startWatchdog(plan: WatchdogPlan): Watchdog {
  const memory = new PulseMemory();
  const workerData: WatchdogData = { ...plan, buffer: memory.buffer };
  // Without the program's own flags and environment: `--import` of whatever must not run here as well.
  const worker = new Worker(new URL("watchdog-worker.js", import.meta.url), {
    workerData,
    execArgv: [],
    env: {},
    name: "lastcall-watchdog",
  });
  worker.unref();
  worker.on("error", () => {
    // Without it the deadline is held by the main thread alone, as long as that is not blocked.
  });
  const instant = (limitMs: number): bigint =>
    process.hrtime.bigint() + BigInt(Math.ceil(Math.max(0, limitMs) * 1e6));
  return {
    beat: (limitMs, record) => memory.write(instant(limitMs), record),
    limit: (limitMs) => memory.limit(instant(limitMs)),
    stop: () => memory.stop(),
  };
}
