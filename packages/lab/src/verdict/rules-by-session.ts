/** Rules for streams of HTTP/2 that ended with their session, or by its last word (GOAWAY). */

import { moment, outcome, time, type Rule } from "./evidence.ts";
import type { Facts } from "./facts.ts";
import { THRESHOLDS } from "./thresholds.ts";

function isBySession({ request }: Facts): boolean {
  return /GOAWAY|REFUSED_STREAM|HTTP2/.test(request.error ?? "");
}

/** RFC 9113, sections 6.8 and 8.7. */
function meaning({ request }: Facts): string {
  switch (request.error) {
    case "REFUSED_STREAM":
      return ": nothing had been done for it, and it is safe to send again";
    case "GOAWAY":
      return ": the GOAWAY's last stream id was its own or above it, and its connection ended without an answer";
    case null:
    default:
      return "";
  }
}

export const BY_SESSION: readonly Rule[] = [
  {
    kind: "router-reload",
    evidence: (facts) => {
      const { request, http2AtRouter, reloadsMs } = facts;
      const reloadMs = reloadsMs.findLast((atMs) => atMs <= request.endedMs);
      return isBySession(facts) &&
        http2AtRouter &&
        reloadMs !== undefined &&
        request.endedMs - reloadMs <= THRESHOLDS.reloadWindowMs
        ? `${outcome(facts)}${meaning(facts)}; it was the router's session, ${time(request.endedMs - reloadMs)} after its reload`
        : null;
    },
  },
  {
    kind: "router-error",
    evidence: (facts) =>
      isBySession(facts) && facts.http2AtRouter
        ? `${outcome(facts)}${meaning(facts)}; it was the router's session, and its reload was not near`
        : null,
  },
  {
    kind: "goaway-race",
    evidence: (facts) => (isBySession(facts) ? `${outcome(facts)}${meaning(facts)}${moment(facts)}` : null),
  },
];
