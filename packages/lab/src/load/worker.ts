/** The load engine's own thread: client, open loop and batches wired together. Run by engine.ts, never imported. */

import { parentPort, workerData } from "node:worker_threads";
import { startRunClock } from "../ledger/clock.ts";
import { highestRate } from "./arrivals.ts";
import { BatchWriter, type Batch } from "./batch.ts";
import { createClient } from "./clients.ts";
import type { Exchange } from "./exchange.ts";
import type { LoadPlan } from "./load.ts";
import { createMix } from "./mix.ts";
import { startOpenLoop, type OpenLoop } from "./open-loop.ts";
import { HIGH_RATE, warmUp } from "./warm-up.ts";
import { raisePriority } from "../priority.ts";

export interface WorkerInput {
  readonly plan: LoadPlan;
  readonly clockBaseMs: number;
  /** Which of the plan's workers this is, from 0. */
  readonly index: number;
}

/** `atMs`: when the load begins, on the run's clock, the same for all workers. */
export type ToWorker = { readonly kind: "start"; readonly atMs: number } | { readonly kind: "stop" };
export type FromWorker =
  /** It is there, and waits for its start. */
  | { readonly kind: "up" }
  | { readonly kind: "started" }
  | { readonly kind: "batch"; readonly batch: Batch }
  | { readonly kind: "stopped" };

const BATCH_SIZE = 512;
/** How long a finished request may wait for company: short enough for a live view. */
const BATCH_WAIT_MS = 50;

/**
 * At a high rate the first requests would all open connections, faster than a service accepts them, and the load would begin with a
 * stall that is nobody's fault. Connections for the first milliseconds are there already.
 */
const FIRST_MS = 10;

raisePriority();
if (parentPort === null) {
  throw new Error("worker.js is a thread of the load engine and cannot run alone.");
}
const port = parentPort;
const { plan, clockBaseMs, index } = workerData as WorkerInput;
const count = plan.workers ?? 1;
const clock = startRunClock(clockBaseMs);
const now = (): number => clock.now();
const mix = createMix(plan);
const finished = new BatchWriter(BATCH_SIZE);
let flushTimer: NodeJS.Timeout | null = null;
let loop: OpenLoop | null = null;
let stopping = false;

function post(message: FromWorker): void {
  port.postMessage(message, message.kind === "batch" ? [message.batch.numbers.buffer] : []);
}

function flush(): void {
  if (flushTimer !== null) {
    clearTimeout(flushTimer);
    flushTimer = null;
  }
  if (finished.count > 0) {
    post({ kind: "batch", batch: finished.take() });
  }
}

function stopWhenDone(): void {
  if (stopping && client.open === 0) {
    flush();
    client.close();
    post({ kind: "stopped" });
    port.close();
  }
}

const addresses = { host: plan.host, port: plan.port, keepAlive: plan.keepAlive, timeoutMs: plan.timeoutMs };
const ratePerSecond = highestRate(plan.arrivals) / count;
if (ratePerSecond >= HIGH_RATE) {
  await warmUp(async (change, onEnd) => {
    const spare = new BatchWriter(BATCH_SIZE);
    const cold = { ...plan, ...change };
    return createClient(cold, createMix(cold), {
      ...addresses,
      ...change,
      now,
      onEnd: (exchange) => {
        spare.add(exchange);
        if (spare.full) {
          spare.take();
        }
        onEnd();
      },
    });
  }, now).catch(() => undefined); // A cold engine is slow, not wrong.
}
const client = await createClient(plan, mix, {
  ...addresses,
  now,
  onEnd: (exchange: Exchange) => {
    // One number for each connection of the run, whichever worker made it.
    exchange.connectionId = exchange.connectionId * count - (count - 1 - index);
    finished.add(exchange);
    if (finished.full) {
      flush();
    } else {
      flushTimer ??= setTimeout(flush, BATCH_WAIT_MS);
    }
    stopWhenDone();
  },
});
if (ratePerSecond >= HIGH_RATE) {
  await client.connect?.(Math.ceil((ratePerSecond * FIRST_MS) / 1000));
}

port.on("message", (message: ToWorker) => {
  switch (message.kind) {
    case "start":
      loop ??= startOpenLoop({
        plan,
        send: client.send,
        now,
        ...(client.free === undefined ? {} : { free: client.free }),
        startMs: message.atMs,
        share: { index, count },
        onFirst: () => post({ kind: "started" }),
      });
      break;
    case "stop":
      loop?.stop();
      stopping = true;
      client.stop?.();
      stopWhenDone();
  }
});

post({ kind: "up" });
