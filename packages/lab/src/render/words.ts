/** The verdict in a headline and a sentence: the same words in every form of a report. */

import type { Harm, Verdict } from "../verdict/verdict.ts";
import { grouped, plural } from "./numbers.ts";

/** In the order of how bad it is: the harm, its name, its meaning. */
export const HARMS: readonly (readonly [Harm, string, string])[] = [
  ["unstored", "acknowledged, not stored", "the client was told yes, and nothing was kept"],
  ["lost", "lost", "no whole answer, or one that says no"],
  ["truncated", "truncated", "the answer began and its body was cut"],
  ["duplicated", "duplicated", "executed more than once"],
  ["masked", "masked by a retry", "saved by the router's second try alone"],
  ["slowed", "slowed", "answered well, and too late"],
];

/** `a wrapper keeps the signal` as a headline. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

export function titleOf({ outcome, requests, kinds }: Verdict): string {
  if (outcome === "invalid") {
    return "This run proves nothing";
  }
  const found = kinds.find(({ fails, count }) => fails && count === 0);
  if (outcome === "fail" && requests.bad === 0 && found !== undefined) {
    return sentence(found.title);
  }
  return outcome === "pass"
    ? "Nothing was lost"
    : `${grouped(requests.bad)} of ${plural(requests.sent, "request")} went wrong`;
}

export function subtitleOf({ outcome, invalid, requests, restarts, kinds }: Verdict): string {
  const stops = plural(restarts.length, "restart");
  if (outcome === "invalid") {
    return `${sentence(invalid.join("; "))}.`;
  }
  if (outcome === "pass") {
    const apart =
      requests.byCharge.router === 0
        ? ""
        : ` ${plural(requests.byCharge.router, "request was", "requests were")} dropped by the router itself, which no service can prevent.`;
    return `${plural(requests.sent, "request")}, ${stops}: none lost, duplicated, truncated or slowed by the service.${apart}`;
  }
  const found = kinds.find(({ fails, count }) => fails && count === 0);
  if (requests.bad === 0 && found !== undefined) {
    return `No request was lost in ${stops}. ${found.evidence}`;
  }
  const harms = HARMS.flatMap(([harm, name]) =>
    requests.byHarm[harm] > 0 ? [`${grouped(requests.byHarm[harm])} ${name}`] : [],
  );
  return `${harms.join(", ")}, in ${stops}.`;
}
