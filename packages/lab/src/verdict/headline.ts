/** The verdict in one line. */

import type { Verdict } from "./verdict.ts";

function count(n: number, one: string): string {
  return `${n} ${one}${n === 1 ? "" : "s"}`;
}

export function headlineOf(verdict: Omit<Verdict, "headline">): string {
  const { requests, kinds, restarts, invalid, outcome } = verdict;
  const restartText = count(restarts.length, "restart");
  if (outcome === "invalid") {
    return `invalid run: ${invalid.join("; ")}`;
  }
  const list = kinds
    .filter((kind) => kind.count > 0)
    .map((kind) => `${kind.count} ${kind.title} (${kind.id})`);
  if (outcome === "fail") {
    const also = kinds
      .filter((kind) => kind.count === 0 && kind.fails)
      .map((kind) => `; ${kind.title} (${kind.id})`)
      .join("");
    const what = list.length === 0 ? "" : `: ${list.join(", ")}`;
    return `${requests.bad} of ${count(requests.sent, "request")} went wrong in ${restartText}${what}${also}`;
  }
  const charged = list.length === 0 ? "" : `; charged to the router: ${list.join(", ")}`;
  return `0 of ${count(requests.sent, "request")} lost, duplicated, truncated or slowed in ${restartText}${charged}`;
}
