/**
 * The options of a lifecycle: what a person may write, and the one table that says of each how it is read from the
 * environment and what is allowed. `budget.ts` turns the durations into one checked budget.
 */

import { parseDuration } from "./duration.ts";
import { LastcallError } from "./errors.ts";

/** Every field is optional; durations are milliseconds; the environment variable of the same name wins. */
export interface LifecycleOptions {
  /**
   * What the platform allows from the stop signal to SIGKILL. Default: detected (Kubernetes 30 s, Cloud Run and
   * containers 10 s, pm2 1.6 s, systemd's TimeoutStopSec), else 10 s. Must be what the platform really grants, less any preStop hook.
   */
  readonly gracePeriodMs?: number;
  /**
   * Not ready, still serving. Longer than the router's lag, or requests are refused; each second of it is a second
   * more per deploy. Default: 25 % of the grace period where a router is known, else 0.
   */
  readonly drainDelayMs?: number;
  /** Our limit on in-flight and tracked work after the gate. Default: 50 % of the grace period, 75 % with delay 0. */
  readonly gracefulTimeoutMs?: number;
  /** For closing pools and files. Default: 25 % of the grace period less a reserve of min(500 ms, 5 %). */
  readonly teardownTimeoutMs?: number;
  /** A cap on tracked work after the gate, inside the deadline. Default: the deadline. */
  readonly taskTimeoutMs?: number;
  /**
   * How long old connections are still served after the gate, or after the listener has closed when somebody came meanwhile.
   * Default: 250; lower loses late requests of pools. A copy that `lastcall-takeover` has replaced: 2000.
   */
  readonly lingerMs?: number;
  /** From the abort signal to the cut at the deadline. Default: 250. */
  readonly abortWindowMs?: number;
  /**
   * `announce-first`: `Connection: close` from the stop signal on, for routers that are told. `listener-first`: the
   * header is withheld until the listener has closed, for routers that nobody tells. Default: `auto`: announce-first
   * where a router is known or readiness was asked for within the last 30 s.
   */
  readonly leaveOrder?: "auto" | "announce-first" | "listener-first";
  /**
   * `all`: every connection is told to go with its next answer. `spread`: one after the other over two thirds of the
   * drain delay, so that the clients do not all reconnect at once. Default: `all`.
   */
  readonly announce?: "all" | "spread";
  /** After the gate: `close` closes the listener; `respond` keeps it open and answers 503. Default: `close`. */
  readonly admission?: "close" | "respond";
  /** When a request is done: its `response` has closed, or also its `handler` has settled. Default: `response`. */
  readonly boundary?: "response" | "handler";
  /** Readiness turns 503 at the stop signal (`fail`) or at the gate (`keep`). Default: `fail`. */
  readonly readinessInLameDuck?: "fail" | "keep";
  /** The signals that stop the service. Default: SIGTERM and SIGINT, on Windows also SIGBREAK. */
  readonly signals?: readonly NodeJS.Signals[];
  /** `code`: 0 drained, 3 incomplete, 1 failed. `signal`: a clean stop by signal n exits 128+n. Default: `code`. */
  readonly exitPolicy?: "code" | "signal";
  /** A file to which the record is appended as well. Default: none; the record goes to stderr. */
  readonly recordFile?: string;
  /** Wait at most this long for an empty event loop before the exit. Default: 0. */
  readonly settleMs?: number;
  /** A port of its own for the probes, closed last; 0 lets the system choose. Default: none. */
  readonly adminPort?: number;
  /** The address of the admin port. Default: all addresses under a known orchestrator, else 127.0.0.1. */
  readonly adminHost?: string;
  /** The paths of the probes. Default: `/livez`, `/readyz`, `/statez`. */
  readonly probePaths?: ProbePaths;
  /** `text`: start-up line, progress and warnings on stderr; `none`: the record only. Default: `text`. */
  readonly log?: "text" | "none";
}

export interface ProbePaths {
  readonly live?: string;
  readonly ready?: string;
  readonly state?: string;
}

type Kind =
  | { readonly kind: "duration"; readonly min: number }
  | { readonly kind: "choice"; readonly of: readonly string[] }
  | { readonly kind: "port" | "text" | "signals" | "paths" };

interface OptionRow {
  readonly env: string;
  readonly value: Kind;
}

/** Node's timers hold 31 bits of milliseconds; a longer one would fire at once. */
const LONGEST_MS = 2_147_483_647;

