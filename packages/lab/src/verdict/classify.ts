/**
 * From facts to a kind: an ordered list of rules, of which the first that holds decides. A rule gives its evidence, one
 * sentence with the values seen, or null. A new kind is an entry in kinds.ts and a rule here, at its place.
 */

import type { Facts } from "./facts.ts";
import type { KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";

interface Rule {
  readonly kind: KindSlug;
  readonly evidence: (facts: Facts) => string | null;
}

const OWN_LIMITS: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "EADDRNOTAVAIL",
  "EADDRINUSE",
  "ENOBUFS",
  "ENOMEM",
]);

function time(ms: number): string {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** `502 after 3 ms` or `ECONNRESET while waiting after 3 ms`. */
function outcome({ request, elapsedMs }: Facts): string {
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
function moment({ request, leaving, copy }: Facts): string {
  if (leaving === null) {
    return copy === null ? "" : ` at ${copy}`;
  }
  const { signal, signalMs, name } = leaving.life;
  const sinceMs = request.dispatchedMs - signalMs;
  return sinceMs < 0
    ? `, in flight at ${name} for ${time(-sinceMs)} when ${signal} came`
    : `, sent ${time(sinceMs)} after ${signal} to ${name}`;
}

function says({ line }: Facts): string {
  return line === null ? "" : `; router: ${line.class}`;
}

/** Its copy exited at the moment when it failed. */
function atExit({ request, life }: Facts): boolean {
  return (
    life !== null &&
    life.exitMs !== null &&
    request.dispatchedMs <= life.exitMs &&
    Math.abs(request.endedMs - life.exitMs) <= THRESHOLDS.exitJitterMs
  );
}

function isInstant(facts: Facts): boolean {
  return facts.elapsedMs < THRESHOLDS.instantMs;
}

/** Rules by harm: the harm alone, or the harm and the phase of the copy, decides. */
const BY_HARM: readonly Rule[] = [
  {
    kind: "unstored",
    evidence: ({ harm, request }) =>
      harm === "unstored" ? `${request.status} for ${request.id}, and no row under this id` : null,
  },
  {
    kind: "duplicated",
    evidence: ({ harm, request, stored }) =>
      harm === "duplicated"
        ? `${request.status} for ${request.id}, and ${stored ?? 0} rows under this id`
        : null,
  },
  {
    kind: "masked-by-retry",
    evidence: (facts) =>
      facts.harm === "masked"
        ? `${facts.request.status}, but the router asked ${facts.tried.join(", then ")}${says(facts)}`
        : null,
  },
  {
    kind: "truncated",
    evidence: (facts) => {
      const { promised, got } = facts.request.bytes;
      return facts.harm === "truncated"
        ? `${facts.request.status}, ${got} of ${promised ?? "an unknown number of"} bytes, then ${facts.request.error}${moment(facts)}`
        : null;
    },
  },
  {
    kind: "connect-retry",
    evidence: ({ harm, request }) => {
      const tookMs = (request.connectedMs ?? request.endedMs) - request.dispatchedMs;
      return harm === "slowed" && tookMs >= THRESHOLDS.connectRetryMs
        ? `the connection took ${time(tookMs)}`
        : null;
    },
  },
  {
    kind: "blocked-loop",
    evidence: (facts) =>
      facts.harm === "slowed" && facts.leaving !== null ? `${outcome(facts)}${moment(facts)}` : null,
  },
  {
    kind: "cold-copy",
    evidence: (facts) =>
      facts.harm === "slowed" && facts.isNew
        ? `${outcome(facts)} at ${facts.copy}, ready ${time(facts.request.dispatchedMs - (facts.life?.readyMs ?? 0))} before`
        : null,
  },
  {
    kind: "slow",
    evidence: (facts) => (facts.harm === "slowed" ? `${outcome(facts)}${moment(facts)}` : null),
  },
];

/** Answers that say no, made by a copy itself. */
const BY_COPY: readonly Rule[] = [
  {
    kind: "client-error",
    evidence: (facts) =>
      facts.byCopy && (facts.request.status ?? 0) < 500
        ? `${outcome(facts)} to ${facts.request.method} ${facts.request.path}${moment(facts)}`
        : null,
  },
  {
    kind: "refused-by-gate",
    evidence: (facts) =>
      facts.byCopy && facts.leaving !== null && facts.request.status === 503
        ? `${outcome(facts)} by the copy itself${moment(facts)}`
        : null,
  },
  {
    kind: "wrong-order",
    evidence: (facts) =>
      facts.byCopy && facts.leaving !== null ? `${outcome(facts)} by the copy itself${moment(facts)}` : null,
  },
  {
    kind: "not-ready-yet",
    evidence: (facts) =>
      facts.byCopy && facts.isNew ? `${outcome(facts)} by the new copy ${facts.copy}` : null,
  },
  {
    kind: "service-error",
    evidence: (facts) => (facts.byCopy ? `${outcome(facts)} by the copy itself${moment(facts)}` : null),
  },
];

/** No whole answer, or one made by the router: by cause, connection and moment. */
const BY_CAUSE: readonly Rule[] = [
  {
    kind: "router-reload",
    evidence: (facts) => {
      const { request, direct } = facts;
      const { reuse, ageMs } = request.connection;
      const bornMs = request.dispatchedMs - ageMs;
      const reloadMs = facts.reloadsMs.findLast((atMs) => atMs <= request.endedMs && bornMs <= atMs);
      const dropped =
        !direct &&
        request.fate === "failed" &&
        request.error !== "TIMEOUT" &&
        reuse > 0 &&
        request.bytes.got === 0;
      return dropped && reloadMs !== undefined && request.endedMs - reloadMs <= THRESHOLDS.reloadWindowMs
        ? `${outcome(facts)} on a client connection that had carried ${reuse}, ${time(request.endedMs - reloadMs)} after the router's reload`
        : null;
    },
  },
  {
    kind: "outage",
    evidence: (facts) =>
      facts.cause === "no-upstream" || (facts.cause === "connect-refused" && !facts.someoneServed)
        ? `${outcome(facts)}: no copy was ready and in rotation${says(facts)}`
        : null,
  },
  {
    kind: "crashed",
    evidence: (facts) => {
      const { life, request } = facts;
      return life !== null &&
        life.exitMs !== null &&
        (life.signalMs === null || life.signalMs > life.exitMs) &&
        request.endedMs >= life.exitMs - THRESHOLDS.exitJitterMs
        ? `${outcome(facts)}; ${life.name} had ended by itself (${life.exitSignal ?? `exit code ${life.exitCode ?? "unknown"}`})`
        : null;
    },
  },
  {
    kind: "closed-door",
    evidence: (facts) =>
      facts.cause === "connect-refused" && facts.leaving !== null
        ? `${outcome(facts)}: connection refused${moment(facts)}${stillListed(facts)}`
        : null,
  },
  {
    kind: "not-ready-yet",
    evidence: (facts) =>
      facts.cause === "connect-refused" && facts.isNew
        ? `${outcome(facts)}: connection refused by the new copy ${facts.copy}`
        : null,
  },
  {
    kind: "blocked-loop",
    evidence: (facts) =>
      facts.cause === "timeout" && facts.leaving !== null ? `${outcome(facts)}${moment(facts)}` : null,
  },
  {
    kind: "timeout",
    evidence: (facts) =>
      facts.cause === "timeout" ? `${outcome(facts)}${moment(facts)}${says(facts)}` : null,
  },
  {
    kind: "keep-alive-race",
    evidence: (facts) =>
      facts.cause === "cut" && facts.pooled && isInstant(facts) && facts.stored !== 1
        ? `${outcome(facts)} on a pooled connection${moment(facts)}${says(facts)}`
        : null,
  },
  {
    kind: "killed",
    evidence: (facts) => {
      const killedMs = facts.life?.killedMs ?? null;
      return facts.cause === "cut" && atExit(facts) && killedMs !== null && killedMs <= facts.request.endedMs
        ? `${outcome(facts)}${moment(facts)}; SIGKILL came ${time(killedMs - (facts.life?.signalMs ?? killedMs))} after the stop signal`
        : null;
    },
  },
  {
    kind: "in-flight-cut",
    evidence: (facts) =>
      facts.cause === "cut" && atExit(facts)
        ? `${outcome(facts)}${moment(facts)}; it exited at that moment${says(facts)}`
        : null,
  },
  {
    kind: "accept-queue",
    evidence: (facts) =>
      facts.cause === "cut" &&
      facts.leaving !== null &&
      !facts.pooled &&
      isInstant(facts) &&
      facts.stored !== 1
        ? `${outcome(facts)} on a new connection${moment(facts)}${says(facts)}`
        : null,
  },
  {
    kind: "in-flight-cut",
    evidence: (facts) =>
      facts.cause === "cut" && facts.leaving !== null
        ? `${outcome(facts)}${moment(facts)}; the copy cut it${says(facts)}`
        : null,
  },
  {
    kind: "keep-alive-race",
    evidence: (facts) =>
      facts.cause === "cut" && (facts.pooled || facts.request.connection.reuse > 0)
        ? `${outcome(facts)} on a pooled connection while no copy was leaving${says(facts)}`
        : null,
  },
  // Without the router's words only the shape in time is left.
  {
    kind: "closed-door",
    evidence: (facts) => {
      const exitMs = facts.leaving?.life.exitMs ?? null;
      return facts.cause === null &&
        exitMs !== null &&
        facts.request.dispatchedMs > exitMs &&
        isInstant(facts)
        ? `${outcome(facts)}${moment(facts)}, ${time(facts.request.dispatchedMs - exitMs)} after its exit${stillListed(facts)}`
        : null;
    },
  },
  {
    kind: "in-flight-cut",
    evidence: (facts) =>
      facts.cause === null && atExit(facts) && !isInstant(facts)
        ? `${outcome(facts)}${moment(facts)}; it exited at that moment`
        : null,
  },
  {
    kind: "router-error",
    evidence: (facts) =>
      facts.request.fate === "answered" ? `${outcome(facts)}${moment(facts)}${says(facts)}` : null,
  },
];

function stillListed({ leaving, request }: Facts): string {
  const removedMs = leaving?.life.removedMs ?? null;
  return removedMs === null || removedMs < request.endedMs
    ? ""
    : `, ${time(removedMs - request.endedMs)} before the router let go of it`;
}

const RULES: readonly Rule[] = [
  {
    kind: "lab-limit",
    evidence: (facts) => {
      const { request, direct } = facts;
      const own = OWN_LIMITS.has(request.error ?? "");
      // A connection that the router itself refuses says nothing about the service.
      return own || (!direct && request.stage === "connect") ? `${outcome(facts)} to the router` : null;
    },
  },
  ...BY_HARM,
  {
    kind: "garbage",
    evidence: (facts) => (facts.request.error === "PARSE" ? `${outcome(facts)}${moment(facts)}` : null),
  },
  ...BY_COPY,
  ...BY_CAUSE,
];

export function classify(facts: Facts): { readonly kind: KindSlug; readonly evidence: string } {
  for (const { kind, evidence } of RULES) {
    const text = evidence(facts);
    if (text !== null) {
      return { kind, evidence: text };
    }
  }
  return { kind: "unexplained", evidence: `${outcome(facts)}${moment(facts)}` };
}
