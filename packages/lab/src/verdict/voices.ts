/**
 * The voices of a run: the ways in which answers say who made them, each once. Whom one of them names is known when all copies
 * are, so a request stands for it.
 */

import type { RequestRecord } from "../ledger/records.ts";

export interface Voices {
  /** The first request of each. */
  readonly requests: readonly RequestRecord[];
  /** Index into `requests`; -1 where the answer does not say. */
  of(request: RequestRecord): number;
}

/** Bounds of the parts of a voice's key; their product is a safe integer. */
const NAMES = 2 ** 15;
const SECONDS = 2 ** 22;

function addressesIn(upstream: string): string {
  const end = upstream.indexOf("|");
  return end < 0 ? upstream : upstream.slice(0, end);
}

/** A number from 1 on for each text. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const known = numbers.get(text);
    if (known !== undefined) {
      return known;
    }
    numbers.set(text, numbers.size + 1);
    return numbers.size;
  };
}

export function createVoices(): Voices {
  const requests: RequestRecord[] = [];
  const numberOf = numbering();
  const indices = new Map<number, number>();

  /**
   * The same answerer has the same key. Both words count: a pid may be that of a worker process, which no event names, and a
   * port may pass from one copy to another, so with ports a key lasts a second.
   */
  function keyOf({ copy, upstream, endedMs }: RequestRecord): number {
    const who = copy === null ? 0 : numberOf(copy);
    const where = upstream === null ? 0 : numberOf(addressesIn(upstream));
    const second = upstream === null ? 0 : Math.floor(endedMs / 1000) % SECONDS;
    return (who * NAMES + where) * SECONDS + second;
  }

  return {
    requests,
    of: (request) => {
      if (request.copy === null && request.upstream === null) {
        return -1;
      }
      const key = keyOf(request);
      const known = indices.get(key);
      if (known !== undefined) {
        return known;
      }
      indices.set(key, requests.length);
      return requests.push(request) - 1;
    },
  };
}
