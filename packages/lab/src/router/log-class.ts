/** The few classes of a router's failures that a verdict needs, and lines of nginx's error log -> one of them. What the client saw is the truth. */

export type LogClass =
  | "connect-refused"
  | "upstream-closed"
  | "reset"
  | "timeout"
  | "no-upstream"
  | "no-http"
  | "router-limit"
  /** The router itself ended it, because it had dropped the copy. */
  | "cut-by-router"
  | "other";

const PATTERNS: readonly (readonly [RegExp, LogClass])[] = [
  [/no live upstreams/, "no-upstream"],
  [/connect\(\) failed \((?:111|61):|Connection refused\) while connecting to upstream/, "connect-refused"],
  [/upstream sent (?:invalid header|no valid HTTP|too big header)|upstream sent invalid/, "no-http"],
  // EMFILE, ENFILE, EADDRNOTAVAIL, ENOBUFS: the router's own want, and no fault of the service.
  [/failed \((?:24|23|99|105): |worker_connections are not enough/, "router-limit"],
  [/upstream prematurely closed/, "upstream-closed"],
  [/(?:recv|send|readv|writev)\(\) failed \((?:104|54|32):|Connection reset by peer|Broken pipe/, "reset"],
  [/upstream timed out/, "timeout"],
];

/** Null for what is no error: notices, and the header of a line that says so. */
export function classifyLogLine(line: string): LogClass | null {
  const level = /\[(debug|info|notice|warn|error|crit|alert|emerg)\]/.exec(line)?.[1];
  if (level === undefined || level === "debug" || level === "info" || level === "notice") {
    return null;
  }
  return PATTERNS.find(([pattern]) => pattern.test(line))?.[1] ?? (level === "warn" ? null : "other");
}
