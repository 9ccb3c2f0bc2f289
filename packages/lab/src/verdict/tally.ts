/** Bad requests, counted: by kind, by harm, by who has to change something. Each counts once in each table. */

import type { Finding } from "./finding.ts";
import { KINDS, type KindSlug } from "./kinds.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { BadRequest, ChargedTo, Confidence, Harm, KindTally } from "./verdict.ts";

/** What to change for a kind, with the numbers that were measured. */
export type AdviceFor = (kind: KindSlug) => string;

export function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const name = nameOf(item);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Most sure first. */
const CONFIDENCES: readonly Confidence[] = ["proven", "certain", "likely", "possible"];

function leastSure(all: readonly Confidence[]): Confidence {
  // No spread: there may be more of them than a call takes arguments.
  const least = all.reduce((rank, one) => Math.max(rank, CONFIDENCES.indexOf(one)), -1);
  return CONFIDENCES[least] ?? "possible";
}

function tallyOf(slug: KindSlug, bad: readonly BadRequest[], advice: AdviceFor): KindTally {
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
  const { id, title, chargedTo, why } = KINDS[slug];
  return {
    id,
    slug,
    title,
    chargedTo,
    count: bad.length,
    fails: chargedTo === "service",
    confidence: leastSure(bad.map((one) => one.confidence)),
    evidence: bad[0]?.evidence ?? "",
    advice: advice(slug),
    why,
    get,
    post: bad.length - get,
    firstMs,
    lastMs,
    copies: countBy(bad, ({ copy }) => copy ?? "?"),
    restarts: [...restarts].toSorted((a, b) => a - b),
    examples: bad.slice(0, THRESHOLDS.examples),
  };
}

/** A finding without a loss, as a kind with the count 0. */
function tallyFinding(finding: Finding, advice: AdviceFor): KindTally {
  const { id, title, chargedTo, why } = KINDS[finding.kind];
  return {
    id,
    slug: finding.kind,
    title,
    chargedTo,
    count: 0,
    fails: finding.fails,
    confidence: finding.confidence,
    evidence: finding.evidence,
    advice: advice(finding.kind),
    why,
    get: 0,
    post: 0,
    firstMs: finding.atMs,
    lastMs: finding.atMs,
    copies: {},
    restarts: finding.restarts,
    examples: [],
  };
}

/** Most frequent first, then the findings whose kind has no bad request. */
export function tallyKinds(
  bad: readonly BadRequest[],
  findings: readonly Finding[],
  advice: AdviceFor,
): readonly KindTally[] {
  const piles = new Map<string, BadRequest[]>();
  for (const one of bad) {
    const pile = piles.get(one.kind);
    if (pile === undefined) {
      piles.set(one.kind, [one]);
    } else {
      pile.push(one);
    }
  }
  const kinds = [...piles]
    .map(([slug, pile]) => tallyOf(slug as KindSlug, pile, advice))
    .toSorted((a, b) => b.count - a.count);
  const alone = findings.filter(({ kind }) => !piles.has(kind));
  return [...kinds, ...alone.map((finding) => tallyFinding(finding, advice))];
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
