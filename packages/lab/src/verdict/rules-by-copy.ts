/** Rules for answers that say no and were made by a copy itself, by the phase of that copy. */

import { moment, outcome, type Rule } from "./evidence.ts";

export const BY_COPY: readonly Rule[] = [
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
