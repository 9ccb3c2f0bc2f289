/** What keeps the event loop of this process open, by name: for the record of a process that does not end by itself. */

import { fstatSync } from "node:fs";
import { openPipes } from "./node-output.ts";

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

/** Most stops leave nothing open; asking for that costs microseconds, and a report costs 3 to 8 ms of every exit. */
function isAnythingOpen(types: readonly string[]): boolean {
  const pipes = openPipes(types);
  return types.some((type) => !HARMLESS.has(type)) || (pipes > 0 && pipes > standardPipes());
}

/** Named, but for what belongs to `clients`, the connections of our own servers. */
export function holders(clients: number): readonly string[] {
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
