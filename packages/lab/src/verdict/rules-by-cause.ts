/** Rules for requests without a whole answer, or with the router's own error: by cause, connection and moment. */

import {
  atExit,
  beforeWork,
  cutByKill,
  isInstant,
  leftAtOnce,
  moment,
  neverWorked,
  outcome,
  says,
  soonerThanWork,
  stillListed,
  time,
  type Rule,
} from "./evidence.ts";
import { THRESHOLDS } from "./thresholds.ts";

export const BY_CAUSE: readonly Rule[] = [
  {
    kind: "cut-by-router",
    evidence: (facts) =>
      facts.line?.class === "cut-by-router"
        ? `${outcome(facts)}${moment(facts)}; the router ended it when it dropped the copy`
        : null,
  },
  {
    kind: "router-port-reuse",
    evidence: (facts) => {
      const { request, routerName } = facts;
      const reloadMs = facts.reloadsMs.findLast((atMs) => atMs <= request.endedMs);
      // Measured with Caddy 2.6; of its own log it must be missing, or a copy may have reset what Caddy passed on.
      const known = routerName.startsWith("HAProxy") || (routerName.startsWith("Caddy") && facts.unlogged);
      return known &&
        request.error === "ECONNRESET" &&
        request.connection.reuse === 0 &&
        request.bytes.got === 0 &&
        reloadMs !== undefined &&
        request.endedMs - reloadMs <= THRESHOLDS.reloadWindowMs
        ? `${outcome(facts)} on a new client connection, ${time(request.endedMs - reloadMs)} after the router's reload`
        : null;
    },
  },
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
    kind: "wrapper",
    confidence: "certain",
    evidence: (facts) => {
      const { life, leaving, cause } = facts;
      return leaving !== null && life?.leftBehind === true && (cause === "cut" || cause === "connect-refused")
        ? `${outcome(facts)}${moment(facts)}; ${life.program ?? "the process that got it"} ended and left ${life.below ?? "its children"} behind`
        : null;
    },
  },
  {
    kind: "stale-address",
    evidence: (facts) => {
      const removedMs = facts.life?.removedMs ?? null;
      const late = removedMs === null ? 0 : facts.request.dispatchedMs - removedMs;
      return facts.cause === "connect-refused" && late > THRESHOLDS.removalSlackMs
        ? `${outcome(facts)}: connection refused at ${facts.copy}, ${time(late)} after it was taken out`
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
    kind: "black-hole",
    evidence: (facts) => {
      const { cause, line, request, direct } = facts;
      const connecting =
        (direct && request.stage === "connect") ||
        /while connecting|connect timed out/.test(line?.text ?? "");
      return cause === "timeout" && connecting
        ? `${outcome(facts)}: the connection was neither made nor refused${moment(facts)}${says(facts)}`
        : null;
    },
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
    kind: "worker-recycling",
    confidence: "likely",
    evidence: (facts) =>
      facts.cause === "cut" && facts.leaving === null && facts.aliveAfter && facts.workerTurn !== null
        ? `${outcome(facts)} at ${facts.copy}, which nobody had stopped; ${facts.workerTurn}`
        : null,
  },
  {
    kind: "idle-timeout",
    evidence: (facts) =>
      facts.cause === "cut" &&
      facts.pooled &&
      facts.leaving === null &&
      (beforeWork(facts) || (soonerThanWork(facts) && neverWorked(facts)))
        ? `${outcome(facts)} on a pooled connection${moment(facts)} while no copy was leaving${says(facts)}`
        : null,
  },
  {
    kind: "keep-alive-race",
    evidence: (facts) =>
      facts.cause === "cut" && facts.pooled && beforeWork(facts) && !leftAtOnce(facts)
        ? `${outcome(facts)} on a pooled connection${moment(facts)}${says(facts)}`
        : null,
  },
  {
    kind: "ignored-signal",
    evidence: (facts) => {
      const { life, cause } = facts;
      return cause === "cut" && cutByKill(facts) && life?.notReadyMs === null
        ? `${outcome(facts)}${moment(facts)}; nothing had changed at ${life.name} when SIGKILL came${says(facts)}`
        : null;
    },
  },
  {
    kind: "never-ends",
    evidence: (facts) => {
      const { life, cause, request } = facts;
      const closedMs = life?.notReady === "ECONNREFUSED" ? life.notReadyMs : null;
      return cause === "cut" && cutByKill(facts) && closedMs !== null && request.dispatchedMs > closedMs
        ? `${outcome(facts)}${moment(facts)}, over a connection that outlived the listener by ${time(request.dispatchedMs - closedMs)}${says(facts)}`
        : null;
    },
  },
  {
    kind: "killed",
    evidence: (facts) => {
      const killedMs = facts.life?.killedMs ?? null;
      return facts.cause === "cut" && cutByKill(facts) && killedMs !== null
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
    kind: "unread-body",
    confidence: "likely",
    evidence: (facts) =>
      facts.cause === "cut" &&
      !facts.pooled &&
      facts.aliveAfter &&
      (facts.request.stage === "write" ||
        /while sending (?:request )?to upstream|\(sending\)/.test(facts.line?.text ?? ""))
        ? `${outcome(facts)} while its body was being sent${moment(facts)}${says(facts)}`
        : null,
  },
  {
    kind: "accept-queue",
    evidence: (facts) =>
      facts.cause === "cut" &&
      facts.leaving !== null &&
      !facts.pooled &&
      isInstant(facts) &&
      neverWorked(facts)
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
    confidence: "possible",
    evidence: (facts) =>
      facts.cause === "cut" && (facts.pooled || facts.request.connection.reuse > 0)
        ? `${outcome(facts)} on a pooled connection while no copy was leaving${says(facts)}`
        : null,
  },
  {
    kind: "service-error",
    evidence: (facts) =>
      facts.cause === "cut" && facts.leaving === null && facts.aliveAfter && facts.line !== null
        ? `${outcome(facts)}: cut by a copy that nobody had told to stop and that lives on${moment(facts)}${says(facts)}`
        : null,
  },
  // Without the router's words only the shape in time is left.
  {
    kind: "closed-door",
    confidence: "possible",
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
    confidence: "possible",
    evidence: (facts) =>
      facts.cause === null && atExit(facts) && !isInstant(facts)
        ? `${outcome(facts)}${moment(facts)}; it exited at that moment`
        : null,
  },
  {
    kind: "router-error",
    confidence: "possible",
    evidence: (facts) =>
      facts.request.fate === "answered" ? `${outcome(facts)}${moment(facts)}${says(facts)}` : null,
  },
];
