/**
 * What a run shows without a lost request: a wrapper that swallows the signal, a copy that had to be killed, readiness that never
 * turns, an exit code that says that all was well. Each looks at whole lives of copies, never at one request.
 */

import type { RunRecord } from "../ledger/records.ts";
import { time } from "./evidence.ts";
import type { Attributed } from "./exposure.ts";
import type { Finding, Told } from "./finding.ts";
import { markedOut, noShare, sentAfterRemoval } from "./findings-of-traffic.ts";
import type { KindSlug } from "./kinds.ts";
import { firstAndLast } from "./last-seen.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { CopyLife, RestartSpan, Timeline } from "./timeline.ts";
import type { BadRequest, Confidence } from "./verdict.ts";

const WRAPPERS = /^(?:sh|bash|dash|ash|ksh|zsh|busybox|npm|npx|yarn|pnpm|corepack)\b/;

/** Kinds that already tell why a copy had to be killed. */
const TELL_OF_THE_KILL: ReadonlySet<string> = new Set<KindSlug>([
  "killed",
  "never-ends",
  "ignored-signal",
  "wrapper",
  "blocked-loop",
]);

/** Why a copy was still there at the end of its grace period, unless requests that were cut tell it. */
function killed({ life }: RestartSpan, bad: readonly BadRequest[]): Told | null {
  const { killedMs, signalMs, signal, name, program, below, notReadyMs, notReady } = life;
  if (killedMs === null || bad.some((one) => one.copy === name && TELL_OF_THE_KILL.has(one.kind))) {
    return null;
  }
  const after = `${name} had to be killed ${time(killedMs - signalMs)} after ${signal}`;
  const tell = (kind: KindSlug, confidence: Confidence, evidence: string): Told => ({
    kind,
    confidence,
    fails: true,
    evidence,
    atMs: killedMs,
  });
  if (notReadyMs === null) {
    return program !== null && below !== null && WRAPPERS.test(program)
      ? tell("wrapper", "certain", `${after}: ${program} got the signal, and ${below} below it never did`)
      : tell("ignored-signal", "certain", `${after}, and had stayed ready until then`);
  }
  return notReady === "ECONNREFUSED"
    ? tell("never-ends", "certain", `${after}, ${time(killedMs - notReadyMs)} after its listener had closed`)
    : tell(
        "never-ends",
        "likely",
        `${after}, though its readiness had said ${notReady} since ${time(notReadyMs - signalMs)} after it`,
      );
}

function leftBehind({ life }: RestartSpan): Told | null {
  return life.leftBehind && life.exitMs !== null && life.killedMs === null
    ? {
        kind: "wrapper",
        confidence: "certain",
        fails: true,
        evidence: `${life.program ?? "the process"} of ${life.name} ended ${time(life.exitMs - life.signalMs)} after ${life.signal} and left ${life.below ?? "its children"} behind`,
        atMs: life.exitMs,
      }
    : null;
}

function notLive({ life }: RestartSpan): Told | null {
  const { notLiveMs, notLive: seen, signalMs, signal, name } = life;
  return notLiveMs !== null && typeof seen === "number"
    ? {
        kind: "liveness-fails",
        confidence: "certain",
        fails: true,
        evidence: `the liveness of ${name} said ${seen} ${time(notLiveMs - signalMs)} after ${signal}, while it drained`,
        atMs: notLiveMs,
      }
    : null;
}

/** Until when the copy said that it was ready though it had been told to stop; null where that turned, or came to nothing. */
export function readyUntil({ life }: RestartSpan): number | null {
  const { signal, signalMs, notReadyMs, notReady, exitMs, killedMs } = life;
  const untilMs = notReadyMs ?? exitMs ?? signalMs;
  const never = notReadyMs === null || typeof notReady === "string";
  return signal !== "SIGKILL" &&
    killedMs === null &&
    never &&
    untilMs - signalMs >= THRESHOLDS.readinessTurnsMs
    ? untilMs
    : null;
}

function readinessConstant(span: RestartSpan): Told | null {
  const untilMs = readyUntil(span);
  const { signal, signalMs, name } = span.life;
  return untilMs === null
    ? null
    : {
        kind: "readiness-constant",
        confidence: "certain",
        fails: false,
        evidence: `${name} said that it was ready for ${time(untilMs - signalMs)} after ${signal}, until it was gone`,
        atMs: untilMs,
      };
}

