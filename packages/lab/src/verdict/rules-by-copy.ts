/** Rules for answers that say no and were made by a copy itself, by the phase of that copy. */

import { moment, outcome, type Rule } from "./evidence.ts";

export const BY_COPY: readonly Rule[] = [
  {
    kind: "too-few-copies",
    confidence: "likely",
    evidence: (facts) => {
      const { byCopy, request, leaving, away, quiet } = facts;
      const overload = request.status === 503 || request.status === 429;
      return byCopy && overload && leaving === null && away !== null && !quiet.overload
        ? `${outcome(facts)} by the copy itself${moment(facts)} while ${away} was away; before the first stop there was none`
        : null;
    },
  },
  {
    kind: "version-skew",
    confidence: "likely",
    evidence: (facts) => {
      const { byCopy, request, afterFirstStop, quiet } = facts;
      const refused = (request.status ?? 0) < 500 && request.status !== 429;
      return byCopy && refused && afterFirstStop && !quiet.clientErrors
        ? `${outcome(facts)} to ${request.method} ${request.path}${moment(facts)}; before the first stop there was no such answer`
        : null;
    },
  },
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
