/**
 * The six rows of the rolling restart as data: how each copy is stopped, behind which router, and what the row must show.
 * They are the experiments that tutorials on graceful shutdown do by hand.
 */

export type Build = "naive" | "bare" | "lastcall";

/**
 * What a row must show. Bounds on failures are shares of the *gap*: the requests which arrive for a copy that is gone
 * and that the router still lists, `rate x propagation` for each round of restarts (each copy has its share of the load).
 */
export type Expectation =
  /** Retries hide what is safe to retry: no GET fails, some POSTs do, and what was acknowledged was stored. */
  | { readonly kind: "only-posts"; readonly minPosts: number }
  /** Both methods fail, each at least this share of the gap. */
  | { readonly kind: "both-fail"; readonly minShareEach: number }
  /** At most so many fail. */
  | { readonly kind: "at-most"; readonly failed: number }
  /** The gap itself: all refused, none in flight. */
  | { readonly kind: "refused-gap"; readonly minShare: number; readonly maxShare: number }
  /** More than none and fewer than the whole gap. */
  | { readonly kind: "between"; readonly maxShare: number }
  /** None failed, none slow. */
  | { readonly kind: "none" };

export interface Scenario {
  readonly name: ScenarioName;
  readonly build: Build;
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly retries: boolean;
  readonly drainDelayMs: number;
  readonly expectation: Expectation;
  /** For the table: what the row must show, in words. */
  readonly mustShow: string;
  /** Whether the row says something about a service that is not ours. A SIGKILL and a delay that is too short do not. */
  readonly forAnyCommand: boolean;
}

export const SCENARIO_NAMES = [
  "kill-retries",
  "kill",
  "stop-retries",
  "stop",
  "drain-short",
  "drain",
] as const;
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  "kill-retries": {
    name: "kill-retries",
    build: "naive",
    signal: "SIGKILL",
    retries: true,
    drainDelayMs: 0,
    expectation: { kind: "only-posts", minPosts: 1 },
    mustShow: "no GET fails, a POST does",
    forAnyCommand: false,
  },
  kill: {
    name: "kill",
    build: "naive",
    signal: "SIGKILL",
    retries: false,
    drainDelayMs: 0,
    expectation: { kind: "both-fail", minShareEach: 0.25 },
    mustShow: "many of both fail",
    forAnyCommand: false,
  },
  "stop-retries": {
    name: "stop-retries",
    build: "naive",
    signal: "SIGTERM",
    retries: true,
    drainDelayMs: 0,
    expectation: { kind: "at-most", failed: 1 },
    mustShow: "none fails, or one",
    forAnyCommand: true,
  },
  stop: {
    name: "stop",
    build: "naive",
    signal: "SIGTERM",
    retries: false,
    drainDelayMs: 0,
    expectation: { kind: "refused-gap", minShare: 0.5, maxShare: 1.5 },
    mustShow: "many fail, all refused",
    forAnyCommand: true,
  },
  "drain-short": {
    name: "drain-short",
    build: "lastcall",
    signal: "SIGTERM",
    retries: false,
    drainDelayMs: 500,
    expectation: { kind: "between", maxShare: 0.95 },
    mustShow: "about half of that fails",
    forAnyCommand: false,
  },
  drain: {
    name: "drain",
    build: "lastcall",
    signal: "SIGTERM",
    retries: false,
    drainDelayMs: 2500,
    expectation: { kind: "none" },
    mustShow: "none fails, none is slow",
    forAnyCommand: true,
  },
};
