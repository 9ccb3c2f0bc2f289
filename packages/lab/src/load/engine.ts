/** The load engine as the main thread sees it: starts its thread, tells it to stop, and turns its batches into records. */

import { Worker } from "node:worker_threads";
import { LabError } from "../errors.ts";
import type { RequestRecord } from "../ledger/records.ts";
import { readBatch } from "./batch.ts";
import type { LoadEngine, LoadPlan } from "./load.ts";
import { createMix } from "./mix.ts";
import { deferred } from "./deferred.ts";
import type { FromWorker, ToWorker, WorkerInput } from "./worker.ts";

function assertSound(plan: LoadPlan): void {
  const { ratePerSecond } = plan.arrivals;
  const problem = !(ratePerSecond > 0 && Number.isFinite(ratePerSecond))
    ? `a rate of ${ratePerSecond} requests/s is not above 0`
    : plan.mix.length === 0
      ? "it has no request template"
      : plan.mix.some((template) => !(template.weight > 0))
        ? "a template's weight is not above 0"
        : plan.mix.some((template) => !template.path.startsWith("/") || /[\s\r\n]/.test(template.path))
          ? "a path must begin with / and hold no white space"
          : !(plan.timeoutMs > 0 && plan.maxDurationMs > 0)
            ? "timeoutMs and maxDurationMs must be above 0"
            : null;
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
  const input: WorkerInput = { plan, clockBaseMs };
  const started = deferred();
  const stopped = deferred();
  let over = false;
  let worker: Worker | null = null;

  function tell(message: ToWorker): void {
    worker?.postMessage(message, []);
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
        over = true;
        // A run that was stopped before its first request has still begun.
        started.resolve();
        stopped.resolve();
    }
  }

  return {
    start: () => {
      if (worker === null) {
        worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: input, name: "load" });
        worker.on("message", onMessage);
        worker.on("error", (error) => failed(error.message, error));
        worker.on("exit", (code) => failed(`exit code ${code}`));
        tell({ kind: "start" });
      }
      return started.promise;
    },
    stop: () => {
      if (worker === null) {
        return Promise.resolve();
      }
      tell({ kind: "stop" });
      return stopped.promise;
    },
    abort: async () => {
      over = true;
      started.resolve();
      stopped.resolve();
      await worker?.terminate();
    },
    onRecords: (listener) => void listeners.push(listener),
  };
}
