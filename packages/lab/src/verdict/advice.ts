/** From what was measured to the four numbers to set: the router's lag, the longest request, the teardown, the grace period. */

import type { RunRecord } from "../ledger/records.ts";
import { readyUntil } from "./findings.ts";
import { KINDS, type KindSlug } from "./kinds.ts";
import type { Attributed } from "./exposure.ts";
import { firstAndLast, type Seen } from "./last-seen.ts";
import type { RestartSpan, Timeline } from "./timeline.ts";
import type { Advice } from "./verdict.ts";

/** Margins of the settings: what was measured once is not the worst that there is. */
const MARGIN = 1.25;
const STEP_MS = 250;
const RESERVE_MS = 500;

export function withMargin(measuredMs: number | null): number | null {
  return measuredMs === null ? null : Math.ceil((measuredMs * MARGIN + STEP_MS) / STEP_MS) * STEP_MS;
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function teardownOf(span: RestartSpan, seen: Seen, drainDelayMs: number): number | null {
  const { signalMs, signal, exitMs, killedMs } = span.life;
  if (exitMs === null || killedMs !== null || signal === "SIGKILL") {
    return null;
  }
  // What failed after the exit ended nothing at the copy.
  const lastEndMs = seen.endedMs <= exitMs ? seen.endedMs : signalMs;
  return Math.max(0, exitMs - Math.max(signalMs + drainDelayMs, lastEndMs));
}

/** What a drain delay that is longer than the router's lag makes vanish, and what else to say of it. */
const LAGGED: Partial<Readonly<Record<KindSlug, string>>> = {
  "closed-door": "",
  "refused-by-gate": "Keep serving while draining, and only turn readiness. ",
  "masked-by-retry": "Do not rely on the router's retries. ",
  "not-retried": "Do not rely on the router's retries. ",
  "slow-deregistration": "",
};

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/**
 * How long the copies stayed that had all left before the drain delay that they were told was over, at most; null where one
 * kept it, or none was told. Who says nothing of this tells people to set what they believe to have set.
 */
export function leftEarly(run: RunRecord | null, { restarts }: Timeline): LeftEarly | null {
  const told = run?.parameters["drainDelayMs"];
  const stays = restarts.flatMap(({ life: { signalMs, signal, exitMs, killedMs } }) =>
    exitMs === null || killedMs !== null || signal === "SIGKILL" ? [] : [exitMs - signalMs],
  );
  const longest = largest(stays);
  return typeof told !== "number" || longest === null || longest > told - EARLY_MS
    ? null
    : { toldMs: told, stayedMs: longest };
}

interface LeftEarly {
  readonly toldMs: number;
  readonly stayedMs: number;
}

/** Clocks and timers of two processes differ by less. */
const EARLY_MS = 100;

/**
 * A router that asks for readiness and is told 200 until the copy is gone has no lag: it lets go after the end, however late
 * that is. A longer drain delay would only put the same off.
 */
export function isUntold(run: RunRecord | null, { restarts }: Timeline): boolean {
  return run?.parameters["removal"] === "readiness" && restarts.some((span) => readyUntil(span) !== null);
}

const UNTOLD =
  "Turn readiness to 503 at the stop signal (lastcall/auto: LASTCALL_PROBE_PATHS=ready=PATH): the router asks for it, and was told 200 until the copy was gone. A longer drain delay alone puts the same off.";

/** What is known of why a drain delay did not help. */
interface Doubts {
  readonly early: LeftEarly | null;
  readonly untold: boolean;
}

/** What to change for a kind, with the numbers that this run has measured. */
export function stepFor(kind: KindSlug, advice: Omit<Advice, "steps">, { early, untold }: Doubts): string {
  const { routerLagMs, settings, longestRequestMs } = advice;
  const first = LAGGED[kind];
  if (first !== undefined && untold) {
    return `${first}${UNTOLD}`;
  }
  if (first !== undefined && routerLagMs !== null && settings.drainDelayMs !== null) {
    const unkept =
      early === null
        ? ""
        : ` The ${seconds(early.toldMs)} that it was told here (LASTCALL_DRAIN_DELAY, {drainDelay}) it did not keep: it was gone ${seconds(early.stayedMs)} after the signal.`;
    return `${first}Set a drain delay of ${seconds(settings.drainDelayMs)}: the router still sent requests to a leaving copy ${seconds(routerLagMs)} after its stop signal.${unkept}`;
  }
  if ((kind === "in-flight-cut" || kind === "killed") && longestRequestMs !== null) {
    return `${KINDS[kind].fix} The longest good request took ${seconds(longestRequestMs)}.`;
  }
  return KINDS[kind].fix;
}

export function adviceOf(
  run: RunRecord | null,
  timeline: Timeline,
  attributed: Attributed,
  longestRequestMs: number | null,
): Omit<Advice, "steps"> {
  const seen = firstAndLast(attributed, timeline.copies.length);
  const seenBy = (span: RestartSpan): Seen =>
    seen[timeline.copies.indexOf(span.life)] ?? { firstMs: -1, sentMs: -1, endedMs: -1 };
  const told = run?.parameters["drainDelayMs"];
  const drainDelayMs = typeof told === "number" ? told : 0;
  const lagMs = largest(
    // Without a single request at the copy nobody can tell; with some before the signal and none after, the lag is none.
    timeline.restarts.map((span) => {
      const { sentMs } = seenBy(span);
      return sentMs < 0 ? null : Math.max(0, sentMs - span.life.signalMs);
    }),
  );
  const routerLagMs = isUntold(run, timeline) ? null : lagMs;
  const teardownMs = largest(timeline.restarts.map((span) => teardownOf(span, seenBy(span), drainDelayMs)));
  const startMs = largest(
    timeline.restarts.map(({ replacement }) =>
      replacement === null || replacement.readyMs === null
        ? null
        : replacement.readyMs - replacement.startedMs,
    ),
  );
  const parts = [withMargin(routerLagMs), withMargin(longestRequestMs), withMargin(teardownMs)] as const;
  const [drain, graceful, teardown] = parts;
  return {
    routerLagMs,
    longestRequestMs,
    teardownMs,
    startMs,
    settings: {
      drainDelayMs: drain,
      gracefulTimeoutMs: graceful,
      teardownTimeoutMs: teardown,
      gracePeriodMs:
        drain === null || graceful === null
          ? null
          : Math.ceil((drain + graceful + (teardown ?? 0) + RESERVE_MS) / 1000) * 1000,
    },
  };
}
