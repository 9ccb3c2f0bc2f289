/** Bad requests, counted: by kind, by harm, by who has to change something. Each counts once in each table. */

import { KINDS, type KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { BadRequest, ChargedTo, Harm, KindTally } from "./verdict.ts";

export function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const name = nameOf(item);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function tallyOf(slug: KindSlug, bad: readonly BadRequest[]): KindTally {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let get = 0;
  const restarts = new Set<number>();
  for (const { request, restart } of bad) {
    firstMs = Math.min(firstMs, request.dispatchedMs);
    lastMs = Math.max(lastMs, request.dispatchedMs);
    get += request.method === "GET" ? 1 : 0;
    if (restart !== null) {
      restarts.add(restart);
    }
  }
  return {
    slug,
    ...KINDS[slug],
    count: bad.length,
    get,
    post: bad.length - get,
    firstMs,
    lastMs,
    copies: countBy(bad, ({ copy }) => copy ?? "?"),
    restarts: [...restarts].toSorted((a, b) => a - b),
    examples: bad.slice(0, THRESHOLDS.examples),
  };
}

/** Most frequent first. */
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

export function tallyHarms(bad: readonly BadRequest[]): Readonly<Record<Harm, number>> {
  const none: Record<Harm, number> = {
    truncated: 0,
    lost: 0,
    duplicated: 0,
    unstored: 0,
    masked: 0,
    slowed: 0,
  };
  return { ...none, ...countBy(bad, ({ harm }) => harm) };
}

export function tallyCharges(bad: readonly BadRequest[]): Readonly<Record<ChargedTo, number>> {
  const none: Record<ChargedTo, number> = { service: 0, router: 0, lab: 0 };
  return { ...none, ...countBy(bad, ({ kind }) => KINDS[kind as KindSlug].chargedTo) };
}
