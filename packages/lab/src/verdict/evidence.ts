/** What a rule is, and the phrases of which evidence is made: what came, when, and what the copy did at that moment. */

import type { Facts } from "./facts.ts";
import type { KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Confidence } from "./verdict.ts";

/** A rule gives its evidence, one sentence with the values seen, or null where it does not hold. */
export interface Rule {
  readonly kind: KindSlug;
  /** Where the rule knows better than `confidenceOf`. */
  readonly confidence?: Confidence;
  readonly evidence: (facts: Facts) => string | null;
}

/** Two witnesses that do not know of each other make it certain; the client's view and the timeline alone make it likely. */
export function confidenceOf({ line, worked, byCopy, direct, told }: Facts): Confidence {
  return line !== null || worked !== null || byCopy || direct || told ? "certain" : "likely";
}

export function time(ms: number): string {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** `502 after 3 ms` or `ECONNRESET while waiting after 3 ms`. */
export function outcome({ request, elapsedMs }: Facts): string {
  if (request.fate === "answered") {
    return `${request.status} after ${time(elapsedMs)}`;
  }
  const where = {
    connect: "in connect",
    write: "while writing",
    wait: "before the first byte",
    body: "in the body",
  };
  return `${request.error} ${request.stage === null ? "" : where[request.stage]} after ${time(elapsedMs)}`;
}

/** `, sent 0.42 s after SIGTERM to A`, or what takes its place. */
export function moment({ request, leaving, copy }: Facts): string {
  if (leaving === null) {
    return copy === null ? "" : ` at ${copy}`;
  }
  const { signal, signalMs, name } = leaving.life;
  const sinceMs = request.dispatchedMs - signalMs;
  return sinceMs < 0
    ? `, in flight at ${name} for ${time(-sinceMs)} when ${signal} came`
    : `, sent ${time(sinceMs)} after ${signal} to ${name}`;
}

/** What the router's log and the witness say of it, as far as they were asked. */
export function says({ line, unlogged, seen }: Facts): string {
  const router =
    line === null ? (unlogged ? "; the router's log has no line of it" : "") : `; router: ${line.class}`;
  const times =
    seen === null
      ? ""
      : seen.worked === 0
        ? "never came to a handler"
        : seen.worked === 1
          ? "came to a handler once"
          : `came to handlers ${seen.worked} times`;
  return seen === null ? router : `${router}; witness: it ${times}`;
}

/** Its copy exited at the moment when it failed. */
export function atExit({ request, life }: Facts): boolean {
  return (
    life !== null &&
    life.exitMs !== null &&
    request.dispatchedMs <= life.exitMs &&
    Math.abs(request.endedMs - life.exitMs) <= THRESHOLDS.exitJitterMs
  );
}

/** SIGKILL at the end of the grace period cut it. */
export function cutByKill(facts: Facts): boolean {
  const killedMs = facts.life?.killedMs ?? null;
  return killedMs !== null && killedMs <= facts.request.endedMs && atExit(facts);
}

/** It died with its copy, which had left at the signal without a drain: whatever was there was cut, idle or not. */
export function leftAtOnce(facts: Facts): boolean {
  const { life } = facts;
  const tookMs = (life?.exitMs ?? Number.POSITIVE_INFINITY) - (life?.signalMs ?? 0);
  return atExit(facts) && (tookMs < THRESHOLDS.readinessTurnsMs || cutByKill(facts));
}

/** As far as anybody can tell, no handler ran. */
export function neverWorked({ worked }: Facts): boolean {
  return worked === null || worked === 0;
}

/** Sooner than any good answer, or at once: nobody had worked on it to the end. */
export function soonerThanWork(facts: Facts): boolean {
  return isInstant(facts) || facts.elapsedMs < (facts.quickestMs ?? 0);
}

/** Nobody had begun to work on it: the witness or the store says so, or else it was over too soon. */
export function beforeWork(facts: Facts): boolean {
  return facts.worked === null ? isInstant(facts) : facts.worked === 0;
}

/** Too soon for a handler to have worked on it: the quickest good answer of the run took several times as long. */
export function isInstant({ elapsedMs, quickestMs }: Facts): boolean {
  const quick = (quickestMs ?? 0) * THRESHOLDS.instantShare;
  return elapsedMs < Math.min(THRESHOLDS.instantMaxMs, Math.max(THRESHOLDS.instantMs, quick));
}

export function stillListed({ leaving, request }: Facts): string {
  const removedMs = leaving?.life.removedMs ?? null;
  return removedMs === null || removedMs < request.endedMs
    ? ""
    : `, ${time(removedMs - request.endedMs)} before the router let go of it`;
}
