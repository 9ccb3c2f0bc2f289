/** What the witness saw of each request at the copies, and what the router's access log says of it: joined by id. */

import type { RouterLine, RouterRequestRecord, WitnessRecord } from "../ledger/records.ts";

/** One id, over all copies that it came to. */
export interface Arrivals {
  /** Times that its whole body had come, so that a handler could work on it. */
  readonly worked: number;
  /** Times that the service had made a whole good answer. */
  readonly answered: number;
  /** It came to a closed door. */
  readonly refused: boolean;
  /** Who ended the last connection before the whole answer had gone out. */
  readonly closedFirst: "service" | "peer" | null;
  /** The copy that it came to last. */
  readonly copy: string;
}

export interface Witnesses {
  saw(record: WitnessRecord): void;
  /** How many arrivals it saw. */
  count(): number;
  logged(record: RouterRequestRecord): void;
  arrivals(id: string): Arrivals | null;
  /** The router's own line; null: it has none though somebody asked; undefined: nobody asked. */
  line(id: string): RouterLine | null | undefined;
  /** How many ids came to a handler more than once. */
  begunTwice(): number;
  /** Ids that were answered well more than once. */
  answeredTwice(): ReadonlySet<string>;
  /** Ids that the router tried more than once. */
  triedAgain(): ReadonlySet<string>;
}

/** Work on them begins with their head. */
const BODYLESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);
const FAILED_FROM = 400;

export function createWitnesses(): Witnesses {
  const arrivals = new Map<string, Arrivals>();
  const lines = new Map<string, RouterLine | null>();
  const twice = new Set<string>();
  const again = new Set<string>();
  let count = 0;
  let begunTwice = 0;
  return {
    count: () => count,
    begunTwice: () => begunTwice,
    saw: ({ id, copy, method, bodyMs, answeredMs, status, closedFirst, refused }) => {
      count += 1;
      const before = arrivals.get(id) ?? { worked: 0, answered: 0, refused: false, closedFirst: null, copy };
      const good = answeredMs !== null && status !== null && status < FAILED_FROM;
      const now: Arrivals =
        refused === true
          ? { ...before, refused: true, copy }
          : {
              ...before,
              worked:
                before.worked + (bodyMs !== null || answeredMs !== null || BODYLESS.has(method) ? 1 : 0),
              answered: before.answered + (good ? 1 : 0),
              closedFirst: closedFirst ?? before.closedFirst,
              copy,
            };
      arrivals.set(id, now);
      begunTwice += before.worked === 1 && now.worked === 2 ? 1 : 0;
      if (now.answered > 1) {
        twice.add(id);
      }
    },
    logged: ({ id, line }) => {
      lines.set(id, line);
      if (line !== null && (line.retries > 0 || line.tries.length > 1)) {
        again.add(id);
      }
    },
    arrivals: (id) => arrivals.get(id) ?? null,
    line: (id) => lines.get(id),
    answeredTwice: () => twice,
    triedAgain: () => again,
  };
}
