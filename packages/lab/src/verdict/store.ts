/** What the store has, joined with what the clients were told: each id once, acknowledged or in doubt (R4). */

import type { ExecutedRecord, RequestRecord } from "../ledger/records.ts";
import type { StoreVerdict } from "./verdict.ts";

/** A POST that was acknowledged, and is stored more than once or not at all. */
export interface Contradiction {
  /** Its row in the table of requests. */
  readonly row: number;
  readonly times: number;
}

export interface Store {
  posted(request: RequestRecord, row: number): void;
  executed(record: ExecutedRecord): void;
  /** The store was read, even if it held nothing. */
  wasRead(): void;
  /** How often the id is stored; null when nobody looked or the request stores nothing. */
  timesStored(id: string): number | null;
  contradictions(): readonly Contradiction[];
  verdict(): StoreVerdict;
}

function isAcknowledged({ fate, status }: RequestRecord): boolean {
  return fate === "answered" && status !== null && status >= 200 && status < 300;
}

export function createStore(): Store {
  /** Id to row; a negative one (-1 - row) was not acknowledged. Numbers, because there may be a million. */
  const posts = new Map<string, number>();
  const times = new Map<string, number>();
  let checked = false;

  function contradictions(): readonly Contradiction[] {
    const found: Contradiction[] = [];
    for (const [id, row] of checked ? posts : []) {
      const stored = times.get(id) ?? 0;
      if (row >= 0 && stored !== 1) {
        found.push({ row, times: stored });
      }
    }
    return found;
  }

  function verdict(): StoreVerdict {
    const unstored: string[] = [];
    const inDoubt: string[] = [];
    const duplicated: { readonly id: string; readonly times: number }[] = [];
    let acknowledged = 0;
    let rows = 0;
    for (const [id, row] of posts) {
      const stored = times.get(id) ?? 0;
      rows += stored;
      if (row >= 0) {
        acknowledged += 1;
        if (checked && stored === 0) {
          unstored.push(id);
        }
      } else if (stored > 0) {
        inDoubt.push(id);
      }
      if (stored > 1) {
        duplicated.push({ id, times: stored });
      }
    }
    let foreign = 0;
    for (const id of times.keys()) {
      foreign += posts.has(id) ? 0 : 1;
    }
    const equal = checked && unstored.length === 0 && inDoubt.length === 0 && duplicated.length === 0;
    return { checked, acknowledged, rows, equal, unstored, inDoubt, duplicated, foreign };
  }

  return {
    posted: (request, row) => void posts.set(request.id, isAcknowledged(request) ? row : -1 - row),
    executed: ({ id }) => {
      checked = true;
      times.set(id, (times.get(id) ?? 0) + 1);
    },
    wasRead: () => {
      checked = true;
    },
    timesStored: (id) => (checked && posts.has(id) ? (times.get(id) ?? 0) : null),
    contradictions,
    verdict,
  };
}
