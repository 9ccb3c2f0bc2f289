/** Lines of Caddy's access log and its remarks on each try, both JSON, as witnesses: by request id, and classified where something failed. */

import type { RouterLine, RouterLogRecord, RouterTry } from "../ledger/records.ts";
import type { LogClass } from "./log-class.ts";
import { isWorthKeeping } from "./log-pieces.ts";

interface Request {
  readonly method?: string;
  readonly uri?: string;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

interface Line {
  readonly level?: string;
  /** Seconds since 1970. */
  readonly ts?: number;
  readonly logger?: string;
  readonly msg?: string;
  readonly error?: string;
  readonly request?: Request;
  readonly status?: number;
  readonly size?: number;
  readonly duration?: number;
  readonly host?: string;
  readonly upstream?: string;
  readonly resp_headers?: Readonly<Record<string, readonly string[]>>;
}

export function parseLine(text: string): Line | null {
  if (!text.startsWith("{")) {
    return null;
  }
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null; // Still being written.
  }
}

const PATTERNS: readonly (readonly [RegExp, LogClass])[] = [
  [/no upstreams available/, "no-upstream"],
  [/connection refused/, "connect-refused"],
  [/timeout|deadline exceeded/i, "timeout"],
  [/connection reset by peer|broken pipe/, "reset"],
  [/EOF|server closed idle connection|unexpected EOF/, "upstream-closed"],
];

/** Null for a client that left. */
function classOfError(text: string): LogClass | null {
  if (text.includes("context canceled")) {
    return null;
  }
  return PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? "other";
}

/** Of a line that Caddy writes beside its access log. Null for what is no failure of a request: its notices. */
export function classifyLine(line: Line): LogClass | null {
  // The head was out when the copy failed: no answer of Caddy's own, so no line of the access log says so.
  return line.msg === "aborting with incomplete response" ? classOfError(line.error ?? "") : null;
}

/** In the words by which the verdict finds request and upstream. */
export function wordsOf(line: Line, error: string): string {
  const address = upstreamOf(line, error);
  const { method = "", uri = "" } = line.request ?? {};
  return [
    error,
    ...(line.status === undefined ? [] : [`answered ${line.status}`]),
    ...(address === "" ? [] : [`upstream: "${address}"`]),
    ...(uri === "" ? [] : [`request: "${method} ${uri}"`]),
  ].join(", ");
}

function upstreamOf(line: Line, error: string): string {
  const told = line.resp_headers?.["X-Lastcall-Upstream"]?.[0]?.split("|")[0] ?? "";
  return told === "" ? (line.upstream ?? /dial tcp ([\d.]+:\d+)/.exec(error)?.[1] ?? "") : told;
}

export interface CaddyLog {
  readonly byId: ReadonlyMap<string, RouterLine>;
  readonly failures: readonly RouterLogRecord[];
}

interface Tries {
  readonly tries: RouterTry[];
  class: LogClass | null;
}

export interface CaddyReader {
  /** Lines of the remarks on each try; all of them before those of the access log. */
  remarks(text: string): void;
  access(text: string): void;
  readonly log: CaddyLog;
}

/** `zeroMs`: the run's time zero on the wall clock. Of requests that nobody asks for only what went wrong is kept. */
export function createCaddyReader(zeroMs: number, asked: (id: string) => boolean): CaddyReader {
  const byId = new Map<string, RouterLine>();
  const failures: RouterLogRecord[] = [];
  const tries = new Map<string, Tries>();

  function remark(line: Line): void {
    const { error = "", duration } = line;
    const kind = error === "" ? null : classOfError(error);
    const id = line.request?.headers?.["X-Request-Id"]?.[0];
    if (kind !== null) {
      const atMs = (line.ts ?? 0) * 1000 - zeroMs;
      failures.push({ kind: "router-log", atMs, class: kind, text: wordsOf(line, error) });
    }
    // Another try follows only one that failed.
    if (id !== undefined && (error !== "" || tries.has(id) || asked(id))) {
      const known = tries.get(id) ?? { tries: [], class: null };
      tries.set(id, known);
      known.class = kind;
      known.tries.push({
        address: line.upstream ?? "",
        status: line.status ?? null,
        // One that could not be reached has a class that says so; Caddy times the whole try.
        connectMs: null,
        responseMs: error === "" && duration !== undefined ? duration * 1000 : null,
      });
    }
  }

  function answer(line: Line): void {
    const id = line.request?.headers?.["X-Request-Id"]?.[0];
    const error = line.resp_headers?.["X-Lastcall-Error"]?.[0] ?? "";
    const kind = error === "" ? null : classOfError(error);
    const atMs = (line.ts ?? 0) * 1000 - zeroMs;
    if (kind === "no-upstream") {
      // There was no try of which anything could be remarked.
      failures.push({ kind: "router-log", atMs, class: kind, text: wordsOf(line, error) });
    }
    if (id !== undefined) {
      const told = tries.get(id)?.tries ?? [];
      const whole: RouterLine = {
        atMs,
        status: line.status === 0 ? null : (line.status ?? null),
        tries: told,
        retries: Math.max(0, told.length - 1),
        termination: null,
        class: kind ?? tries.get(id)?.class ?? null,
        bytes: line.size ?? null,
      };
      if (isWorthKeeping(whole, id, asked)) {
        byId.set(id, whole);
      }
    }
  }

  const each = (text: string, read: (line: Line) => void): void => {
    for (const raw of text.split("\n")) {
      const line = parseLine(raw);
      if (line !== null) {
        read(line);
      }
    }
  };
  return {
    remarks: (text) => each(text, (line) => (line.msg === "upstream roundtrip" ? remark(line) : undefined)),
    access: (text) => each(text, answer),
    log: { byId, failures },
  };
}