/** One row per option; the compiler keeps it complete. */
export const OPTION_TABLE: Readonly<Record<keyof LifecycleOptions, OptionRow>> = {
  gracePeriodMs: { env: "LASTCALL_GRACE_PERIOD", value: { kind: "duration", min: 1 } },
  drainDelayMs: { env: "LASTCALL_DRAIN_DELAY", value: { kind: "duration", min: 0 } },
  gracefulTimeoutMs: { env: "LASTCALL_GRACEFUL_TIMEOUT", value: { kind: "duration", min: 0 } },
  teardownTimeoutMs: { env: "LASTCALL_TEARDOWN_TIMEOUT", value: { kind: "duration", min: 0 } },
  taskTimeoutMs: { env: "LASTCALL_TASK_TIMEOUT", value: { kind: "duration", min: 0 } },
  lingerMs: { env: "LASTCALL_LINGER", value: { kind: "duration", min: 0 } },
  abortWindowMs: { env: "LASTCALL_ABORT_WINDOW", value: { kind: "duration", min: 0 } },
  leaveOrder: {
    env: "LASTCALL_LEAVE_ORDER",
    value: { kind: "choice", of: ["auto", "announce-first", "listener-first"] },
  },
  announce: { env: "LASTCALL_ANNOUNCE", value: { kind: "choice", of: ["all", "spread"] } },
  admission: { env: "LASTCALL_ADMISSION", value: { kind: "choice", of: ["close", "respond"] } },
  boundary: { env: "LASTCALL_BOUNDARY", value: { kind: "choice", of: ["response", "handler"] } },
  readinessInLameDuck: {
    env: "LASTCALL_READINESS_IN_LAME_DUCK",
    value: { kind: "choice", of: ["fail", "keep"] },
  },
  signals: { env: "LASTCALL_SIGNALS", value: { kind: "signals" } },
  exitPolicy: { env: "LASTCALL_EXIT_POLICY", value: { kind: "choice", of: ["code", "signal"] } },
  recordFile: { env: "LASTCALL_RECORD_FILE", value: { kind: "text" } },
  settleMs: { env: "LASTCALL_SETTLE", value: { kind: "duration", min: 0 } },
  adminPort: { env: "LASTCALL_ADMIN_PORT", value: { kind: "port" } },
  adminHost: { env: "LASTCALL_ADMIN_HOST", value: { kind: "text" } },
  probePaths: { env: "LASTCALL_PROBE_PATHS", value: { kind: "paths" } },
  log: { env: "LASTCALL_LOG", value: { kind: "choice", of: ["text", "none"] } },
};

type Env = Readonly<Record<string, string | undefined>>;

/** The options with the environment laid over them, each checked by itself. Errors: LASTCALL_OPTION, LASTCALL_ENVIRONMENT. */
export function readOptions(options: LifecycleOptions, env: Env): LifecycleOptions {
  const merged: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (!(name in OPTION_TABLE)) {
      throw new LastcallError("LASTCALL_OPTION", `There is no option '${name}'.`);
    }
    if (value !== undefined) {
      merged[name] = value;
    }
  }
  for (const [name, row] of Object.entries(OPTION_TABLE)) {
    const text = env[row.env];
    if (text !== undefined && text !== "") {
      merged[name] = fromText(text, row.env, row.value);
    }
    if (merged[name] !== undefined) {
      checkOne(name, merged[name], row.value);
    }
  }
  return merged;
}

/** What only `lastcall/auto` reads, see `auto-options.ts`. */
export const AUTO_VARIABLES: readonly string[] = [
  "LASTCALL_FOREIGN",
  "LASTCALL_CLOSE_LAST_PORTS",
  "LASTCALL_STRICT",
];

/** LASTCALL_* names that nothing reads: most likely a typing error that would silently change nothing. */
export function unknownVariables(env: Env): readonly string[] {
  const known = new Set([...Object.values(OPTION_TABLE).map((row) => row.env), ...AUTO_VARIABLES]);
  return Object.keys(env).filter((name) => name.startsWith("LASTCALL_") && !known.has(name));
}

function fromText(text: string, name: string, kind: Kind): unknown {
  switch (kind.kind) {
    case "duration":
      return parseDuration(text, name);
    case "port":
      return Number(text);
    case "signals":
      return text.split(",").map((signal) => signal.trim());
    case "paths":
      // `ready=/ready,live=/health`
      return Object.fromEntries(text.split(",").map((pair) => pair.split("=").map((part) => part.trim())));
    default:
      return text;
  }
}

function checkOne(name: string, value: unknown, kind: Kind): void {
  const wrong = (range: string): never => {
    throw new LastcallError("LASTCALL_OPTION", `${name} is ${JSON.stringify(value)}, but must be ${range}.`);
  };
  switch (kind.kind) {
    case "duration":
      if (typeof value !== "number" || !(value >= kind.min && value <= LONGEST_MS)) {
        wrong(`a number of milliseconds from ${kind.min} to ${LONGEST_MS}`);
      }
      return;
    case "choice":
      if (typeof value !== "string" || !kind.of.includes(value)) {
        wrong(`one of ${kind.of.join(", ")}`);
      }
      return;
    case "port":
      if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > 65_535) {
        wrong("a port from 0 to 65535");
      }
      return;
    case "text":
      if (typeof value !== "string" || value === "") {
        wrong("a text that is not empty");
      }
      return;
    case "signals":
      if (!Array.isArray(value) || value.length === 0 || !value.every(isStopSignal)) {
        wrong("a list of signal names such as SIGTERM that a process can handle");
      }
      return;
    case "paths":
      checkPaths(name, value, wrong);
  }
}

function isStopSignal(signal: unknown): boolean {
  return (
    typeof signal === "string" && /^SIG[A-Z0-9]+$/.test(signal) && !["SIGKILL", "SIGSTOP"].includes(signal)
  );
}

function checkPaths(name: string, value: unknown, wrong: (range: string) => never): void {
  if (typeof value !== "object" || value === null) {
    wrong("an object with live, ready and state");
  }
  for (const [probe, at] of Object.entries(value)) {
    if (!["live", "ready", "state"].includes(probe)) {
      throw new LastcallError(
        "LASTCALL_OPTION",
        `${name} has no probe '${probe}'; there are live, ready, state.`,
      );
    }
    if (typeof at !== "string" || !at.startsWith("/")) {
      wrong("paths that begin with /");
    }
  }
}
