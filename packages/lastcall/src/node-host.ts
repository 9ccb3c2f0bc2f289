/** The host of a real Node process: with its `node-*.ts` neighbours the only file that names `process`, timers and clocks. */

import { channel } from "node:diagnostics_channel";
import { existsSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { isMainThread, threadId } from "node:worker_threads";
import type { Host, Undo } from "./host.ts";
import { readAncestors } from "./node-ancestors.ts";
import { onShutdownMessage, tellParent } from "./node-channel.ts";
import { isClusterWorker, readWorkers } from "./node-cluster.ts";
import { holders } from "./node-holders.ts";
import { readZombies } from "./node-orphans.ts";
import { flushOutput, writeAll, writeRecord } from "./node-output.ts";
import { exitProcess, foreignListeners, interceptExit, interceptStops, onSignal } from "./node-signals.ts";
import { notifySystemd, readSystemdUnit } from "./node-systemd.ts";
import { watchThreads } from "./node-threads.ts";
import { startWatchdog } from "./node-watchdog.ts";
import { MIGRATION_SETTING } from "./platform/reuse-port.ts";

function on(event: string, listener: (...args: any[]) => void): Undo {
  process.on(event as "exit", listener);
  return () => void process.removeListener(event, listener);
}

function migratesConnections(): boolean {
  try {
    return readFileSync(MIGRATION_SETTING, "utf8").trim() === "1";
  } catch {
    // Not Linux, or older than the setting.
    return false;
  }
}

/** The host of this process. Makes nothing happen until it is used. */
export function nodeHost(): Host {
  return {
    now: () => performance.now(),
    wallTime: () => new Date().toISOString(),
    setTimer(ms, run, unref = false) {
      const timer = setTimeout(run, ms);
      if (unref) {
        timer.unref();
      }
      return () => clearTimeout(timer);
    },
    afterPoll(run) {
      // The first check phase may belong to the turn we are in; between the first and the second lies a poll.
      setImmediate(() => setImmediate(run));
    },
    onSignal,
    foreignListeners,
    interceptStops,
    interceptExit,
    onShutdownMessage,
    tellParent,
    onExit: (run) =>
      on("exit", (code: number) => {
        const here = new Error("exit");
        // Only an exit of the app's own is told with it, and to format it takes most of a millisecond.
        run(code, () => (here.stack ?? "").split("\n").slice(2).join("\n"));
      }),
    onEmptyLoop: (run) => on("beforeExit", run),
    onUncaught: (run) => on("uncaughtException", run),
    hasForeignUncaught: () => process.listenerCount("uncaughtException") > 1,
    writeLine(line) {
      writeAll(2, `${line}\n`, 0);
    },
    writeRecord(line, file) {
      // Output that is still queued has been cut somewhere: what follows would end up in the middle of its line.
      const cut = process.stdout.writableLength + process.stderr.writableLength > 0;
      writeRecord(line, file, cut);
    },
    flushOutput,
    holders,
    pendingExitCode: () => Number(process.exitCode ?? 0),
    fail(error) {
      throw error;
    },
    notifySystemd,
    cluster: readWorkers,
    watchThreads,
    startWatchdog,
    exit: exitProcess,
    publish(name, message) {
      const target = channel(name);
      if (target.hasSubscribers) {
        target.publish(message);
      }
    },
    env: process.env,
    facts: {
      pid: process.pid,
      node: process.version,
      runtime:
        process.versions["bun"] !== undefined
          ? "bun"
          : process.versions["deno"] !== undefined
            ? "deno"
            : "node",
      windows: process.platform === "win32",
      terminal: isatty(0),
      program: process.argv[1] ?? "",
      workerThread: !isMainThread,
      threadId,
      get clusterWorker() {
        return isClusterWorker();
      },
      systemdUnit: readSystemdUnit,
      fileExists: existsSync,
      ancestors: readAncestors,
      zombies: readZombies,
      migratesConnections,
    },
    registry: globalThis,
  };
}
