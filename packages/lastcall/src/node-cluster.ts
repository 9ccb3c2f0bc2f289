/** The real cluster of this process. Asked at a stop only: nobody loads `node:cluster` for us before. */

import type { Worker } from "node:cluster";
import { onServingThread, servingThreads } from "./node-threads.ts";
import type { Cluster, ClusterWorker } from "./platform/cluster.ts";

/** The builtin as CommonJS sees it, without the wrapper of a module. */
type CommonCluster = (typeof import("node:cluster"))["default"];
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** A cluster's workers and the worker threads with a lifecycle. Null in a process that has neither. */
export function readWorkers(): Cluster | null {
  const cluster = readCluster();
  const threads = servingThreads();
  if (cluster === null && threads.length === 0) {
    return null;
  }
  return {
    workers: [...(cluster?.workers ?? []), ...threads],
    holdRestarts(started) {
      const undo = [cluster?.holdRestarts(started), onServingThread(started)];
      return () => undo.forEach((remove) => remove?.());
    },
  };
}

export function readCluster(): Cluster | null {
  const cluster = load();
  if (!cluster.isPrimary) {
    return null;
  }
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  if (workers.length === 0) {
    return null;
  }
  return {
    workers: workers.map(describe),
    holdRestarts(started) {
      const emit = cluster.emit as Emit;
      const holding = function holding(this: unknown, event: string | symbol, ...args: unknown[]): boolean {
        return event === "exit" || event === "disconnect"
          ? false
          : Reflect.apply(emit, this, [event, ...args]);
      };
      cluster.emit = holding as typeof cluster.emit;
      const onFork = (worker: Worker): void => started(describe(worker));
      // Once it is online it can hear a signal.
      cluster.on("online", onFork);
      return () => {
        cluster.emit = emit as typeof cluster.emit;
        cluster.removeListener("online", onFork);
      };
    },
  };
}

export function isClusterWorker(): boolean {
  return load().isWorker;
}

function load(): CommonCluster {
  return process.getBuiltinModule("node:cluster") as unknown as CommonCluster;
}

function describe(worker: Worker): ClusterWorker {
  const child = worker.process;
  return {
    name: `cluster worker ${worker.id} (pid ${child.pid})`,
    signal: (signal) => void child.kill(signal),
    onEnd(run) {
      if (child.exitCode !== null || child.signalCode !== null) {
        run(howItEnded(child.exitCode, child.signalCode));
      } else {
        child.once("exit", (code, signal) => run(howItEnded(code, signal)));
      }
    },
  };
}

function howItEnded(code: number | null, signal: NodeJS.Signals | null): string | null {
  return code === 0 ? null : code === null ? String(signal) : `exit code ${code}`;
}
