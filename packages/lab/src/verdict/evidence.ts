/** What a rule is, and the phrases of which evidence is made: what came, when, and what the copy did at that moment. */

import type { Facts } from "./facts.ts";
import type { KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";

/** A rule gives its evidence, one sentence with the values seen, or null where it does not hold. */
export interface Rule {
  readonly kind: KindSlug;
  readonly evidence: (facts: Facts) => string | null;
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

export function says({ line }: Facts): string {
  return line === null ? "" : `; router: ${line.class}`;
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

export function isInstant(facts: Facts): boolean {
  return facts.elapsedMs < THRESHOLDS.instantMs;
}

export function stillListed({ leaving, request }: Facts): string {
  const removedMs = leaving?.life.removedMs ?? null;
  return removedMs === null || removedMs < request.endedMs
    ? ""
    : `, ${time(removedMs - request.endedMs)} before the router let go of it`;
}
