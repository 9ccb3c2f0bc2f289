/** Findings in how the router has spread the requests: a new copy that got none, a leaving one that still got some. */

import { time } from "./evidence.ts";
import type { Attributed } from "./exposure.ts";
import type { Told } from "./finding.ts";
import type { Seen } from "./last-seen.ts";
import { COLUMN } from "./request-table.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Timeline } from "./timeline.ts";
import type { BadRequest } from "./verdict.ts";

export interface Traffic {
  readonly timeline: Timeline;
  readonly attributed: Attributed;
  /** By the copies' places in the timeline. */
  readonly seen: readonly Seen[];
}

type ToldOfRestart = Told & { readonly restart: number };

/** Of fewer requests than this the turn may simply not have come to a copy. */
const FEW = 10;

/** The new copy was in the router's list, the others were sent requests, and it was not. */
export function noShare({ timeline, attributed, seen }: Traffic): readonly ToldOfRestart[] {
  return timeline.restarts.flatMap(({ replacement }, restart) => {
    const addedMs = replacement?.addedMs ?? null;
    const first = replacement === null ? undefined : seen[timeline.copies.indexOf(replacement)];
    const untilMs = Math.min(
      first === undefined || first.firstMs < 0 ? Number.POSITIVE_INFINITY : first.firstMs,
      replacement?.signalMs ?? Number.POSITIVE_INFINITY,
      timeline.loadEndedMs ?? Number.POSITIVE_INFINITY,
    );
    if (
      replacement === null ||
      addedMs === null ||
      untilMs - addedMs < THRESHOLDS.noShareMs ||
      untilMs === Infinity
    ) {
      return [];
    }
    let others = 0;
    for (let row = 0; row < attributed.requests.length; row += 1) {
      const sentMs = attributed.requests.value(row, COLUMN.dispatchedMs);
      others += sentMs > addedMs && sentMs < untilMs && attributed.copyOf(row) >= 0 ? 1 : 0;
    }
    return others < FEW
      ? []
      : [
          {
            kind: "passive-mark" as const,
            confidence: "likely" as const,
            fails: false,
            evidence: `${replacement.name} was in the router's list for ${time(untilMs - addedMs)} without a request, while the others were sent ${others}`,
            atMs: addedMs,
            restart,
          },
        ];
  });
}

/** The new copy failed a request, and was sent none for a while, though the router still listed it. */
export function markedOut(
  { timeline, attributed }: Traffic,
  bad: readonly BadRequest[],
): readonly ToldOfRestart[] {
  const failed = bad.filter(({ harm }) => harm === "lost" || harm === "masked");
  return timeline.restarts.flatMap(({ replacement }, restart) => {
    const own = replacement === null ? [] : failed.filter(({ copy }) => copy === replacement.name);
    if (replacement === null || own.length === 0) {
      return [];
    }
    const index = timeline.copies.indexOf(replacement);
    const sent: number[] = [];
    const others: number[] = [];
    for (let row = 0; row < attributed.requests.length; row += 1) {
      const copy = attributed.copyOf(row);
      const sentMs = attributed.requests.value(row, COLUMN.dispatchedMs);
      if (copy === index) {
        sent.push(sentMs);
      } else if (copy >= 0) {
        others.push(sentMs);
      }
    }
    const turns = [
      ...sent.toSorted((a, b) => a - b),
      // Its last gap ends when it leaves.
      Math.min(
        replacement.signalMs ?? Number.POSITIVE_INFINITY,
        replacement.removedMs ?? Number.POSITIVE_INFINITY,
        timeline.loadEndedMs ?? 0,
      ),
    ];
    const gap = turns.findIndex((fromMs, at) => {
      const untilMs = turns[at + 1] ?? 0;
      return (
        untilMs - fromMs >= THRESHOLDS.noShareMs &&
        others.filter((ms) => ms > fromMs && ms < untilMs).length >= FEW &&
        // Not until its failure was known was it left out.
        own.some(({ request }) => request.dispatchedMs <= fromMs && request.endedMs >= fromMs)
      );
    });
    const [fromMs, untilMs] = [turns[gap], turns[gap + 1]];
    if (fromMs === undefined || untilMs === undefined) {
      return [];
    }
    const elsewhere = others.filter((ms) => ms > fromMs && ms < untilMs).length;
    return [
      {
        kind: "passive-mark" as const,
        confidence: "likely" as const,
        fails: false,
        evidence: `${replacement.name} failed a request, and was sent none for ${time(untilMs - fromMs)} after it, while the others were sent ${elsewhere}`,
        atMs: fromMs,
        restart,
      },
    ];
  });
}

export function sentAfterRemoval({ timeline, seen }: Traffic): readonly ToldOfRestart[] {
  return timeline.restarts.flatMap(({ life }, restart) => {
    const lastMs = seen[timeline.copies.indexOf(life)]?.sentMs ?? -1;
    const { removedMs } = life;
    return removedMs !== null && lastMs - removedMs > THRESHOLDS.removalSlackMs
      ? [
          {
            kind: "slow-deregistration" as const,
            confidence: "certain" as const,
            fails: false,
            evidence: `${life.name} was sent a request ${time(lastMs - removedMs)} after the router was said to have dropped it`,
            atMs: lastMs,
            restart,
          },
        ]
      : [];
  });
}
