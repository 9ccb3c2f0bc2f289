/** What the store has, joined with what the clients were told: each id once, acknowledged or in doubt (R4). */

import { int32, uint8, type Column } from "./columns.ts";
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
  wasChecked(): boolean;
  /** How often the id is stored; null when nobody looked or the request stores nothing. */
  timesStored(id: string): number | null;
  isPost(id: string): boolean;
  contradictions(): readonly Contradiction[];
  verdict(): StoreVerdict;
}

function isAcknowledged({ fate, status }: RequestRecord): boolean {
  return fate === "answered" && status !== null && status >= 200 && status < 300;
}

/** Of executions: one byte each, and nobody asks how often beyond that. */
const MANY = 255;

export function createStore(): Store {
  /** Id to place; the columns have what is known of it. Numbers, because there may be a million. */
  const places = new Map<string, number>();
  const rows: Column = int32();
  const acknowledged: Column = uint8();
  const times: Column = uint8();
  /** Executions of ids that were not posted, or not yet. */
  const strangers = new Map<string, number>();
  let checked = false;

  function count(id: string, more: number): void {
    const place = places.get(id);
    if (place === undefined) {
      strangers.set(id, (strangers.get(id) ?? 0) + more);
    } else {
      times.set(place, Math.min(MANY, times.at(place) + more));
    }
  }

  function contradictions(): readonly Contradiction[] {
    const found: Contradiction[] = [];
    const all = checked ? rows.length : 0;
    for (let place = 0; place < all; place += 1) {
      if (acknowledged.at(place) === 1 && times.at(place) !== 1) {
        found.push({ row: rows.at(place), times: times.at(place) });
      }
    }
    return found;
  }

  function verdict(): StoreVerdict {
    const unstored: string[] = [];
    const inDoubt: string[] = [];
    const duplicated: { readonly id: string; readonly times: number }[] = [];
    let told = 0;
    let stored = 0;
    for (const [id, place] of places) {
      const often = times.at(place);
      stored += often;
      if (acknowledged.at(place) === 1) {
        told += 1;
        if (checked && often === 0) {
          unstored.push(id);
        }
      } else if (often > 0) {
        inDoubt.push(id);
      }
      if (often > 1) {
        duplicated.push({ id, times: often });
      }
    }
    const equal = checked && unstored.length === 0 && inDoubt.length === 0 && duplicated.length === 0;
    return {
      checked,
      acknowledged: told,
      rows: stored,
      equal,
      unstored,
      inDoubt,
      duplicated,
      foreign: strangers.size,
    };
  }

  return {
    posted: (request, row) => {
      const told = isAcknowledged(request) ? 1 : 0;
      const known = places.get(request.id);
      if (known === undefined) {
        places.set(request.id, rows.push(row));
        acknowledged.push(told);
        times.push(0);
      } else {
        // The same id again: the last word counts.
        rows.set(known, row);
        acknowledged.set(known, told);
      }
      const before = strangers.size === 0 ? undefined : strangers.get(request.id);
      if (before !== undefined) {
        strangers.delete(request.id);
        count(request.id, before);
      }
    },
    executed: ({ id }) => {
      checked = true;
      count(id, 1);
    },
    wasRead: () => {
      checked = true;
    },
    wasChecked: () => checked,
    timesStored: (id) => {
      const place = places.get(id);
      return checked && place !== undefined ? times.at(place) : null;
    },
    isPost: (id) => places.has(id),
    contradictions,
    verdict,
  };
}
