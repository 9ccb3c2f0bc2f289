/** Lines of HAProxy's access log, in the format that the lab sets, as witnesses: by request id, and classified where something failed. */

import type { RouterLine, RouterLogRecord } from "../ledger/records.ts";
import type { LogClass } from "./log-class.ts";

/** One line as it stands in the log; `id`, `request`, `status` and `responseMs` only where HAProxy sees requests. */
interface Line {
  readonly at: number;
  readonly id?: string;
  readonly request?: string;
  readonly status?: number;
  /** The address of the last server that it tried, which is its name; `<NOSRV>`. */
  readonly server: string;
  readonly termination: string;
  /** `+1`: the last of them went to another server. */
  readonly retries: string;
  /** -1: it did not come so far. */
  readonly connectMs: number;
  readonly responseMs?: number;
  readonly activeMs: number;
  readonly bytes: number;
}

/**
 * By the termination state: what came to an end first (S the server, s its timeout, D the server was taken out, ...) and
 * where (C connect, H head, D body). Null: nothing failed, or the client left.
 */
export function classOfTermination(termination: string, server: string): LogClass | null {
  const [first = "-", where = "-"] = termination;
  switch (first) {
    case "-":
    case "C":
    case "c":
    case "L":
      return null;
    case "S":
      if (server === "<NOSRV>") {
        return "no-upstream";
      }
      return where === "C" ? "connect-refused" : "upstream-closed";
    case "s":
      return server === "<NOSRV>" ? "no-upstream" : "timeout";
    case "D":
    case "K":
    case "U":
      return "cut-by-router";
    case "P":
      return where === "H" ? "no-http" : "other";
    case "R":
      return "router-limit";
    default:
      return "other";
  }
}

function parse(text: string): Line | null {
  if (!text.startsWith("{")) {
    return null; // HAProxy's own remarks.
  }
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null; // A line that is still being written, or one that was too long.
  }
}

const known = (ms: number | undefined): number | null => (ms === undefined || ms < 0 ? null : ms);

export interface HaproxyLog {
  readonly byId: ReadonlyMap<string, RouterLine>;
  readonly failures: readonly RouterLogRecord[];
}

/** `zeroMs`: the run's time zero on the wall clock. */
export function readHaproxyLog(text: string, zeroMs: number): HaproxyLog {
  const byId = new Map<string, RouterLine>();
  const failures: RouterLogRecord[] = [];
  for (const raw of text.split("\n")) {
    const line = parse(raw);
    if (line === null) {
      continue;
    }
    // HAProxy writes a minus for what a request does not have.
    const { id = "-", request, server, termination, status = -1 } = line;
    const kind = classOfTermination(termination, server);
    const retries = Number(line.retries.replace("+", "")) || 0;
    const atMs = line.at - zeroMs;
    if (id !== "-") {
      byId.set(id, {
        atMs,
        status: status < 0 ? null : status,
        tries:
          server === "<NOSRV>"
            ? []
            : [
                {
                  address: server,
                  // What HAProxy answers itself is no word of the server's.
                  status: kind === null && status >= 0 ? status : null,
                  connectMs: known(line.connectMs),
                  responseMs: known(line.responseMs),
                },
              ],
        retries,
        termination,
        class: kind,
        bytes: line.bytes,
      });
    }
    if (kind !== null) {
      const said = [
        `${termination} after ${line.activeMs} ms`,
        status > 0 ? `answered ${status}` : "no answer",
        `retries ${line.retries}`,
        ...(server === "<NOSRV>" ? [] : [`upstream: "${server}"`]),
        ...(request === undefined ? [] : [`request: "${request}"`]),
      ];
      failures.push({ kind: "router-log", atMs, class: kind, text: said.join(", ") });
    }
  }
  return { byId, failures };
}
