/**
 * The options of a lifecycle as a person writes them. Their meaning, defaults and environment names stand here and
 * nowhere else; `budget.ts` turns the durations into one checked budget.
 */

/** Which signals, times and habits a lifecycle has. Every field is optional; durations are milliseconds. */
export interface LifecycleOptions {
  /** What the platform allows from the stop signal to SIGKILL. Default: detected, see `detectPlatform`. */
  readonly gracePeriodMs?: number;
  /** Not ready, still serving: longer than the router's lag. Default: 25 % of the grace where a router is known, else 0. */
  readonly drainDelayMs?: number;
  /** In-flight and tracked work after the gate. Default: 50 % of the grace period, 75 % when the drain delay is 0. */
  readonly gracefulTimeoutMs?: number;
  /** Closing pools and files. Default: 25 % of the grace less a reserve of min(500 ms, 5 % of the grace). */
  readonly teardownTimeoutMs?: number;
  /** A cap on tracked work after the gate, inside the deadline. Default: the deadline. */
  readonly taskTimeoutMs?: number;
  /** How long old connections are still served after the gate. Default: 250. */
  readonly lingerMs?: number;
  /** From the abort signal to the cut. Default: 250. */
  readonly abortWindowMs?: number;
  /** Who is told first: the clients (`announce-first`) or the kernel (`listener-first`). Default: `auto`. */
  readonly leaveOrder?: "auto" | "announce-first" | "listener-first";
  /** After the gate: `close` closes the listener; `respond` keeps it open and answers 503. Default: `close`. */
  readonly admission?: "close" | "respond";
  /** When a request counts as done: its `response` closed, or also the `handler`'s promise settled. Default: `response`. */
  readonly boundary?: "response" | "handler";
  /** Whether readiness turns 503 at the stop signal (`fail`) or at the gate (`keep`). Default: `fail`. */
  readonly readinessInLameDuck?: "fail" | "keep";
  /** The signals that stop the service. Default: SIGTERM and SIGINT (on Windows also SIGBREAK). */
  readonly signals?: readonly NodeJS.Signals[];
  /** Exit codes: `code` is 0, 3, 1; `signal` exits 128+n after a clean stop by signal n. Default: `code`. */
  readonly exitPolicy?: "code" | "signal";
  /** A file to which the record is appended as well. Default: none, the record goes to stderr only. */
  readonly recordFile?: string;
  /** Wait at most this long for an empty event loop before the exit. Default: 0. */
  readonly settleMs?: number;
  /** A port of its own for the probes, closed last. Default: none. */
  readonly adminPort?: number;
  /** The address of the admin port. Default: every address under a known orchestrator, else 127.0.0.1. */
  readonly adminHost?: string;
  /** The paths of the probes. Default: `/livez`, `/readyz`, `/statez`. */
  readonly probePaths?: ProbePaths;
  /** `text` writes the start-up line, progress and warnings to stderr; `none` only the record. Default: `text`. */
  readonly log?: "text" | "none";
}

export interface ProbePaths {
  readonly live?: string;
  readonly ready?: string;
  readonly state?: string;
}
