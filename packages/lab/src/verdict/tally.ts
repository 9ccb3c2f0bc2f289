/** Bad requests, counted by kind. */

import { KINDS, type KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { BadRequest, KindTally } from "./verdict.ts";

function tallyOf(slug: KindSlug, bad: readonly BadRequest[]): KindTally {
  const copies: Record<string, number> = {};
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let get = 0;
  for (const { copy, request } of bad) {
    copies[copy ?? "?"] = (copies[copy ?? "?"] ?? 0) + 1;
    firstMs = Math.min(firstMs, request.dispatchedMs);
    lastMs = Math.max(lastMs, request.dispatchedMs);
    get += request.method === "GET" ? 1 : 0;
  }
  return {
    slug,
    ...KINDS[slug],
    count: bad.length,
    get,
    post: bad.length - get,
    firstMs,
    lastMs,
    copies,
    examples: bad.slice(0, THRESHOLDS.examples),
  };
}

/** Most frequent first; each bad request in exactly one. */
export function tallyKinds(bad: readonly BadRequest[]): readonly KindTally[] {
  const piles = new Map<string, BadRequest[]>();
  for (const one of bad) {
    const pile = piles.get(one.kind);
    if (pile === undefined) {
      piles.set(one.kind, [one]);
    } else {
      pile.push(one);
    }
  }
  return [...piles]
    .map(([slug, pile]) => tallyOf(slug as KindSlug, pile))
    .toSorted((a, b) => b.count - a.count);
}
