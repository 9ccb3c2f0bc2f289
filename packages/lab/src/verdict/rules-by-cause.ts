/** Rules for requests without a whole answer, or with the router's own error: by cause, connection and moment. */

import { atExit, isInstant, moment, outcome, says, stillListed, time, type Rule } from "./evidence.ts";
import { THRESHOLDS } from "./thresholds.ts";

export const BY_CAUSE: readonly Rule[] = [
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
    evidence: (facts) => {
      const { cause, life, request, someoneServed } = facts;
      // While a leaving copy lives, its closed door is the cause, even if it is the only one.
      const gone = life === null || (life.exitMs !== null && request.dispatchedMs > life.exitMs);
      return cause === "no-upstream" || (cause === "connect-refused" && !someoneServed && gone)
        ? `${outcome(facts)}: no copy was ready and in rotation${says(facts)}`
        : null;
    },
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
