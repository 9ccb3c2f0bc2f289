/** The load engine as the main thread sees it: starts its thread, tells it to stop, and turns its batches into records. */

import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { LabError } from "../errors.ts";
import { startRunClock } from "../ledger/clock.ts";
import type { RequestRecord } from "../ledger/records.ts";
import { readBatch } from "./batch.ts";
import type { LoadEngine, LoadPlan, RequestTemplate } from "./load.ts";
import { createMix } from "./mix.ts";
import { deferred } from "./deferred.ts";
import type { FromWorker, ToWorker, WorkerInput } from "./worker.ts";

const LEAVE_WITHIN_MS = 2000;

function rateProblem({ arrivals }: LoadPlan): string | null {
  const rates = arrivals.kind === "steps" ? arrivals.steps : [arrivals];
  const isRate = (rate: number): boolean => rate > 0 && Number.isFinite(rate);
  if (arrivals.kind !== "steps") {
    const { ratePerSecond } = arrivals;
    return isRate(ratePerSecond) ? null : `a rate of ${ratePerSecond} requests/s is not above 0`;
  }
  if (!rates.some(({ ratePerSecond }) => isRate(ratePerSecond))) {
    return "none of its steps has a rate above 0";
  }
  return arrivals.steps.every(
    ({ ratePerSecond, forMs }) => (ratePerSecond === 0 || isRate(ratePerSecond)) && forMs > 0,
  )
    ? null
    : "a step's rate is below 0, or its time is not above 0";
}

function templateProblem({
  path,
  weight,
  body,
  upload,
  eventsForMs,
  webSocket,
  protocol,
  method,
}: RequestTemplate): string | null {
  if (!(weight > 0)) {
    return "a template's weight is not above 0";
  }
  if (!path.startsWith("/") || /[\s\r\n]/.test(path)) {
    return "a path must begin with / and hold no white space";
  }
  if (upload !== undefined) {
    if (!(upload.bytes > 0 && upload.pieceBytes > 0 && upload.everyMs >= 0)) {
      return "an upload needs bytes and pieceBytes above 0, and everyMs of 0 or above";
    }
    if (body !== null || eventsForMs !== undefined || method !== "POST") {
      return "an upload is the body of a POST, and nothing else can be it too";
    }
  }
  if (webSocket !== undefined) {
    if (!(webSocket.forMs > 0 && webSocket.everyMs > 0)) {
      return "a WebSocket needs forMs and everyMs above 0";
    }
    if (protocol === "h2" || method !== "GET" || body !== null || eventsForMs !== undefined) {
      return "a WebSocket is opened by a GET of HTTP/1.1 without a body";
    }
  }
  return eventsForMs !== undefined && !(eventsForMs > 0) ? "eventsForMs is not above 0" : null;
}

function assertSound(plan: LoadPlan): void {
  const workers = plan.workers ?? 1;
  const problem =
    rateProblem(plan) ??
    (plan.mix.length === 0 ? "it has no request template" : null) ??
    plan.mix.map(templateProblem).find((one) => one !== null) ??
    (!(plan.timeoutMs > 0 && plan.maxDurationMs > 0)
      ? "timeoutMs and maxDurationMs must be above 0"
      : null) ??
    (!(Number.isInteger(workers) && workers >= 1 && workers <= 64) ? "workers must be 1 to 64" : null);
  if (problem !== null) {
    throw new LabError("LAB_LOAD_PLAN", `The load plan cannot be run: ${problem}.`, "Correct the plan.");
  }
}

/**
 * Makes an engine that has not begun. `clockBaseMs` is `baseMs` of the run's clock: all times of the records count from it.
 * Errors: `LAB_LOAD_PLAN` at once for a plan that makes no sense; `LAB_LOAD_ENGINE` from `start` and `stop` when its thread dies.
 */
export function createLoadEngine(plan: LoadPlan, clockBaseMs: number): LoadEngine {
  assertSound(plan);
  const mix = createMix(plan);
  const listeners: ((batch: readonly RequestRecord[]) => void)[] = [];
  const count = plan.workers ?? 1;
  const clock = startRunClock(clockBaseMs);
  const started = deferred();
  const stopped = deferred();
  let over = false;
  let workers: readonly Worker[] = [];
  const exits: Promise<void>[] = [];
  let up = 0;
  let done = 0;

  function tell(message: ToWorker): void {
    for (const worker of workers) {
      worker.postMessage(message, []);
    }
  }

  function failed(reason: string, cause?: unknown): void {
    if (over) {
      return;
    }
    const error = new LabError(
      "LAB_LOAD_ENGINE",
      `The load engine's thread ended by itself: ${reason}.`,
      "Run it again; if it happens again, report it with this message.",
      { cause },
    );
    started.reject(error);
    stopped.reject(error);
  }

  function onMessage(message: FromWorker): void {
    switch (message.kind) {
      case "up":
        up += 1;
        if (up === count) {
          tell({ kind: "start", atMs: clock.now() });
        }
        break;
      case "started":
        started.resolve();
        break;
      case "batch": {
        const records = readBatch(message.batch, mix);
        for (const listener of listeners) {
          listener(records);
        }
        break;
      }
      case "stopped":
        done += 1;
        if (done === count) {
          over = true;
          // A run that was stopped before its first request has still begun.
          started.resolve();
          stopped.resolve();
        }
    }
  }

  function startWorker(index: number): Worker {
    const input: WorkerInput = { plan, clockBaseMs, index };
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: input, name: "load" });
    let left = false;
    worker.on("message", (message: FromWorker) => {
      left ||= message.kind === "stopped";
      onMessage(message);
    });
    worker.on("error", (error) => failed(error.message, error));
    exits.push(
      new Promise((resolve) => {
        worker.once("exit", (code) => {
          if (!left) {
            failed(`exit code ${code}`);
          }
          resolve();
        });
      }),
    );
    return worker;
  }

  return {
    start: () => {
      if (workers.length === 0) {
        workers = Array.from({ length: count }, (_, index) => startWorker(index));
      }
      return started.promise;
    },
    stop: () => {
      if (workers.length === 0) {
        return Promise.resolve();
      }
      tell({ kind: "stop" });
      return stopped.promise;
    },
    abort: async () => {
      over = true;
      started.resolve();
      stopped.resolve();
      if (workers.length > 0 && done === count) {
        // They are on their way out, and a thread that is terminated while its sockets close may spin for ever (seen with Node 20).
        await Promise.race([Promise.all(exits), sleep(LEAVE_WITHIN_MS)]);
      }
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
    onRecords: (listener) => void listeners.push(listener),
  };
}
