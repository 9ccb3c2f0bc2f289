/** The host of a real Node process: with its `node-*.ts` neighbours the only file that names `process`, timers and clocks. */

import { channel } from "node:diagnostics_channel";
import { existsSync, fstatSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { isMainThread, threadId } from "node:worker_threads";
import type { Host, Undo } from "./host.ts";
import { readAncestors } from "./node-ancestors.ts";
import { isClusterWorker, readWorkers } from "./node-cluster.ts";
import { readZombies } from "./node-orphans.ts";
import { writeAll, writeRecord } from "./node-output.ts";
import {
  exitProcess,
  foreignListeners,
  interceptExit,
  interceptStops,
  onShutdownMessage,
  onSignal,
  tellParent,
} from "./node-signals.ts";
import { notifySystemd, readSystemdUnit } from "./node-systemd.ts";
import { watchThreads } from "./node-threads.ts";
import { startWatchdog } from "./node-watchdog.ts";
import { MIGRATION_SETTING } from "./platform/reuse-port.ts";

function on(event: string, listener: (...args: any[]) => void): Undo {
  process.on(event as "exit", listener);
  return () => void process.removeListener(event, listener);
}

interface ReportedHandle {
  readonly type: string;
  readonly is_active?: boolean;
  readonly is_referenced?: boolean;
  readonly fd?: number;
  readonly pid?: number;
  readonly filename?: string;
  readonly localEndpoint?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly remoteEndpoint?: { readonly host?: string; readonly port?: number } | null;
}

function nameHandle(handle: ReportedHandle): string | null {
  if (handle.is_active !== true || handle.is_referenced !== true || (handle.fd ?? 3) <= 2) {
    return null;
  }
  const local = handle.localEndpoint;
  const remote = handle.remoteEndpoint;
  switch (handle.type) {
    case "tcp":
      return remote
        ? `tcp to ${remote.host}:${remote.port}`
        : `tcp listening on ${local?.host ?? "?"}:${local?.port ?? "?"}`;
    case "pipe":
      return `pipe ${local?.path ?? ""}`.trim();
    case "process":
      return `child process ${handle.pid}`;
    case "fs_event":
    case "fs_poll":
      return `watch on ${handle.filename ?? "a file"}`;
    case "udp":
      return `udp socket ${local?.port ?? ""}`.trim();
    default:
      return null;
  }
}

/** Resources that keep nothing open, or are counted below. */
const HARMLESS: ReadonlySet<string> = new Set([
  "CloseReq",
  "Immediate",
  "PipeWrap",
  "TTYWrap",
  "TickObject",
  "Timeout",
]);

/** Standard streams that are pipes. */
function standardPipes(): number {
  const streams = [0, 1, 2].filter((fd) => {
    try {
      const stat = fstatSync(fd);
      return stat.isFIFO() || stat.isSocket();
    } catch {
      return false;
    }
  });
  return streams.length;
}

/** How many pipes are open beside the channel to a parent. */
function openPipes(types: readonly string[]): number {
  const channels = process.channel === undefined ? 0 : 1;
  return types.filter((type) => type === "PipeWrap").length - channels;
}

/** Most stops leave nothing open; asking for that costs microseconds, and a report costs 3 to 8 ms of every exit. */
function isAnythingOpen(types: readonly string[]): boolean {
  const pipes = openPipes(types);
  return types.some((type) => !HARMLESS.has(type)) || (pipes > 0 && pipes > standardPipes());
}

function holders(clients: number): readonly string[] {
  const sockets = (type: string): boolean => type === "TCPSocketWrap";
  const all = process.getActiveResourcesInfo();
  const others = all.filter(sockets).length - clients;
  // Which sockets are the clients' a report does not tell: beside them, the others are counted.
  const types = clients === 0 ? all : all.filter((type) => !sockets(type));
  const names = isAnythingOpen(types)
    ? reportedHandles().filter((name) => clients === 0 || !name.startsWith("tcp to"))
    : [];
  if (clients > 0 && others > 0) {
    names.push(`${others} other tcp socket${others === 1 ? "" : "s"}`);
  }
  const timers = types.filter((type) => type === "Timeout").length;
  if (timers > 0) {
    names.push(`${timers} timer${timers === 1 ? "" : "s"}`);
  }
  return names;
}

function reportedHandles(): string[] {
  const names: string[] = [];
  // Both switches leave out what costs milliseconds or leaks: DNS names of peers and the environment.
  const report = process.report as { excludeNetwork?: boolean; getReport(): object };
  const networkBefore = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    const handles = (report.getReport() as { libuv?: readonly ReportedHandle[] }).libuv ?? [];
    names.push(...handles.map(nameHandle).filter((name) => name !== null));
  } catch {
    // A report that cannot be made costs us names, nothing else.
  }
  if (networkBefore !== undefined) {
    report.excludeNetwork = networkBefore;
  }
  return names;
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
    async flushOutput(ms) {
      const open = process.getActiveResourcesInfo();
      if (openPipes(open) === 0 && !open.includes("TTYWrap")) {
        // Nobody has touched the streams, or they are files, which are written at once. Touching them would make them,
        // which costs 2 to 5 ms of an exit.
        return;
      }
      const giveUpAt = performance.now() + ms;
      const queued = (): boolean => process.stdout.writableLength + process.stderr.writableLength > 0;
      while (queued() && performance.now() < giveUpAt) {
        await new Promise((resolve) => {
          setTimeout(resolve, 2);
        });
      }
    },
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
