/**
 * From facts to a kind: an ordered list of rules, of which the first that holds decides. A new kind is an entry in kinds.ts
 * and a rule at its place in one of the lists.
 */

import { confidenceOf, moment, outcome, says, time, type Rule } from "./evidence.ts";
import type { Facts } from "./facts.ts";
import type { KindSlug } from "./kinds.ts";
import { BY_CAUSE } from "./rules-by-cause.ts";
import { BY_COPY } from "./rules-by-copy.ts";
import { BY_HARM } from "./rules-by-harm.ts";
import { BY_SESSION } from "./rules-by-session.ts";
import { heldByRouterMs } from "./router-times.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Confidence } from "./verdict.ts";

const OWN_LIMITS: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "EADDRNOTAVAIL",
  "EADDRINUSE",
  "ENOBUFS",
  "ENOMEM",
]);

const RULES: readonly Rule[] = [
  {
    kind: "lab-limit",
    evidence: (facts) => {
      const { request, direct } = facts;
      const own = OWN_LIMITS.has(request.error ?? "");
      if (facts.line?.class === "router-limit") {
        return `${outcome(facts)}: the router ran out of its own ports or files`;
      }
      const connectMs = (request.connectedMs ?? request.endedMs) - request.dispatchedMs;
      if (facts.harm === "slowed" && !direct && connectMs >= THRESHOLDS.connectRetryMs) {
        return `its connection to the router took ${time(connectMs)}`;
      }
      if (facts.harm === "slowed" && heldByRouterMs(request) >= THRESHOLDS.slowOverBaselineMs) {
        return `${outcome(facts)}, of which the router itself kept it for ${time(heldByRouterMs(request))}`;
      }
      // A connection that the router itself refuses says nothing about the service.
      return own || (!direct && request.stage === "connect") ? `${outcome(facts)} to the router` : null;
    },
  },
  ...BY_HARM,
  {
    kind: "garbage",
    evidence: (facts) =>
      facts.request.error === "PARSE" || facts.line?.class === "no-http"
        ? `${outcome(facts)}: what came back is no HTTP${moment(facts)}${says(facts)}`
        : null,
  },
  {
    kind: "client-error",
    evidence: (facts) =>
      facts.request.error === "NO_UPGRADE"
        ? `${facts.request.status} to ${facts.request.path}${moment(facts)}, and no WebSocket`
        : null,
  },
  ...BY_SESSION,
  ...BY_COPY,
  ...BY_CAUSE,
];

export interface Classified {
  readonly kind: KindSlug;
  readonly confidence: Confidence;
  readonly evidence: string;
}

export function classify(facts: Facts): Classified {
  for (const { kind, confidence, evidence } of RULES) {
    const text = evidence(facts);
    if (text !== null) {
      return { kind, confidence: confidence ?? confidenceOf(facts), evidence: text };
    }
  }
  return { kind: "unexplained", confidence: "possible", evidence: `${outcome(facts)}${moment(facts)}` };
}
