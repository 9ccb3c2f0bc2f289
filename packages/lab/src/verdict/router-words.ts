/** Joins bad requests with the lines of the router's error log: by request line, by address, by time. A line serves once. */

import type { RequestRecord, RouterLogRecord } from "../ledger/records.ts";
import { triedPorts } from "./attribution.ts";
import { THRESHOLDS } from "./thresholds.ts";

interface Line {
  readonly record: RouterLogRecord;
  readonly port: number | null;
  used: boolean;
}

interface Pile {
  readonly lines: Line[];
  /** All before it are used. */
  first: number;
}

/** How many unused lines are looked at for one request: more would make a flood of failures quadratic. */
const SCAN = 64;

function requestLine(text: string): string {
  return /request: "([A-Z]+ [^\s"]+)/.exec(text)?.[1] ?? "";
}

function portIn(text: string): number | null {
  const port = /upstream: "?(?:https?:\/\/)?[^\s",/]*:(\d+)/.exec(text)?.[1];
  return port === undefined ? null : Number(port);
}

export interface RouterWords {
  /** The line about this request, if the router wrote one. Ask in the order of the requests' ends. */
  take(request: RequestRecord): RouterLogRecord | null;
}

export function createRouterWords(log: readonly RouterLogRecord[]): RouterWords {
  const piles = new Map<string, Pile>();
  for (const record of log.toSorted((a, b) => a.atMs - b.atMs)) {
    const key = requestLine(record.text);
    const pile = piles.get(key) ?? { lines: [], first: 0 };
    piles.set(key, pile);
    pile.lines.push({ record, port: portIn(record.text), used: false });
  }

  function takeFrom(pile: Pile, request: RequestRecord): RouterLogRecord | null {
    const ports = triedPorts(request.upstream);
    const earliestMs = request.dispatchedMs - THRESHOLDS.routerLogJoinMs;
    const latestMs = request.endedMs + THRESHOLDS.routerLogJoinMs;
    for (;;) {
      const line = pile.lines[pile.first];
      if (line === undefined || (!line.used && line.record.atMs >= earliestMs)) {
        break;
      }
      // Used, or too old for this request; requests come in the order of their ends, so mostly for all that follow too.
      pile.first += 1;
    }
    let best: Line | null = null;
    let bestMs = Number.POSITIVE_INFINITY;
    for (const line of pile.lines.slice(pile.first, pile.first + SCAN)) {
      const apartMs = Math.abs(line.record.atMs - request.endedMs);
      const mine = line.port === null || ports.length === 0 || ports.includes(line.port);
      const inTime = line.record.atMs >= earliestMs && line.record.atMs <= latestMs;
      // Of lines with the same time the first is taken: the order of the log is the order of the failures.
      if (!line.used && mine && inTime && apartMs < bestMs) {
        best = line;
        bestMs = apartMs;
      }
    }
    if (best !== null) {
      best.used = true;
    }
    return best?.record ?? null;
  }

  return {
    take: (request) => {
      // A line without a request line may be about any request.
      for (const key of [`${request.method} ${request.path}`, ""]) {
        const pile = piles.get(key);
        const record = pile === undefined ? null : takeFrom(pile, request);
        if (record !== null) {
          return record;
        }
      }
      return null;
    },
  };
}