const CUTS: ReadonlySet<string> = new Set<KindSlug>(["in-flight-cut", "truncated", "job-lost", "unstored"]);

function cleanExit({ life }: RestartSpan, index: number, bad: readonly BadRequest[]): Told | null {
  const cut = bad.filter(
    (one) =>
      one.restart === index &&
      one.copy === life.name &&
      CUTS.has(one.kind) &&
      // What it cut while it lived on is no matter of its exit.
      (one.harm === "unstored" || one.request.endedMs >= (life.exitMs ?? 0) - THRESHOLDS.exitJitterMs),
  );
  return life.exitCode === 0 && life.exitMs !== null && cut.length > 0
    ? {
        kind: "clean-exit-after-cut",
        confidence: "certain",
        fails: false,
        evidence: `${life.name} left with exit code 0 and ${cut.length} cut ${cut.length === 1 ? "request" : "requests"}`,
        atMs: life.exitMs,
      }
    : null;
}

/** Of copies that nobody had told to stop. */
function crashed(copies: readonly CopyLife[], loadEndedMs: number | null): Told | null {
  const fallen = copies.find(
    ({ exitMs, signalMs }) =>
      exitMs !== null &&
      exitMs < Math.min(signalMs ?? Number.POSITIVE_INFINITY, loadEndedMs ?? Number.POSITIVE_INFINITY),
  );
  return fallen === undefined
    ? null
    : {
        kind: "crashed",
        confidence: "certain",
        fails: true,
        evidence: `${fallen.name} ended by itself (${fallen.exitSignal ?? `exit code ${fallen.exitCode ?? "unknown"}`})`,
        atMs: fallen.exitMs ?? 0,
      };
}

/** With retries on: GETs were saved at the same moments at which POSTs were lost. */
function notRetried(run: RunRecord | null, bad: readonly BadRequest[]): Told | null {
  const lost = bad.filter((one) => one.harm === "lost" && one.restart !== null);
  const masked = bad.filter((one) => one.harm === "masked" && one.request.method === "GET");
  const [first] = lost;
  return run?.parameters["retries"] === true &&
    first !== undefined &&
    masked.length > 0 &&
    lost.every((one) => one.request.method !== "GET")
    ? {
        kind: "not-retried",
        confidence: "certain",
        fails: false,
        evidence: `${lost.length} lost, none of them a GET; the router saved ${masked.length} GETs by asking another copy`,
        atMs: first.request.endedMs,
      }
    : null;
}

/** Findings of one kind at several restarts are one, with the words of the first. */
function merged(all: readonly (Told & { readonly restart: number | null })[]): readonly Finding[] {
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  return kinds.flatMap((kind) => {
    const same = all.filter((one) => one.kind === kind);
    const [first] = same;
    if (first === undefined) {
      return [];
    }
    const { restart: _, ...told } = first;
    const more = same.length - 1;
    return [
      {
        ...told,
        evidence: more === 0 ? told.evidence : `${told.evidence}; and ${more} more`,
        restarts: same.flatMap((one) => (one.restart === null ? [] : [one.restart])),
      },
    ];
  });
}

export function findingsOf(
  run: RunRecord | null,
  timeline: Timeline,
  attributed: Attributed,
  bad: readonly BadRequest[],
): readonly Finding[] {
  const traffic = { timeline, attributed, seen: firstAndLast(attributed, timeline.copies.length) };
  const ofLives = timeline.restarts.flatMap((span, restart) =>
    [
      killed(span, bad),
      leftBehind(span),
      notLive(span),
      run?.parameters["readiness"] === "not asked" ? null : readinessConstant(span),
      cleanExit(span, restart, bad),
    ].flatMap((told) => (told === null ? [] : [{ ...told, restart }])),
  );
  const alone = [crashed(timeline.copies, timeline.loadEndedMs), notRetried(run, bad)].flatMap((told) =>
    told === null ? [] : [{ ...told, restart: null }],
  );
  return merged([
    ...ofLives,
    ...alone,
    ...noShare(traffic),
    ...markedOut(traffic, bad),
    ...sentAfterRemoval(traffic),
  ]);
}
