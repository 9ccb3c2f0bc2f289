/**
 * From facts to a kind: an ordered list of rules, of which the first that holds decides. A new kind is an entry in kinds.ts
 * and a rule at its place in one of the lists.
 */

import { moment, outcome, type Rule } from "./evidence.ts";
import type { Facts } from "./facts.ts";
import type { KindSlug } from "./kinds.ts";
import { BY_CAUSE } from "./rules-by-cause.ts";
import { BY_COPY } from "./rules-by-copy.ts";
import { BY_HARM } from "./rules-by-harm.ts";

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
