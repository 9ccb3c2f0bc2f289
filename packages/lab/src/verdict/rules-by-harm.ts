/** Rules where the harm decides, alone or with the phase of the copy: stored wrongly, masked, truncated, slowed. */

import { outcome, moment, says, time, type Rule } from "./evidence.ts";
import { BY_STREAM } from "./rules-by-stream.ts";
import { routerConnectMs } from "./router-times.ts";
import { THRESHOLDS } from "./thresholds.ts";

export const BY_HARM: readonly Rule[] = [
  {
    kind: "job-lost",
    evidence: ({ harm, request, stored }) =>
      request.status === 202 && (harm === "unstored" || harm === "duplicated")
        ? `202 for ${request.id}, and done ${stored === 0 ? "never" : `${stored ?? 0} times`} by the end of the run`
        : null,
  },
  {
    kind: "unstored",
    evidence: ({ harm, request }) =>
      harm === "unstored" ? `${request.status} for ${request.id}, and no row under this id` : null,
  },
  {
    kind: "duplicated",
    evidence: ({ harm, request, stored, seen }) =>
      harm === "duplicated"
        ? `${request.status} for ${request.id}, and ${stored === null ? `${seen?.answered ?? 0} good answers to it by the copies` : `${stored} rows under this id`}`
        : null,
  },
  {
    kind: "masked-by-retry",
    evidence: (facts) =>
      facts.harm === "masked"
        ? `${facts.request.status}, but the router asked ${facts.tried.length > 1 ? facts.tried.join(", then ") : "more than once"}${says(facts)}`
        : null,
  },
  ...BY_STREAM,
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
    evidence: (facts) => {
      const { harm, request, copy } = facts;
      const tookMs = (request.connectedMs ?? request.endedMs) - request.dispatchedMs;
      if (harm !== "slowed" || Math.max(tookMs, routerConnectMs(request)) < THRESHOLDS.connectRetryMs) {
        return null;
      }
      return tookMs >= THRESHOLDS.connectRetryMs
        ? `the connection took ${time(tookMs)}`
        : `the router's connection to ${copy ?? "the copy"} took ${time(routerConnectMs(request))}${moment(facts)}`;
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
        ? `${outcome(facts)} at ${facts.copy}, ready ${time(Math.max(0, facts.request.dispatchedMs - (facts.life?.readyMs ?? 0)))} before`
        : null,
  },
  {
    kind: "too-few-copies",
    confidence: "likely",
    evidence: (facts) =>
      facts.harm === "slowed" && facts.away !== null
        ? `${outcome(facts)}${moment(facts)} while ${facts.away} was away`
        : null,
  },
  {
    kind: "slow",
    evidence: (facts) => (facts.harm === "slowed" ? `${outcome(facts)}${moment(facts)}` : null),
  },
];
