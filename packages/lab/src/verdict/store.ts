/** What the store has, joined with what the clients were told: each id once, acknowledged or in doubt (R4). */

import type { ExecutedRecord, RequestRecord } from "../ledger/records.ts";
import type { StoreVerdict } from "./verdict.ts";

interface Posted {
  readonly request: RequestRecord;
  readonly row: number;
}

interface Joined extends Posted {
  readonly rows: number;
}

export interface Store {
  /** A POST and its place in the ledger. */
  posted(request: RequestRecord, row: number): void;
  executed(record: ExecutedRecord): void;
  /** The store was read, even if it held nothing. */
  wasRead(): void;
  /** How often the id is stored; null when nobody looked or the request stores nothing. */
  timesStored(request: RequestRecord): number | null;
  /** Acknowledged POSTs that are stored more than once, or not at all. */
  contradictions(): readonly {
    readonly request: RequestRecord;
    readonly row: number;
    readonly rows: number;
  }[];
  verdict(): StoreVerdict;
}

export function createStore(): Store {
  const posts = new Map<string, Posted>();
  const rowsOf = new Map<string, number>();
  let checked = false;

  const joined = (): readonly Joined[] =>
    [...posts.values()].map((post) => ({ ...post, rows: rowsOf.get(post.request.id) ?? 0 }));

  const isAcknowledged = ({ request }: Posted): boolean =>
    request.fate === "answered" && (request.status ?? 0) >= 200 && (request.status ?? 0) < 300;

  return {
    posted: (request, row) => {
      posts.set(request.id, { request, row });
    },
    executed: ({ id }) => {
      checked = true;
      rowsOf.set(id, (rowsOf.get(id) ?? 0) + 1);
    },
    wasRead: () => {
      checked = true;
    },
    timesStored: (request) => (checked && posts.has(request.id) ? (rowsOf.get(request.id) ?? 0) : null),
    contradictions: () => (checked ? joined().filter((post) => isAcknowledged(post) && post.rows !== 1) : []),
    verdict: () => {
      const all = joined();
      const acknowledged = all.filter((post) => isAcknowledged(post));
      const unstored = checked ? acknowledged.filter((post) => post.rows === 0) : [];
      const inDoubt = all.filter((post) => post.rows > 0 && !isAcknowledged(post));
      const duplicated = all.filter((post) => post.rows > 1);
      const rows = all.reduce((sum, post) => sum + post.rows, 0);
      return {
        checked,
        acknowledged: acknowledged.length,
        rows,
        equal: checked && rows === acknowledged.length && unstored.length === 0 && inDoubt.length === 0,
        unstored: unstored.map((post) => post.request.id),
        inDoubt: inDoubt.map((post) => post.request.id),
        duplicated: duplicated.map((post) => ({ id: post.request.id, times: post.rows })),
        foreign: [...rowsOf.keys()].filter((id) => !posts.has(id)).length,
      };
    },
  };
}
